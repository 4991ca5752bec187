// SPDX-License-Identifier: Apache-2.0

// A recorder may be killed at any moment. What settle() has committed must be there afterwards.

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <random>

#include "recording/recording.h"
#include "recording/testing.h"

namespace lowtide::recording {
namespace {

using testing::Folder;
using testing::make_reader;
using testing::sample_at;

// What a recorder tells its murderer, in memory both share.
struct Progress {
  std::atomic<int> steps;      // begun
  std::atomic<int> committed;  // readings of process 1 that settle() has committed
  std::atomic<int> heaps;      // whole ones
};

[[noreturn]] void record_for_ever(const std::string& path, unsigned seed,
                                  const std::string& heap_bytes, Progress& progress) {
  std::mt19937 random(seed);
  auto writer = std::move(*Writer::create(path, testing::some_run()));
  writer->put(Process{1, 4242, 0, "python3", "", 0, std::nullopt, 0, ""});
  for (int i = 0;; ++i) {
    progress.steps = i;
    writer->put(sample_at(i * 0.1, 1, i));
    writer->put(sample_at(i * 0.1, 0, i / 50));
    if (random() % 8 == 0) writer->put(Event{i * 0.1, 0, "note", "step"});
    if (random() % 4 == 0) writer->put(Round{i * 0.1, 0.1, "lines"});
    if (random() % 100 == 0) {
      const auto heap = testing::put_heap(*writer, i * 0.1, heap_bytes);
      if (random() % 2 == 0) writer->drop_heap(heap);
    }
    if (random() % 4 == 0) {
      writer->settle(i * 0.1);
      progress.committed = i + 1;
    }
    if (i > 500) {
      writer->finish(End{});
      ::_exit(0);
    }
  }
}

TEST(KilledRecorder, LeavesARecordingWithAllThatWasCommitted) {
  auto* progress = static_cast<Progress*>(
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(progress, MAP_FAILED);
  const std::string heap_bytes = testing::some_bytes(600'000, 1);
  std::mt19937 random(20261130);
  for (unsigned seed = 0; seed < 100; ++seed) {
    Folder folder;
    const std::string path = folder.path("x.tide");
    new (progress) Progress{};
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) record_for_ever(path, seed, heap_bytes, *progress);
    // A moment somewhere in or after a step drawn by lot.
    const int step = static_cast<int>(random() % 500);
    volatile std::uint64_t wait = random() % 200'000;
    while (progress->steps < step) ::sched_yield();
    while (wait > 0) wait = wait - 1;
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);

    auto reader = make_reader(path);
    ASSERT_TRUE(reader) << "seed " << seed;
    const auto samples = reader->samples(1);
    const int committed = progress->committed;
    ASSERT_GE(static_cast<int>(samples.size()), committed) << "seed " << seed;
    for (int i = 0; i < static_cast<int>(samples.size()); ++i) {
      ASSERT_EQ(samples[static_cast<std::size_t>(i)].resident, i);
    }
    for (const HeapInfo& heap : reader->heaps()) {
      const Status whole = reader->read_heap(heap.id, [](std::string_view) { return true; });
      ASSERT_TRUE(whole || !heap.whole) << whole.error().message;
    }
    // Killed inside finish(), it may have said how the run ended and lack nothing.
    ASSERT_EQ(reader->missing().empty(), reader->end().has_value());
    // Once read, it is one file again and says the same.
    const auto missing = reader->missing();
    reader.reset();
    ASSERT_FALSE(std::filesystem::exists(path + "-wal")) << "seed " << seed;
    auto again = make_reader(path);
    ASSERT_EQ(again->samples(1).size(), samples.size());
    ASSERT_EQ(again->missing(), missing);
  }
  ::munmap(progress, sizeof(Progress));
}

TEST(KilledRecorder, BeforeItsFileWasWholeLeavesAnErrorAndNoCrash) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    Folder folder;
    const std::string path = folder.path("x.tide");
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto writer = Writer::create(path, testing::some_run());
      ::_exit(0);
    }
    while (!std::filesystem::exists(path)) ::sched_yield();
    volatile std::uint64_t wait = random() % 100'000;
    while (wait > 0) wait = wait - 1;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto reader = Reader::open(path);
    EXPECT_TRUE(reader || reader.error().message.find(path) != std::string::npos);
  }
}

}  // namespace
}  // namespace lowtide::recording
