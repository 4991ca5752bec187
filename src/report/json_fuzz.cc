// SPDX-License-Identifier: Apache-2.0
// A recording's conclusion may come from anywhere: no text may harm the reader, and what was read
// once must read the same again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "report/json.h"
#include "report/summary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lowtide::report;
  const auto findings = from_json({reinterpret_cast<const char*>(data), size});
  if (!findings) return 0;
  (void)summary(*findings, Style{.width = 40, .colours = true, .detail = true});
  const std::string json = to_json(*findings);
  const auto again = from_json(json);
  if (!again || to_json(*again) != json) std::abort();
  return 0;
}
