// SPDX-License-Identifier: Apache-2.0
#pragma once

// Findings for tests: the run that design.md draws, to be changed where a test differs from it.

#include "report/findings.h"

namespace lowtide::report {

inline heap::Holder holder_for_test(std::string root, std::string rest, std::int64_t count,
                                    Bytes alone) {
  return {{root, rest}, root + " → " + rest, root, count, alone};
}

inline Findings leaking_run() {
  Findings f;
  f.run.command = {"python3", "train.py"};
  f.run.started = "2026-11-30T18:45:12+01:00";
  f.run.lowtide = "0.1.0";
  f.run.limit = 2 * kGiB.count;
  f.run.limit_source = "container limit";
  f.end.seconds = 62;
  f.end.processes = 3;
  f.end.peak = 1454 * kMiB.count;
  f.verdict.name = verdict::Name::Leak;
  f.verdict.why =
      "the low-water mark rises 18.3 MiB per round (41 rounds, 95 % between 17.9 and 18.6); at "
      "this "
      "rate the limit is reached in 31 rounds, about 47 s";
  f.verdict.rate_per_round = 18.3 * 1048576;
  f.verdict.rate_per_second = f.verdict.rate_per_round * 31 / 47;
  f.verdict.interval95 = {17.9 * 1048576, 18.6 * 1048576};
  f.verdict.rounds = 41;
  f.verdict.seconds_to_limit = 47;
  f.verdict.confidence = 0.99;
  Suspect suspect;
  suspect.pid = 4242;
  suspect.runtime = "CPython 3.11.2";
  suspect.what.type = "pandas.DataFrame";
  suspect.what.count = 412;
  suspect.what.count_per_round = 10;
  suspect.what.retained = Bytes{318 * kMiB.count};
  suspect.what.freed_if_all = Bytes{318 * kMiB.count};
  suspect.what.content = "float64 arrays (2000, 20)";
  suspect.what.fingerprint = 0xfedcba9876543210u;
  suspect.what.confidence = 0.97;
  suspect.what.holders = {holder_for_test("module pipeline", "_history : list → [*] → Result.frame",
                                          412, Bytes{318 * kMiB.count})};
  f.suspects = {suspect};
  f.account = {{"live Python", 1032 * kMiB.count},
               {"native", 174 * kMiB.count},
               {"code and files", 219 * kMiB.count},
               {"unexplained", 29 * kMiB.count}};
  f.recording = "lowtide-python3-20261130-184512.tide";
  return f;
}

inline Findings steady_run() {
  Findings f = leaking_run();
  f.suspects.clear();
  f.verdict = {};
  f.verdict.name = verdict::Name::Steady;
  f.verdict.why = "the low-water mark stayed within 1.2 MiB for 40 rounds";
  f.verdict.fits_in = 1600 * kMiB.count;
  return f;
}

}  // namespace lowtide::report
