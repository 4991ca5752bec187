// SPDX-License-Identifier: Apache-2.0
#include "heap/suspects.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "heap/census.h"
#include "heap/content.h"
#include "heap/garbage.h"
#include "heap/growth.h"
#include "heap/layers.h"
#include "heap/naming.h"
#include "heap/paths.h"
#include "heap/shapes.h"

namespace lowtide::heap {
namespace {

constexpr std::size_t kSample = 192;  // objects of a suspect whose holders are looked for
constexpr std::size_t kHoldersShown = 8;
constexpr std::size_t kDrafts = 24;  // candidates worked out before the best are chosen

// One suspect in the making: candidates of one class, wherever they are held.
struct Draft {
  std::vector<Candidate> parts;
  std::vector<NodeId> nodes;  // of the last graph
  HeldSet held;
  Content content;
  double kept = 1;  // of those the last snapshot but one had, how many are still there
  std::int64_t native_bytes = 0;  // grown, of native drafts that this one explains

  const Candidate& first() const { return parts.front(); }
  std::int64_t count() const {
    std::int64_t sum = 0;
    for (const Candidate& part : parts) sum += part.count;
    return sum;
  }
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const Candidate& part : parts) sum += part.bytes;
    return sum + native_bytes;
  }
};

class Investigation {
 public:
  Investigation(const Series& series, const Graph& graph, const SuspectOptions& options)
      : series_(series),
        graph_(graph),
        options_(options),
        tree_(holder_tree(graph)),
        shapes_(graph, tree_),
        growth_(series, flags_by_shape(), passing_roots(), options),
        types_(graph),
        lost_(graph.node_count()) {}

  // Is the graph the one the last census was taken of? All numbers of shapes rest on it.
  bool fits() const {
    const auto& rows = series_.last().shapes();
    if (rows.size() != shapes_.size()) return false;
    for (ShapeIndex i = 0; i < rows.size(); ++i) {
      if (rows[i].id != shapes_[i].id) return false;
    }
    return true;
  }

  std::vector<Suspect> run() {
    draft_candidates();
    draft_lost_types();
    mark_grown();
    choose_nodes();
    drop_the_churning();
    find_holders();
    give_native_to_its_class();
    drop_the_explained();
    describe();
    std::vector<Suspect> out;
    for (const Draft& draft : drafts_) out.push_back(suspect_of(draft));
    return out;
  }

 private:
  std::vector<std::uint8_t> flags_by_shape() const {
    std::vector<std::uint8_t> flags(shapes_.size());
    for (const NodeId n : shapes_.order()) flags[shapes_.of(n)] |= graph_.flags(n);
    return flags;
  }

  // What a call, a thread, or the interpreter's own caches hold for the moment.
  std::vector<bool> passing_roots() const {
    std::vector<bool> passing(shapes_.size());
    for (ShapeIndex i = 1; i < shapes_.size(); ++i) {
      if (shapes_[i].edge != FoldedEdge::Root) continue;
      const RootKind kind = graph_.root_kind(shapes_[i].first);
      passing[i] = kind == RootKind::Frame || kind == RootKind::Thread || kind == RootKind::Runtime;
    }
    return passing;
  }

  std::string_view name(NameId census_type) const {
    return series_.last().names().text(census_type);
  }

  // Names say the same thing only where they are somebody's: two lists of dicts are two leaks.
  static bool merges(const Candidate& a, const Candidate& b) {
    return a.type == b.type && a.in_place == b.in_place && a.fame >= Fame::Library;
  }

  void add_draft(Candidate candidate) {
    for (Draft& draft : drafts_) {
      if (!merges(draft.first(), candidate)) continue;
      draft.parts.push_back(std::move(candidate));
      return;
    }
    drafts_.emplace_back().parts.push_back(std::move(candidate));
  }

  void draft_candidates() {
    std::vector<Candidate> candidates = growth_.candidates();
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.bytes > b.bytes; });
    for (Candidate& candidate : candidates) add_draft(std::move(candidate));
    if (drafts_.size() > kDrafts) drafts_.resize(kDrafts);
  }

  // Types that rise although none of their shapes does: the new ones that stayed are asked where
  // they are. The best-known first, so that a class explains its insides.
  void draft_lost_types() {
    std::vector<Candidate> lost_types;
    for (const Growth::LostType& lost : growth_.unexplained_types()) {
      Candidate& candidate = lost_types.emplace_back();
      candidate.type = lost.type;
      candidate.count = lost.count;
      candidate.bytes = lost.bytes;
      candidate.trend = lost.trend;
      find_settled(candidate);
    }
    std::stable_sort(lost_types.begin(), lost_types.end(), [](const auto& a, const auto& b) {
      return std::pair(b.fame, b.bytes) < std::pair(a.fame, a.bytes);
    });
    for (Candidate& candidate : lost_types) {
      if (drafts_.size() >= kDrafts) return;
      if (candidate.nodes.empty() || is_inside(candidate)) continue;
      if (growth_.may_be_loading(candidate.fame)) continue;
      for (const NodeId n : candidate.nodes) lost_.insert(n);
      add_draft(std::move(candidate));
    }
  }

  // The objects of a rising type that are neither known to be old nor known to be passing.
  void find_settled(Candidate& candidate) const {
    const NameId type = graph_.names().find(name(candidate.type));
    std::int64_t settled = 0, asked = 0;
    std::unordered_set<ShapeIndex> holders;
    std::vector<NodeId> unsure;
    for (const NodeId n : shapes_.order()) {
      if (n == kSuperRoot || graph_.type_id(n) != type || growth_.grown(shapes_.of(n))) continue;
      candidate.fame = fame_of(graph_.type(n), graph_.flags(n));
      const auto then = had(*series_.censuses.front(), n);
      const auto before = had(*series_.censuses[series_.size() - 2], n);
      asked += then == false ? 1 : 0;
      if (then == false && (series_.size() == 2 || before == true)) {
        ++settled;
        holders.insert(shapes_.of(tree_.parent[n]));
      }
      unsure.push_back(n);
    }
    // More come than stay: temporaries.
    if (settled * 3 < asked || settled == 0) return;
    for (const NodeId n : unsure) {
      if (holders.contains(shapes_.of(tree_.parent[n]))) candidate.nodes.push_back(n);
    }
  }

  // Is it the inside of something that grows already?
  bool is_inside(const Candidate& candidate) const {
    std::size_t inside = 0;
    for (const NodeId n : candidate.nodes) {
      NodeId at = tree_.parent[n];
      for (int up = 0; up < 12 && at != kSuperRoot; ++up, at = tree_.parent[at]) {
        if (!growth_.grown(shapes_.of(at)) && !lost_.contains(at)) continue;
        ++inside;
        break;
      }
    }
    return inside * 2 > candidate.nodes.size();
  }

  std::optional<bool> had(const Census& census, NodeId n) const {
    const Census::Type* type = census.type(graph_.type(n));
    if (type == nullptr) return false;
    return census.had(*type, graph_.address(n));
  }

  void mark_grown() {
    grown_ = BitSet(graph_.node_count());
    for (const NodeId n : shapes_.order()) {
      if (n != kSuperRoot && growth_.grown(shapes_.of(n))) grown_.insert(n);
    }
    for (const Draft& draft : drafts_) {
      for (const Candidate& part : draft.parts) {
        for (const NodeId n : part.nodes) grown_.insert(n);
      }
    }
    if (lost_.count() == 0) return;
    // What hangs on them grew with them.
    for (const NodeId n : shapes_.order()) {
      if (n != kSuperRoot && lost_.contains(tree_.parent[n])) lost_.insert(n);
      if (lost_.contains(n)) grown_.insert(n);
    }
  }

  void choose_nodes() {
    // Which draft a shape names, and which one it is the inside of.
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::vector<std::uint32_t> names(shapes_.size(), kNone), inside(shapes_.size(), kNone);
    std::vector<std::uint32_t> below;  // by node: the same for drafts that have no shape
    for (std::uint32_t d = 0; d < drafts_.size(); ++d) {
      for (const Candidate& part : drafts_[d].parts) {
        if (part.named != kNoShape) names[part.named] = inside[part.named] = d;
        for (const NodeId n : part.nodes) {
          if (below.empty()) below.assign(graph_.node_count(), kNone);
          below[n] = d;
          drafts_[d].nodes.push_back(n);
        }
      }
    }
    const auto below_of = [this](NodeId n, const std::vector<std::uint32_t>& of) {
      return of[n] != kNone ? of[n] : of[tree_.parent[n]];
    };
    for (ShapeIndex i = 1; i < shapes_.size(); ++i) {
      if (inside[i] == kNone) inside[i] = inside[shapes_[i].parent];
    }
    for (const NodeId n : shapes_.order()) {
      if (n == kSuperRoot) continue;
      const ShapeIndex shape = shapes_.of(n);
      if (names[shape] != kNone) {
        Draft& draft = drafts_[names[shape]];
        draft.nodes.push_back(n);
        if (draft.first().in_place) grown_.insert(n);
      }
      std::uint32_t draft = inside[shape];
      if (draft == kNone && !below.empty()) draft = below[n] = below_of(n, below);
      if (draft == kNone) continue;
      const bool storage = (graph_.flags(n) & kStorage) != 0;
      drafts_[draft].content.add(graph_, n, storage ? tree_.parent[n] : n);
    }
    for (Draft& draft : drafts_) {
      for (const NodeId n : draft.nodes) draft.content.add_named(graph_, n);
      take_sample(draft);
    }
  }

  // Those that came after the first snapshot and are older than the last one, as far as is known.
  void take_sample(Draft& draft) {
    const Census& first = *series_.censuses.front();
    const Census& before = *series_.censuses[series_.size() - 2];
    std::vector<NodeId> survivors, others;
    std::int64_t asked = 0, old = 0;
    for (const NodeId n : draft.nodes) {
      const auto was_there = had(before, n);
      if (was_there.has_value()) ++asked;
      if (was_there == true) ++old;
      const bool survivor = was_there == true && had(first, n) == false;
      (survivor ? survivors : others).push_back(n);
    }
    std::int64_t now = 0, then = 0;
    for (const Candidate& part : draft.parts) {
      if (part.named == kNoShape) continue;
      const auto& row = series_.last().shapes()[part.named];
      now += row.count;
      const auto* earlier = before.shape(row.id);
      then += earlier == nullptr ? 0 : earlier->count;
    }
    if (asked >= 16 && then > 0 && now > 0) {
      const double expected = static_cast<double>(then) / static_cast<double>(now);
      draft.kept = std::min(1.0, static_cast<double>(old) / static_cast<double>(asked) / expected);
    }
    std::vector<NodeId>& from = survivors.size() >= 8 ? survivors : draft.nodes;
    const std::size_t step = std::max<std::size_t>(1, from.size() / kSample);
    for (std::size_t i = 0; i < from.size() && draft.held.sample.size() < kSample; i += step) {
      draft.held.sample.push_back(from[i]);
    }
  }

  // More each time, but never the same ones: what is under way, not what is kept.
  void drop_the_churning() {
    std::erase_if(drafts_, [this](const Draft& draft) {
      if (draft.first().in_place || draft.kept >= 0.3) return false;
      return series_.size() < 5 || draft.first().trend.evenness < 0.7;
    });
  }

  void find_holders() {
    std::vector<HeldSet> sets;
    for (Draft& draft : drafts_) sets.push_back(std::move(draft.held));
    find_layers(graph_, tree_, shapes_, grown_, sets);
    for (std::size_t i = 0; i < drafts_.size(); ++i) drafts_[i].held = std::move(sets[i]);
    std::erase_if(drafts_, [](const Draft& draft) { return draft.held.layers.empty(); });
  }

  // Storages and the nodes of a C++ library are how a class works: beside a class that hangs on
  // the same container they are its bytes, not a second leak.
  void give_native_to_its_class() {
    std::vector<bool> given(drafts_.size());
    for (std::size_t n = 0; n < drafts_.size(); ++n) {
      if (!is_native(drafts_[n])) continue;
      Draft* owner = nullptr;
      for (Draft& draft : drafts_) {
        if (draft.first().fame < Fame::Library || is_native(draft)) continue;
        if (owner != nullptr && owner->bytes() >= draft.bytes()) continue;
        if (hangs_on(drafts_[n], draft)) owner = &draft;
      }
      if (owner == nullptr) continue;
      given[n] = true;
      take_native(drafts_[n], *owner);
    }
    std::size_t at = 0;
    std::erase_if(drafts_, [&](const Draft&) { return given[at++]; });
  }

  // What goes with a layer that both have is the owner's already.
  static void take_native(const Draft& native, Draft& owner) {
    owner.native_bytes += native.bytes();
    owner.content.add(native.content);
    std::vector<Layer>& known = owner.held.layers;
    for (const Layer& l : native.held.layers) {
      const auto same = [&](const Layer& o) { return o.key == l.key; };
      if (std::any_of(known.begin(), known.end(), same)) continue;
      owner.held.freed_together += l.freed_alone;
      const auto at = std::find_if(known.begin(), known.end(),
                                   [&](const Layer& o) { return o.container == l.container; });
      if (at != known.end()) at->freed_alone += l.freed_alone;
    }
  }

  bool is_native(const Draft& draft) const {
    if (name(draft.first().type).find("::") != std::string_view::npos) return true;
    return std::all_of(draft.held.sample.begin(), draft.held.sample.end(), [this](NodeId n) {
      return (graph_.flags(n) & (kStorage | kSynthetic)) != 0;
    });
  }

  bool hangs_on(const Draft& native, const Draft& owner) const {
    const NameId type = graph_.names().find(name(owner.first().type));
    return std::all_of(native.held.layers.begin(), native.held.layers.end(), [&](const Layer& l) {
      return std::any_of(owner.held.layers.begin(), owner.held.layers.end(), [&](const Layer& o) {
        return o.key == l.key || leads_through(l.path, o.container, type);
      });
    });
  }

  // Does the path go through a container of this shape, and from there on through no class but
  // `type`? Names of a module or an object are holders of their own, not one container.
  bool leads_through(const Path& path, NodeId container, NameId type) const {
    if (container == kSuperRoot || (graph_.flags(container) & kNamespace) != 0) return false;
    bool through = false;
    for (const EdgeId e : path) {
      const NodeId n = graph_.target(e);
      const bool other = (graph_.flags(n) & kUser) != 0 && graph_.type_id(n) != type;
      through = shapes_.of(n) == shapes_.of(container) || (through && !other);
    }
    return through;
  }

  // The listener that holds a body is not a second leak beside the body, nor is the weak
  // reference to it.
  void drop_the_explained() {
    std::stable_sort(drafts_.begin(), drafts_.end(),
                     [](const Draft& a, const Draft& b) { return a.bytes() > b.bytes(); });
    std::vector<Draft> kept;
    for (Draft& draft : drafts_) {
      const bool explained = refers_weakly_to_grown(draft) ||
                             std::any_of(kept.begin(), kept.end(), [&](const Draft& other) {
                               return holds_the_same(draft, other) || comes_with(draft, other);
                             });
      if (!explained) kept.push_back(std::move(draft));
    }
    drafts_ = std::move(kept);
    if (drafts_.size() > options_.most) drafts_.resize(options_.most);
  }

  // Whoever holds `small` holds `large` by it: it is a link of the way to what was named already.
  static bool holds_the_same(const Draft& small, const Draft& large) {
    if (small.count() > 2 * std::max<std::int64_t>(1, large.count())) return false;
    return std::all_of(small.held.layers.begin(), small.held.layers.end(), [&](const Layer& l) {
      return std::any_of(large.held.layers.begin(), large.held.layers.end(), [&](const Layer& o) {
        return o.key == l.key && (l.depth > 0 || o.depth > 0);
      });
    });
  }

  // As many as of something twenty times as large, and nobody's own class: the lock, the cache
  // entry, the empty list that come with each.
  static bool comes_with(const Draft& small, const Draft& large) {
    if (small.first().fame >= Fame::User || small.first().in_place) return false;
    const std::int64_t apart = std::abs(small.count() - large.count());
    return apart * 10 <= large.count() && small.bytes() * 20 <= large.bytes();
  }

  bool refers_weakly_to_grown(const Draft& draft) const {
    std::size_t weak = 0;
    for (const NodeId n : draft.held.sample) {
      for (EdgeId e = graph_.edges_begin(n); e < graph_.edges_end(n); ++e) {
        if (graph_.kind(e) != EdgeKind::Weak || !grown_.contains(graph_.target(e))) continue;
        ++weak;
        break;
      }
    }
    return draft.first().fame <= Fame::Builtin && weak * 2 > draft.held.sample.size();
  }

  void describe() {
    for (Draft& draft : drafts_) {
      // Who holds the most; a module before a frame before a native reference.
      const std::size_t all = draft.held.sample.size();
      const auto order = [&](const Layer& layer) {
        const int far = layer.path.empty() ? 9 : rank(graph_.root_kind(layer.path.front()));
        return std::tuple(layer.held * 2 < all, far, all - layer.held, layer.depth);
      };
      std::stable_sort(draft.held.layers.begin(), draft.held.layers.end(),
                       [&](const Layer& a, const Layer& b) { return order(a) < order(b); });
    }
  }

  // The path with its exact keys and places where all of the set share them, folded where they
  // differ.
  PathText path_text(const Layer& layer) const {
    const PathText exact = render(graph_, types_, layer.path, Indexes::Exact);
    PathText text = render(graph_, types_, layer.path, Indexes::Folded);
    if (exact.hops.size() != text.hops.size()) return text;
    std::vector<PathText> others;
    for (const Path& path : layer.others) {
      others.push_back(render(graph_, types_, path, Indexes::Exact));
      if (others.back().hops.size() != text.hops.size()) others.pop_back();
    }
    bool past = false;  // beyond the container, where there is nothing to compare with
    for (std::size_t i = 0; i < text.hops.size(); ++i) {
      const Hop& hop = exact.hops[i];
      const bool same = others.empty()
                            ? layer.alone && !past
                            : std::all_of(others.begin(), others.end(), [&](const PathText& other) {
                                return other.hops[i].to == hop.to;
                              });
      past |= hop.to == layer.container;
      if (hop.times != 1) continue;
      if (hop.name.substr(0, 1) == "[") text.hops[i].name = same ? hop.name : "[*]";
      for (const PathText& other : others) {
        // "result_*", "Model_*": names with a number in them.
        if (hop.name.substr(0, 1) != "[") {
          text.hops[i].name = pattern(text.hops[i].name, other.hops[i].name);
        }
        text.hops[i].type = pattern(text.hops[i].type, other.hops[i].type);
      }
    }
    return text;
  }

  static std::string pattern(const std::string& a, const std::string& b) {
    const std::string common = common_label(a, b);
    return common.empty() ? a : common;
  }

  std::vector<std::int64_t> counts_of(const Draft& draft) const {
    std::vector<std::int64_t> counts;
    for (const Census* census : series_.censuses) {
      std::int64_t sum = 0;
      for (const Candidate& part : draft.parts) {
        if (part.named == kNoShape) {
          const auto* type = census->type(name(part.type));
          sum += type == nullptr ? 0 : type->count;
        } else {
          const auto* row = census->shape(series_.last().shapes()[part.named].id);
          sum += row == nullptr ? 0 : row->count;
        }
      }
      counts.push_back(sum);
    }
    return counts;
  }

  Suspect suspect_of(const Draft& draft) const {
    Suspect suspect;
    suspect.type = public_name(name(draft.first().type));
    suspect.retained = Bytes{std::max<std::int64_t>(0, draft.bytes())};
    suspect.content = draft.content.text(graph_, graph_.names().find(name(draft.first().type)));
    Trend trend = draft.first().trend;
    if (draft.first().in_place) {
      suspect.content += suspect.content.empty() ? "grows in place" : "; grows in place";
    } else {
      suspect.count = draft.count();
      const std::vector<std::int64_t> counts = counts_of(draft);
      const Trend named = trend_of(series_.x, counts);
      if (named.rises) trend = named;
      suspect.count_per_second = trend_of(series_.seconds, counts).slope;
      if (series_.by_rounds) suspect.count_per_round = trend_of(series_.rounds, counts).slope;
    }
    suspect.freed_if_all = draft.held.freed_together;
    suspect.confidence = confidence_of(trend) * (draft.kept < 0.5 ? 0.7 : 1.0);
    std::size_t sampled = draft.held.sample.size();
    for (const Layer& layer : draft.held.layers) {
      if (suspect.holders.size() == kHoldersShown) break;
      const PathText text = path_text(layer);
      Holder holder;
      holder.path = text.pieces();
      holder.text = text.text();
      holder.root = text.root;
      holder.count = static_cast<std::int64_t>(
          std::llround(static_cast<double>(suspect.count) * static_cast<double>(layer.held) /
                       static_cast<double>(std::max<std::size_t>(1, sampled))));
      holder.freed_if_only_this = layer.freed_alone;
      suspect.holders.push_back(std::move(holder));
    }
    suspect.fingerprint = fingerprint_of(suspect);
    return suspect;
  }

  const Series& series_;
  const Graph& graph_;
  const SuspectOptions& options_;
  HolderTree tree_;
  Shapes shapes_;
  Growth growth_;
  ShortTypes types_;
  std::vector<Draft> drafts_;
  BitSet grown_;
  BitSet lost_;  // nodes of drafts that have no shape
};

}  // namespace

std::vector<Suspect> find_suspects(std::span<const CensusPoint> points, const Graph& last,
                                   const SuspectOptions& options) {
  const Series series = series_of(points);
  if (series.size() < 2) return {};
  if (series.censuses.back() != points.back().census.get()) return {};  // the last is not whole
  Investigation investigation(series, last, options);
  if (!investigation.fits()) return {};
  std::vector<Suspect> out = investigation.run();
  for (Suspect& suspect : garbage_suspects(series, last, options))
    out.push_back(std::move(suspect));
  std::stable_sort(out.begin(), out.end(),
                   [](const Suspect& a, const Suspect& b) { return a.retained > b.retained; });
  if (out.size() > options.most) out.resize(options.most);
  return out;
}

}  // namespace lowtide::heap
