// SPDX-License-Identifier: Apache-2.0
#pragma once

// From censuses to candidates: what rises, where in the tree of shapes it begins, and what a
// person would call it.
//
//     module pipeline          1  1  1  1
//       ._history : list       1  1  1  1     the holder: there is always one of it
//         [*] : Result       100 200 300 400  the entry: the first that there is more of each time
//           .frame : DataFrame 100 200 ...    the name, if nearly all the bytes are below it
//             ...                             below an entry everything is explained by it

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heap/census.h"
#include "heap/naming.h"
#include "heap/suspects.h"
#include "heap/trend.h"

namespace lowtide::heap {

// The series a judgement rests on: whole heaps only, by rounds where they are known.
struct Series {
  std::vector<double> x;
  std::vector<double> seconds, rounds;
  std::vector<const Census*> censuses;
  bool by_rounds = false;
  std::size_t size() const { return x.size(); }
  const Census& last() const { return *censuses.back(); }
  // Where the judged part begins.
  const Census& base() const { return *censuses[warm_up(size())]; }
};
Series series_of(std::span<const CensusPoint> points);

struct Rise {
  std::int64_t count = 0, bytes = 0;  // grown from the first to the last
  std::int64_t below = 0;             // bytes grown, of the shape and of all below it
  bool in_number = false;             // there are more of it each time
  bool in_size = false;               // no more of it, but larger each time
  bool under = false;                 // a shape above it rises in number
};

struct Candidate {
  std::vector<ShapeIndex> entries;  // of the last census
  ShapeIndex named = kNoShape;      // at or below an entry
  std::vector<NodeId> nodes;        // of the last graph, where no shape but the type alone rises
  NameId type = 0;                  // of the last census
  Fame fame = Fame::Plumbing;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  Trend trend;
  bool in_place = false;
};

class Growth {
 public:
  // `flags` are of the nodes of each shape of the last graph, `passing_roots` says which shapes
  // are held by a frame, a thread or the interpreter itself.
  Growth(const Series& series, std::vector<std::uint8_t> flags, std::vector<bool> passing_roots,
         const SuspectOptions& options);

  const Rise& rise(ShapeIndex i) const { return rises_[i]; }
  // Is it at or under an entry, so that its nodes belong to what grew?
  bool grown(ShapeIndex i) const { return rises_[i].in_number || rises_[i].under; }
  std::vector<Candidate> candidates() const;
  // Types that rise although their shapes do not: whose holders changed between snapshots.
  struct LostType {
    NameId type;
    std::int64_t count, bytes;
    Trend trend;
  };
  std::vector<LostType> unexplained_types() const;

  Trend shape_trend(ShapeIndex i) const;
  bool may_be_loading(Fame fame) const;

 private:
  struct Pick {
    ShapeIndex shape;
    Fame fame;
  };
  enum class Measure { Count, Bytes };
  Trend trend_where_held(ShapeIndex i, Measure measure) const;
  void find_rises();
  void drop_the_moved();
  Fame fame(ShapeIndex i) const;
  Pick pick(ShapeIndex entry) const;
  Pick below_plumbing(ShapeIndex entry) const;
  Pick past_wrappers(Pick from) const;
  ShapeIndex heaviest_child(ShapeIndex i, std::int64_t least_count) const;
  void add_group(std::vector<ShapeIndex> entries, std::vector<Candidate>& out) const;
  void add_in_place(std::vector<Candidate>& out) const;
  ShapeIndex owner_in_place(ShapeIndex leaf) const;
  std::string_view type_text(ShapeIndex i) const;
  std::string_view edge_text(ShapeIndex i) const;
  bool worth(std::int64_t count, std::int64_t bytes) const;
  bool worth(const Candidate& candidate) const;

  const Series& series_;
  const Census& last_;
  std::vector<std::uint8_t> flags_;
  std::vector<bool> passing_roots_;
  SuspectOptions options_;
  std::vector<Rise> rises_;
  std::vector<ShapeIndex> first_child_, next_sibling_;
};

}  // namespace lowtide::heap
