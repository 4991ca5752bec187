// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "recording/recording.h"
#include "report/findings.h"

namespace lowtide::cli {

// What the run said, or, where its recorder was killed before it could say anything, what it would
// have said.
report::Findings conclusion_of(const recording::Reader& reading, const std::string& path);

}  // namespace lowtide::cli
