// SPDX-License-Identifier: Apache-2.0
#include "cli/conclusion.h"

#include "cli/conclude.h"
#include "cli/console.h"
#include "report/json.h"

namespace lowtide::cli {

report::Findings conclusion_of(const recording::Reader& reading, const std::string& path) {
  if (const auto kept = reading.conclusion()) {
    if (auto findings = report::from_json(kept->json)) {
      findings->recording = path;  // it may have been moved since
      if (findings->run.command.empty()) findings->run = reading.run();
      return std::move(*findings);
    }
  }
  Progress progress(true);
  ConcludeOptions options;
  options.progress = [&](std::string_view line) { progress.show(line); };
  return conclude(reading, path, options);
}

}  // namespace lowtide::cli
