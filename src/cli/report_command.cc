// SPDX-License-Identifier: Apache-2.0
//
// lowtide report: says again what a run found; recovers what a killed recorder left.

#include <unistd.h>

#include "cli/commands.h"
#include "cli/conclusion.h"
#include "cli/console.h"
#include "cli/heap_source.h"
#include "report/json.h"
#include "report/summary.h"

namespace lowtide::cli {

int report_command(const ReportOptions& options) {
  std::string path;
  auto reader = open_recording(options.file, path);
  if (!reader) return fail(reader.error().message);
  const report::Findings findings = conclusion_of(**reader, path);
  if (options.json) {
    print(report::to_json(findings) + "\n");
  } else {
    // Whoever asks again wants to know more than whoever waited for the program: pauses, peaks.
    report::Style style = style_of(STDOUT_FILENO);
    style.detail = true;
    print(report::summary(findings, style));
  }
  return kGood;
}

}  // namespace lowtide::cli
