// SPDX-License-Identifier: Apache-2.0
#pragma once

// Findings as JSON and back: what --json prints, and what a recording keeps so that `report` says
// what `run` said. The keys, their order and their meaning are docs/formats/run-json.md; `format`
// moves when one of them changes its meaning or goes.

#include <string>
#include <string_view>

#include "lowtide/result.h"
#include "report/findings.h"

namespace lowtide::report {

inline constexpr int kJsonFormat = 1;

// Every key is there in every document, null where a thing is not known. Always valid JSON and
// valid UTF-8, whatever the target's names hold. No newline at the end.
std::string to_json(const Findings& findings);

// Reads what to_json wrote. A missing or mistyped key is taken as unknown; only text that is not
// a JSON object, or of a later format, is an error.
Result<Findings> from_json(std::string_view text);

}  // namespace lowtide::report
