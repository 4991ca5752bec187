// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a recording to what a person is told: the verdict, the suspects, the account.
//
// `run` calls it when the command has ended, and keeps the result in the recording; `report` calls
// it for recordings whose recorder was killed before it could.

#include <functional>
#include <optional>
#include <string>

#include "recording/recording.h"
#include "report/findings.h"

namespace lowtide::cli {

struct ConcludeOptions {
  std::optional<recording::End> end;  // of a run that is just ending: not in the recording yet
  std::function<void(std::string_view)> progress;  // a line for a person who waits; may be empty
};

report::Findings conclude(const recording::Reader& reading, const std::string& path,
                          const ConcludeOptions& options);

}  // namespace lowtide::cli
