// SPDX-License-Identifier: Apache-2.0
#include "heap/growth.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace lowtide::heap {
namespace {

// "Nearly all": what a wrapper's content must be of it for the content to give the name.
constexpr double kNearlyAll = 0.85;
// Of a tuple or a dict, what the class inside must be for the class to give the name.
constexpr double kMuch = 0.4;
constexpr std::int64_t kKeysOfOne = 16;  // of a cache, at the most, that lead to one object
constexpr int kDeepest = 16;             // hops from an entry to what names it

std::int64_t part(std::int64_t whole, double share) {
  return static_cast<std::int64_t>(static_cast<double>(whole) * share);
}

}  // namespace

Series series_of(std::span<const CensusPoint> points) {
  Series series;
  series.by_rounds = true;
  const auto take = [&series](const CensusPoint& point) {
    if (!series.rounds.empty() && point.rounds <= series.rounds.back()) series.by_rounds = false;
    series.seconds.push_back(point.seconds);
    series.rounds.push_back(point.rounds);
    series.censuses.push_back(point.census.get());
  };
  for (const CensusPoint& point : points) {
    if (point.census != nullptr && point.census->whole) take(point);
  }
  series.x = series.by_rounds ? series.rounds : series.seconds;
  for (std::size_t i = 1; i < series.x.size(); ++i) {
    if (series.x[i] > series.x[i - 1]) continue;
    for (std::size_t j = 0; j < series.x.size(); ++j) series.x[j] = static_cast<double>(j);
    break;
  }
  return series;
}

Growth::Growth(const Series& series, std::vector<std::uint8_t> flags,
               std::vector<bool> passing_roots, const SuspectOptions& options)
    : series_(series),
      last_(series.last()),
      flags_(std::move(flags)),
      passing_roots_(std::move(passing_roots)),
      options_(options),
      rises_(last_.shapes().size()),
      first_child_(last_.shapes().size(), kNoShape),
      next_sibling_(last_.shapes().size(), kNoShape) {
  for (auto i = static_cast<ShapeIndex>(rises_.size()); i-- > 1;) {
    const ShapeIndex parent = last_.shapes()[i].parent;
    next_sibling_[i] = std::exchange(first_child_[parent], i);
  }
  find_rises();
  drop_the_moved();
  for (ShapeIndex i = 1; i < rises_.size(); ++i) {
    const Rise& above = rises_[last_.shapes()[i].parent];
    rises_[i].under = above.in_number || above.under;
  }
}

Trend Growth::shape_trend(ShapeIndex i) const {
  const Trend trend = trend_where_held(i, Measure::Count);
  return trend.rises ? trend : trend_where_held(i, Measure::Bytes);
}

// A call under way may hold a container by a shorter way than its owner: at that moment all that
// is in it has another shape. Such a snapshot says nothing of this one and is left out, if there
// are few of them.
Trend Growth::trend_where_held(ShapeIndex i, Measure measure) const {
  const Census::ShapeCount& now = last_.shapes()[i];
  const bool count = measure == Measure::Count;
  const Census::ShapeCount& holder = count ? last_.shapes()[now.parent] : now;
  std::vector<std::int64_t> all, held;
  std::vector<double> at;
  for (std::size_t k = 0; k < series_.size(); ++k) {
    const auto* row = series_.censuses[k]->shape(now.id);
    const std::int64_t value = row == nullptr ? 0 : count ? row->count : row->bytes;
    all.push_back(value);
    const auto* then = count ? series_.censuses[k]->shape(holder.id) : row;
    if (then == nullptr || then->count < holder.count) continue;
    held.push_back(value);
    at.push_back(series_.x[k]);
  }
  const Trend trend = trend_of(series_.x, all);
  constexpr std::size_t kEnough = 4;
  if (trend.rises || held.size() == all.size()) return trend;
  if (held.size() < kEnough || held.size() * 3 < all.size() * 2) return trend;
  return trend_of(at, held);
}

void Growth::find_rises() {
  const Census& first = *series_.censuses.front();
  const Census& base = series_.base();
  for (ShapeIndex i = 1; i < rises_.size(); ++i) {
    const Census::ShapeCount& now = last_.shapes()[i];
    Rise& rise = rises_[i];
    const auto* then = first.shape(now.id);
    rise.count = now.count - (then == nullptr ? 0 : then->count);
    rise.bytes = now.bytes - (then == nullptr ? 0 : then->bytes);
    // Most shapes stand still: these are settled by two look-ups.
    const auto* warm = base.shape(now.id);
    if (warm != nullptr && warm->count >= now.count && warm->bytes >= now.bytes) continue;
    rise.in_number = trend_where_held(i, Measure::Count).rises;
    rise.in_size = !rise.in_number && trend_where_held(i, Measure::Bytes).rises;
  }
  for (ShapeIndex i = 0; i < rises_.size(); ++i) rises_[i].below = rises_[i].bytes;
  for (auto i = static_cast<ShapeIndex>(rises_.size()); i-- > 1;) {
    rises_[last_.shapes()[i].parent].below += rises_[i].below;
  }
}

void Growth::drop_the_moved() {
  // A shape may rise only because objects are now reached another way: then another shape of the
  // type falls, and the type as a whole does not rise with it.
  struct Sum {
    std::int64_t rising = 0, falling = 0;
  };
  std::unordered_map<NameId, Sum> sums;
  for (ShapeIndex i = 1; i < rises_.size(); ++i) {
    if (rises_[i].in_number) sums[last_.shapes()[i].type].rising += rises_[i].count;
  }
  const Census& base = series_.base();
  for (const Census::ShapeCount& then : base.shapes()) {
    const auto* now = last_.shape(then.id);
    const std::int64_t change = (now == nullptr ? 0 : now->count) - then.count;
    if (change >= 0) continue;
    const NameId type = last_.names().find(base.names().text(then.type));
    if (const auto at = sums.find(type); at != sums.end()) at->second.falling -= change;
  }
  for (ShapeIndex i = 1; i < rises_.size(); ++i) {
    if (!rises_[i].in_number) continue;
    const NameId type = last_.shapes()[i].type;
    const Sum& sum = sums[type];
    if (sum.falling * 2 < sum.rising) continue;
    const auto* now = last_.type(last_.names().text(type));
    const auto* then = base.type(last_.names().text(type));
    const std::int64_t net = now->count - (then == nullptr ? 0 : then->count);
    if (net * 10 < sum.rising * 3) rises_[i].in_number = false;
  }
}

std::string_view Growth::edge_text(ShapeIndex i) const {
  return last_.names().text(last_.shapes()[i].edge);
}

std::string_view Growth::type_text(ShapeIndex i) const {
  return last_.names().text(last_.shapes()[i].type);
}

Fame Growth::fame(ShapeIndex i) const { return fame_of(type_text(i), flags_[i]); }

bool Growth::worth(std::int64_t count, std::int64_t bytes) const {
  const bool many = count >= options_.least_count;
  const bool large = bytes >= options_.least_bytes.count;
  // Between two snapshots anything may have been made once.
  return series_.size() < 3 ? many && large : many || large;
}

// A program that still imports makes classes, code, names and caches of all kinds. While at most
// one interval lies behind the imports these cannot be told from a leak, unless modules themselves
// leak.
bool Growth::may_be_loading(Fame fame) const {
  constexpr std::size_t kFew = 4;
  constexpr std::int64_t kNoLoad = 20;  // one module in so many may come late
  if (fame == Fame::User || series_.size() < 2) return false;
  std::vector<std::int64_t> modules;
  for (const Census* census : series_.censuses) {
    modules.push_back(0);
    for (const std::string_view name : {"module", "builtins.module"}) {
      if (const Census::Type* type = census->type(name)) modules.back() += type->count;
    }
  }
  const std::size_t size = modules.size();
  if (size <= kFew) return modules[size - 1] > modules[size - 2];
  const bool loaded = (modules[size - 1] - modules[size - 3]) * kNoLoad > modules[size - 1];
  return loaded && !trend_of(series_.x, modules).rises;
}

// Frames, cells and per-thread dicts come with every call and every thread, names with the
// interpreter's caches: nobody's leak by their number alone.
bool Growth::worth(const Candidate& candidate) const {
  ShapeIndex root = candidate.named;
  int depth = 0;
  for (; last_.shapes()[root].parent != 0; root = last_.shapes()[root].parent) ++depth;
  const bool by_the_way = candidate.fame == Fame::Plumbing ||
                          (candidate.fame == Fame::Builtin && depth < 2 && passing_roots_[root]);
  return worth(by_the_way ? 0 : candidate.count, candidate.bytes) &&
         !may_be_loading(candidate.fame);
}

ShapeIndex Growth::heaviest_child(ShapeIndex i, std::int64_t least_count) const {
  ShapeIndex best = kNoShape;
  for (ShapeIndex c = first_child_[i]; c != kNoShape; c = next_sibling_[c]) {
    if (rises_[c].count < least_count) continue;
    if (best == kNoShape || rises_[c].below > rises_[best].below) best = c;
  }
  return best;
}

Growth::Pick Growth::pick(ShapeIndex entry) const {
  Pick from{entry, fame(entry)};
  if (from.fame < Fame::Class) from = below_plumbing(entry);
  return past_wrappers(from);
}

// The entry is nobody's class: the best-known class that what it leads to is for the most part.
Growth::Pick Growth::below_plumbing(ShapeIndex entry) const {
  // Several keys may lead to one object: a method that is cached by its arguments, self among them.
  const std::int64_t keys_each = edge_text(entry) == "[key]" ? kKeysOfOne : 2;
  const std::int64_t half = std::max<std::int64_t>(1, rises_[entry].count / 2);
  const std::int64_t few = std::max<std::int64_t>(1, rises_[entry].count / keys_each);
  const double share = fame(entry) == Fame::Function ? kNearlyAll : kMuch;
  const std::int64_t least = part(rises_[entry].below, share);
  Pick best{entry, fame(entry)};
  std::vector<ShapeIndex> level{entry};
  for (int depth = 0; depth < kDeepest && !level.empty(); ++depth) {
    std::vector<ShapeIndex> next;
    for (const ShapeIndex at : level) {
      for (ShapeIndex c = first_child_[at]; c != kNoShape; c = next_sibling_[c]) {
        const Fame known = fame(c);
        const bool enough = rises_[c].count >= (known == Fame::User ? few : half);
        if (!enough || rises_[c].below < least) continue;
        const bool better =
            known > best.fame || (known == best.fame && rises_[c].below > rises_[best.shape].below);
        if (known >= Fame::Function && better) best = {c, known};
        if (known < Fame::Class) next.push_back(c);
      }
    }
    level = std::move(next);
  }
  // All plumbing: the first thing below that is something.
  for (int depth = 0; depth < kDeepest && best.fame == Fame::Plumbing; ++depth) {
    const ShapeIndex child = heaviest_child(best.shape, half);
    if (child == kNoShape) break;
    best = {child, fame(child)};
  }
  return best;
}

// A class may be the wrapper of another package's class, or what keeps it by accident.
Growth::Pick Growth::past_wrappers(Pick from) const {
  Pick named = from;
  bool carried = false;
  const bool key = edge_text(from.shape) == "[key]";
  ShapeIndex at = from.shape;
  for (int depth = 0; depth < 2 * kDeepest; ++depth) {
    const std::int64_t half = std::max<std::int64_t>(1, rises_[named.shape].count / 2);
    const ShapeIndex child = heaviest_child(at, half);
    if (child == kNoShape || rises_[child].below < part(rises_[from.shape].below, kNearlyAll))
      break;
    at = child;
    const Fame known = fame(child);
    carried |= is_stowaway_carrier(type_text(child));
    // The standard library's record of an object of the program, or another package's wrapper.
    const bool foreign = named.fame == Fame::Library ||
                         (named.fame == Fame::User &&
                          package_of(type_text(child)) != package_of(type_text(named.shape)));
    const bool wrapped =
        known == Fame::User && foreign && rises_[child].count * 2 <= rises_[named.shape].count * 3;
    // A key is made to be looked up: what it keeps is the argument in it.
    const bool argument = key && known == Fame::User && named.shape == from.shape;
    if (wrapped || argument || (carried && known != Fame::Plumbing)) {
      named = {child, known};
      // What a traceback keeps is the program's: a builtin will do unless a class follows.
      carried = false;
      if (known < Fame::Class) {
        const Pick better = below_plumbing(child);
        if (better.fame >= Fame::Function) named = better;
        break;
      }
    }
  }
  return named;
}

std::vector<Candidate> Growth::candidates() const {
  // Entries of one container are one group, whatever they are: a dict's keys with its values.
  std::map<std::pair<ShapeIndex, std::uint64_t>, std::vector<ShapeIndex>> groups;
  for (ShapeIndex i = 1; i < rises_.size(); ++i) {
    if (!rises_[i].in_number || rises_[i].under) continue;
    const Census::ShapeCount& shape = last_.shapes()[i];
    const std::string_view edge = edge_text(i);
    const bool element = edge == "[*]" || edge == "[key]";
    std::uint64_t key = element ? 0 : std::uint64_t{shape.edge} + 1;
    if (shape.parent == 0) key = shape.id;
    groups[{shape.parent, key}].push_back(i);
  }
  // The keys of a namespace come and go with its members.
  for (auto& [key, entries] : groups) {
    const bool only_keys = std::all_of(entries.begin(), entries.end(), [this](ShapeIndex i) {
      return edge_text(i) == "[key]" && fame(i) == Fame::Builtin;
    });
    if (!only_keys) continue;
    for (auto other = groups.lower_bound({key.first, 0});
         other != groups.end() && other->first.first == key.first; ++other) {
      if (other->first == key) continue;
      if (rises_[other->second.front()].count * 2 < rises_[entries.front()].count) continue;
      other->second.insert(other->second.end(), entries.begin(), entries.end());
      entries.clear();
      break;
    }
  }
  std::vector<Candidate> out;
  for (auto& [key, entries] : groups) {
    if (!entries.empty()) add_group(std::move(entries), out);
  }
  add_in_place(out);
  return out;
}

void Growth::add_group(std::vector<ShapeIndex> entries, std::vector<Candidate>& out) const {
  struct Named {
    ShapeIndex entry;
    Pick pick;
  };
  std::vector<Named> names;
  std::int64_t bytes = 0;
  for (const ShapeIndex entry : entries) {
    names.push_back({entry, pick(entry)});
    bytes += rises_[entry].below;
  }
  const auto is_key = [this](ShapeIndex i) { return edge_text(i) == "[key]"; };
  std::sort(names.begin(), names.end(), [&](const Named& a, const Named& b) {
    // A class with next to no bytes does not speak for a container of something else.
    const bool much_a = rises_[a.entry].below * 10 >= bytes;
    const bool much_b = rises_[b.entry].below * 10 >= bytes;
    const auto known_a = std::max(a.pick.fame, Fame::Builtin);
    const auto known_b = std::max(b.pick.fame, Fame::Builtin);
    return std::tuple(!much_a, known_b, is_key(a.entry), rises_[b.entry].below, a.entry) <
           std::tuple(!much_b, known_a, is_key(b.entry), rises_[a.entry].below, b.entry);
  });

  // Other classes in the same container stand for themselves; keys and builtins belong to the
  // first.
  std::vector<Candidate> made;
  for (const Named& named : names) {
    const ShapeIndex shape = named.pick.shape;
    const std::int64_t count = rises_[shape].count;
    Candidate* same = nullptr;
    for (Candidate& other : made) {
      if (other.type == last_.shapes()[shape].type) same = &other;
    }
    const bool own = named.pick.fame >= Fame::Library && !is_key(named.entry) &&
                     worth(count, rises_[named.entry].below);
    if (same == nullptr && !made.empty() && !own) same = &made.front();
    if (same != nullptr) {
      same->entries.push_back(named.entry);
      same->bytes += rises_[named.entry].below;
      if (same->type == last_.shapes()[shape].type && shape != same->named) same->count += count;
      continue;
    }
    Candidate candidate;
    candidate.entries = {named.entry};
    candidate.named = shape;
    candidate.type = last_.shapes()[shape].type;
    candidate.fame = named.pick.fame;
    candidate.count = count;
    candidate.bytes = rises_[named.entry].below;
    candidate.trend = shape_trend(named.entry);
    made.push_back(std::move(candidate));
  }
  // The container's own slots.
  const ShapeIndex holder = last_.shapes()[entries.front()].parent;
  if (!made.empty() && holder != 0) {
    made.front().bytes += std::max<std::int64_t>(0, rises_[holder].bytes);
  }
  for (Candidate& candidate : made) {
    if (worth(candidate)) out.push_back(std::move(candidate));
  }
}

// One object that gets larger: the array itself, or the class of another package it is the
// inside of.
ShapeIndex Growth::owner_in_place(ShapeIndex leaf) const {
  ShapeIndex root = leaf, owner = leaf;
  while (last_.shapes()[root].parent != 0) root = last_.shapes()[root].parent;
  std::string_view own_package = package_of(type_text(root));
  if (type_text(root) == "module" || type_text(root) == "builtins.module") {
    // "module app.views": the program's own package needs no looking through.
    std::string_view text = edge_text(root);
    text.remove_prefix(std::min(text.size(), std::string_view("module ").size()));
    own_package = text.substr(0, text.find('.'));
  }
  std::string_view package;
  for (ShapeIndex at = last_.shapes()[leaf].parent; at != 0; at = last_.shapes()[at].parent) {
    const Fame known = fame(at);
    if (known < Fame::Class) continue;
    const std::string_view of = package_of(type_text(at));
    if (known != Fame::User || of == "__main__" || of == own_package) break;
    if (!package.empty() && of != package) break;
    package = of;
    owner = at;
  }
  while (owner == leaf && fame(leaf) == Fame::Plumbing && last_.shapes()[leaf].parent != 0 &&
         fame(last_.shapes()[leaf].parent) <= Fame::Library &&
         type_text(last_.shapes()[leaf].parent) != "module") {
    owner = leaf = last_.shapes()[leaf].parent;  // A storage belongs to its array.
  }
  return owner;
}

void Growth::add_in_place(std::vector<Candidate>& out) const {
  BitSet containers(rises_.size());  // already counted with what is in them
  for (const Candidate& candidate : out) {
    for (const ShapeIndex entry : candidate.entries) {
      containers.insert(last_.shapes()[entry].parent);
    }
  }
  std::map<ShapeIndex, Candidate> by_owner;
  for (ShapeIndex i = 1; i < rises_.size(); ++i) {
    if (!rises_[i].in_size || grown(i) || containers.contains(i)) continue;
    if (rises_[i].bytes < options_.least_bytes.count || series_.size() < 3) continue;
    const ShapeIndex owner = owner_in_place(i);
    if (may_be_loading(fame(owner))) continue;
    Candidate& candidate = by_owner[owner];
    candidate.entries = {owner};
    candidate.named = owner;
    candidate.type = last_.shapes()[owner].type;
    candidate.fame = fame(owner);
    candidate.bytes += rises_[i].bytes;
    if (candidate.trend.intervals == 0) candidate.trend = shape_trend(i);
    candidate.in_place = true;
  }
  for (auto& [owner, candidate] : by_owner) out.push_back(std::move(candidate));
}

std::vector<Growth::LostType> Growth::unexplained_types() const {
  std::unordered_map<NameId, std::int64_t> explained;
  std::unordered_map<NameId, std::vector<std::int64_t>> found;  // by census: where it is explained
  for (ShapeIndex i = 1; i < rises_.size(); ++i) {
    if (!grown(i)) continue;
    const Census::ShapeCount& shape = last_.shapes()[i];
    explained[shape.type] += rises_[i].count;
    auto& counts = found[shape.type];
    counts.resize(series_.size());
    for (std::size_t k = 0; k < series_.size(); ++k) {
      const auto* row = series_.censuses[k]->shape(shape.id);
      counts[k] += row == nullptr ? 0 : row->count;
    }
  }
  std::vector<LostType> out;
  for (const Census::Type& type : last_.types()) {
    const std::string_view name = last_.names().text(type.name);
    std::vector<std::int64_t> counts;
    std::int64_t bytes = 0;
    for (const Census* census : series_.censuses) {
      const auto* row = census->type(name);
      counts.push_back(row == nullptr ? 0 : row->count);
      if (census == series_.censuses.front() && row != nullptr) bytes = row->retained;
    }
    const Trend trend = trend_of(series_.x, counts);
    if (!trend.rises || !worth(trend.grown, type.retained - bytes)) continue;
    if (explained[type.name] * 2 >= trend.steady) continue;
    // What a program loads at its start makes every type rise that also leaks a little: without
    // the part that is explained it has to rise as well.
    if (const auto at = found.find(type.name); at != found.end()) {
      for (std::size_t k = 0; k < counts.size(); ++k) counts[k] -= at->second[k];
      if (!trend_of(series_.x, counts).rises) continue;
    }
    out.push_back(
        {type.name, trend.grown, std::max<std::int64_t>(0, type.retained - bytes), trend});
  }
  return out;
}

}  // namespace lowtide::heap
