// SPDX-License-Identifier: Apache-2.0

// A week of 20 processes at 10 readings a second fits into 20 MiB, with its extremes, and the
// recorder stays small meanwhile.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>

#include "recording/database.h"
#include "recording/recording.h"
#include "recording/testing.h"

namespace lowtide::recording {
namespace {

using testing::Folder;
using testing::make_reader;
using testing::make_writer;

constexpr int kProcesses = 20;
constexpr double kWeek = 7 * 24 * 3600.0;

struct Extremes {
  std::int64_t low = INT64_MAX;
  std::int64_t high = 0;
  bool operator==(const Extremes&) const = default;

  void add(std::int64_t value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Process `p` of 20, a busy one: every figure moves at every reading, by amounts of gigabytes, so
// that no number is short. One reading in some thousands is a spike or a trough.
Sample busy_sample(double seconds, int p, std::mt19937& random) {
  Sample sample;
  sample.seconds = seconds;
  sample.process = p;
  const std::int64_t noise = static_cast<std::int64_t>(random() % 50'000) * 4096;
  sample.resident = (std::int64_t{1} << 30) * (p + 1) + noise;
  const auto lot = random() % 5000;
  if (lot == 0) sample.resident *= 2;
  if (lot == 1) sample.resident /= 2;
  sample.anonymous = sample.resident - (std::int64_t{30} << 20);
  sample.file = (std::int64_t{20} << 20) + static_cast<std::int64_t>(random() % 256) * 4096;
  sample.shared = std::int64_t{10} << 20;
  sample.swap = 0;
  sample.allocator_in_use = sample.anonymous / 2;
  sample.allocator_free = noise / 3;
  sample.cpu_ms = static_cast<std::int64_t>(seconds * 700);
  if (p == 0) sample.container = sample.resident + 12345 * 4096;
  return sample;
}

// Ten readings a second for a week take too long for a test. But the levels count rows, so they
// are full at any rate, and a reading every 20 seconds is more than the buckets of the oldest keep.
TEST(RecordingSize, AWeekOfTwentyBusyProcessesFitsIntoTwentyMebibytesWithItsExtremes) {
  Folder folder;
  const std::string path = folder.path("week.tide");
  auto writer = make_writer(path);
  std::mt19937 random(42);
  std::map<std::pair<int, std::int64_t>, Extremes> truth;  // process, hour
  for (int p = 1; p <= kProcesses; ++p) {
    writer->put(
        Process{p, 4000 + p, 0, "python3 worker.py", "CPython 3.11", 0, std::nullopt, 0, ""});
  }
  std::uintmax_t largest = 0;
  double settled = 0;
  for (double now = 0; now < kWeek; now += now < 1200 ? 0.5 : 20) {
    for (int p = 0; p <= kProcesses; ++p) {
      const Sample sample = busy_sample(now, p, random);
      truth[{p, static_cast<std::int64_t>(now / 3600)}].add(sample.resident);
      writer->put(sample);
    }
    writer->put(Round{now, 1, "lines"});
    if (now - settled >= 10) {
      settled = now;
      for (const char* part : {"live Python", "allocator free", "stacks", "mapped files"}) {
        writer->put(AccountPart{now, 1, part, 1});
      }
      writer->settle(now);
      if (static_cast<std::int64_t>(now) % 1000 < 20) {
        largest = std::max(largest, std::filesystem::file_size(path));
      }
    }
  }
  EXPECT_EQ(writer->trouble(), "");
  writer->finish(End{});
  largest = std::max(largest, std::filesystem::file_size(path));
  RecordProperty("largest_bytes", static_cast<int>(largest));
  EXPECT_LE(largest, std::uintmax_t{20} << 20);

  auto reader = make_reader(path);
  EXPECT_TRUE(reader->missing().empty());
  std::map<std::pair<int, std::int64_t>, Extremes> kept;
  for (int p = 0; p <= kProcesses; ++p) {
    const auto samples = reader->samples(p);
    for (const Sample& sample : samples) {
      kept[{p, static_cast<std::int64_t>(sample.seconds / 3600)}].add(sample.resident);
    }
    // Nowhere a hole: the oldest buckets are ten minutes wide.
    for (std::size_t i = 1; i < samples.size(); ++i) {
      ASSERT_LT(samples[i].seconds - samples[i - 1].seconds, 1200);
    }
  }
  EXPECT_TRUE(kept == truth);
}

TEST(RecordingSize, TheWriterNeedsLittleMemory) {
  Folder folder;
  sqlite3_memory_highwater(1);
  const auto before = sqlite3_memory_used();
  auto writer = make_writer(folder.path("x.tide"));
  std::mt19937 random(1);
  for (int i = 0; i < 30'000; ++i) {
    for (int p = 0; p <= kProcesses; ++p) writer->put(busy_sample(i * 0.1, p, random));
    if (i % 10 == 0) writer->settle(i * 0.1);
    if (i % 10'000 == 0) testing::put_heap(*writer, i * 0.1, testing::some_bytes(3'000'000, 1));
  }
  const auto most = sqlite3_memory_highwater(0) - before;
  RecordProperty("sqlite_bytes", static_cast<int>(most));
  EXPECT_LE(most, 4 << 20);
  writer->finish(End{});
}

}  // namespace
}  // namespace lowtide::recording
