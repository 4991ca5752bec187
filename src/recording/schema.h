// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables of a recording. docs/formats/recording.md describes them for people who query one;
// a change there that an older reader would misread moves kSchemaVersion.
//
// Readings move down as they age, each step thinner than the one above:
//
//     samples_raw --> samples_5s --> samples_1min --> samples_10min --> samples_1h
//     as they came    the extremes of each bucket of that width, per process
//
// Every one of them is only ever appended to at its end and cut at its start, so SQLite keeps
// their pages full and uses the freed ones again. One table with rows deleted all over it stays
// half empty. The view `samples` shows them as one.

#include <array>
#include <cstdint>

namespace lowtide::recording {

inline constexpr std::int32_t kApplicationId = 0x74696465;  // "tide", where file(1) looks for it

struct Level {
  const char* table;
  double width;       // seconds; 0: readings as they came
  std::int64_t rows;  // above this its oldest rows move to the next level
};

// With 21 series (20 processes and their sum) at 10 Hz: 10 minutes, 2 hours, a day, a month.
inline constexpr std::array<Level, 5> kLevels = {{
    {"samples_raw", 0, 120'000},
    {"samples_5s", 5, 70'000},
    {"samples_1min", 60, 70'000},
    {"samples_10min", 600, 70'000},
    {"samples_1h", 3600, INT64_MAX},
}};

// A process whose figures have not changed since its last stored reading has its latest reading
// here, one row a process.
inline constexpr const char* kTailTable = "samples_tail";

inline constexpr const char* kSampleColumns =
    "seconds, process, resident_bytes, anonymous_bytes, file_bytes, shared_bytes, swap_bytes, "
    "allocator_in_use_bytes, allocator_free_bytes, cpu_ms, container_bytes";

// Statements that make an empty recording, application_id and user_version included.
const char* schema_sql();

}  // namespace lowtide::recording
