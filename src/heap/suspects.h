// SPDX-License-Identifier: Apache-2.0
#pragma once

// What grows between floors, and who holds it.
//
// Graphs of a large program do not fit in memory two at a time, so each one is boiled down to a
// Census as it is read; the suspects are found from the censuses and the last graph.
//
//     graph 1 -> census 1 --.
//     graph 2 -> census 2 --+-- what rises in every interval --> suspects (paths from graph 3)
//     graph 3 -> census 3 --'

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heap/graph.h"

namespace lowtide::heap {

// One type of one heap. `retained` is what would go if every object of the type went: bytes
// dominated by objects of the type, none counted twice however they hold each other.
struct TypeCount {
  std::string type;
  std::int64_t count = 0;
  Bytes shallow;
  Bytes native;
  Bytes retained;
};

// What one graph says, in some 100 bytes per type and path shape instead of 50 per object.
class Census;

struct CensusPoint {
  double seconds = 0;  // since the run started
  double rounds = 0;   // rounds done by then; 0 where there are none
  std::shared_ptr<const Census> census;
};

std::shared_ptr<const Census> take_census(const Graph& graph);
std::vector<TypeCount> types_of(const Census& census);
Bytes reachable_bytes(const Census& census);  // live: reached from a named root
Bytes garbage_bytes(const Census& census);    // reached from none: waiting for the collector
std::int64_t garbage_count(const Census& census);

// One way of holding: a retaining path from a named root, folded.
struct Holder {
  std::vector<std::string>
      path;  // {"module pipeline", "._history : list", "[*] : Result", ".frame : DataFrame"}
  std::string text;          // "module pipeline → _history : list → [*] → Result.frame"
  std::string root;          // "module pipeline", "frame main in train.py:41", "native reference"
  std::int64_t count = 0;    // of the suspect's growth, how many are held this way
  Bytes freed_if_only_this;  // what goes if this way of holding alone goes
};

struct Suspect {
  std::string type;            // the class a person knows: "pandas.DataFrame"
  std::int64_t count = 0;      // grown from the first snapshot to the last
  double count_per_round = 0;  // 0 where there are no rounds
  double count_per_second = 0;
  Bytes retained;                 // grown; never two links of a chain added up
  Bytes freed_if_all;             // what goes if every holder below goes
  std::string content;            // what the bytes are: "float64 arrays (2000, 20)"; may be ""
  std::vector<Holder> holders;    // best first; all shapes that hold it
  bool garbage = false;           // unreachable cycles that no collection takes
  std::string reason;             // of garbage: "the collector is switched off", "has __del__" …
  std::uint64_t fingerprint = 0;  // of type and path shapes: the same in the next run
  double confidence = 0;          // 0..1: intervals that rose, and how evenly
};

struct SuspectOptions {
  std::size_t most = 8;          // suspects returned at the most
  Bytes least_bytes{64 * 1024};  // growth below both of these is nobody's leak
  std::int64_t least_count = 8;
};

// Needs two points at least; with two, confidence says so. `last` is the graph of the last
// point. The largest first.
std::vector<Suspect> find_suspects(std::span<const CensusPoint> points, const Graph& last,
                                   const SuspectOptions& options);

}  // namespace lowtide::heap
