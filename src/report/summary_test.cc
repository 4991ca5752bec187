// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "report/testing.h"

namespace lowtide::report {
namespace {

std::ptrdiff_t lines_of(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Summary, ALeakIsSaidWithItsRateItsObjectsAndTheirHolder) {
  EXPECT_EQ(
      summary(leaking_run(), Style{}),
      R"(lowtide: python3 train.py · 62 s · 3 processes · peak 1.42 GiB of 2.00 GiB (container limit)

leak     the low-water mark rises 18.3 MiB per round (41 rounds, 95 % between 17.9 and 18.6); at
         this rate the limit is reached in 31 rounds, about 47 s
what     +412 pandas.DataFrame, 10 per round, retaining +318 MiB as float64 arrays (2000, 20), in
         process 4242
who      module pipeline → _history : list → [*] → Result.frame
memory   live Python 71 %  ·  native 12 %  ·  code and files 15 %  ·  unexplained 2 %

saved lowtide-python3-20261130-184512.tide   (lowtide report, plot, heap, holders, diff read it)
)");
}

TEST(Summary, AProgramThatDoesNotLeakGetsOneUnbrokenLine) {
  Style narrow;
  narrow.width = 40;
  EXPECT_EQ(summary(steady_run(), narrow),
            "lowtide: python3 train.py · 62 s · 3 processes · peak 1.42 GiB of 2.00 GiB (container "
            "limit) · steady: nothing leaks · fits in 1.56 GiB · saved "
            "lowtide-python3-20261130-184512.tide\n");
}

TEST(Summary, WhatGrewWithoutLeakingIsNotAccused) {
  Findings f = steady_run();
  f.suspects = leaking_run().suspects;
  f.notes = {"3 processes ended between samples"};
  EXPECT_EQ(lines_of(summary(f, Style{})), 1);
}

TEST(Summary, AnUndecidedRunSaysWhyAndNothingIsInvented) {
  Findings f;
  f.run.command = {"./server"};
  f.end.seconds = 3;
  f.verdict.why = "3 s are too short to tell; a run of a minute would decide it";
  EXPECT_EQ(summary(f, Style{}),
            "lowtide: ./server · 3.0 s\n\n"
            "undecided  3 s are too short to tell; a run of a minute would decide it\n");
}

TEST(Summary, AnOomKillSaysWhoWasKilledWhatItHeldAndTheLimit) {
  Findings f = steady_run();
  f.end.oom = true;
  f.end.signal = 9;
  f.end.oom_text = "python3 train.py (4242) was killed while it held 1.98 GiB.";
  f.processes = {{4243, "worker", "", 100 * kMiB.count, ""},
                 {4242, "python3 train.py", "CPython 3.11.2", 1980 * kMiB.count, "killed"}};
  const std::string text = summary(f, Style{});
  EXPECT_TRUE(has(text, "killed by the OOM killer\n")) << text;
  EXPECT_TRUE(
      has(text,
          "killed   python3 train.py (4242) was killed while it held 1.98 GiB; the limit is "
          "2.00 GiB (container\n         limit)\n"))
      << text;
  EXPECT_TRUE(has(text,
                  "peaks    1.93 GiB  python3 train.py (4242), CPython 3.11.2, killed\n"
                  "         100 MiB  worker (4243)\n"))
      << text;
}

TEST(Summary, EveryWayOfHoldingIsNamedWithWhatItAloneFrees) {
  Findings f = leaking_run();
  heap::Suspect& s = f.suspects[0].what;
  s.holders = {holder_for_test("module app", "listeners : dict", 412, Bytes{0}),
               holder_for_test("module trace", "spans : list", 206, Bytes{4096})};
  const std::string text = summary(f, Style{});
  EXPECT_TRUE(has(text,
                  "who      module app → listeners : dict\n"
                  "and      module trace → spans : list   (206 of 412, alone frees 4.00 KiB)\n"
                  "         let go by all of them: frees 318 MiB\n"))
      << text;
}

TEST(Summary, GarbageIsHeldByNobodyAndSaysWhyItStays) {
  Findings f = leaking_run();
  f.suspects[0].what.holders.clear();
  f.suspects[0].what.garbage = true;
  f.suspects[0].what.reason = "the collector is switched off";
  EXPECT_TRUE(has(summary(f, Style{}),
                  "who      no one: unreachable cycles that no collection takes; the collector is "
                  "switched off\n"));
}

TEST(Summary, WeakEvidenceIsCalledWeak) {
  Findings f = leaking_run();
  f.suspects[0].what.confidence = 0.3;
  EXPECT_TRUE(has(summary(f, Style{.width = 0}), "(weak evidence: 30 % sure)"));
}

TEST(Summary, ManySuspectsAreThreeAtAGlanceAndAllInDetail) {
  Findings f = leaking_run();
  f.suspects.resize(7, f.suspects[0]);
  EXPECT_TRUE(has(summary(f, Style{}), "and 4 more suspects (lowtide report shows all)"));
  EXPECT_FALSE(has(summary(f, Style{.detail = true}), "more suspects"));
}

TEST(Summary, RefusedSnapshotsAreSaidOnceAndOnlyInDetail) {
  Findings f = leaking_run();
  f.snapshots = {{4242, 10, 0.012, 0.2, 0, 812345, ""},
                 {4242, 20, 0, 0, 0, 0, "a copy would not fit in the remaining 80 MiB"},
                 {4242, 30, 0, 0, 0, 0, "a copy would not fit in the remaining 80 MiB"}};
  const std::string text = summary(f, Style{.detail = true});
  EXPECT_TRUE(has(text, "heaps    1 snapshot, longest pause 12 ms after waiting 200 ms at most\n"))
      << text;
  EXPECT_EQ(text.find("refused"), text.rfind("refused"));
  EXPECT_FALSE(has(summary(f, Style{}), "heaps"));
}

TEST(Summary, ColoursAreOnlyThereWhenAskedFor) {
  EXPECT_FALSE(has(summary(leaking_run(), Style{}), "\x1b"));
  const std::string text = summary(leaking_run(), Style{.colours = true});
  EXPECT_TRUE(has(text, "\x1b[1;31mleak\x1b[0m"));
}

TEST(Summary, NamesOfTheTargetCannotReachTheTerminalRaw) {
  Findings f = leaking_run();
  f.run.command = {"python3", "\x1b]0;owned\x07.py", "\xff\xfe"};
  f.suspects[0].what.type = "bad\xc3(type\n\x1b[2J";
  f.notes = {"line\nbreak"};
  const std::string text = summary(f, Style{});
  EXPECT_FALSE(has(text, "\x1b"));
  EXPECT_FALSE(has(text, "\x07"));
  EXPECT_TRUE(has(text, "\\x1b]0;owned\\x07.py")) << text;
  EXPECT_TRUE(has(text, "note     line break\n"));
}

TEST(Summary, AnyWidthAndAnyFigureIsPrinted) {
  Findings f = leaking_run();
  f.end.peak = f.run.limit = std::numeric_limits<std::int64_t>::max();
  f.suspects[0].what.count = std::numeric_limits<std::int64_t>::max();
  f.suspects[0].what.retained = Bytes{std::numeric_limits<std::int64_t>::max()};
  f.verdict.rate_per_second = 1e308;
  for (int width : {0, 1, 9, 20, 37, 1000}) {
    EXPECT_TRUE(has(summary(f, Style{.width = width}), "9,223,372,036,854,775,807")) << width;
  }
}

}  // namespace
}  // namespace lowtide::report
