// SPDX-License-Identifier: Apache-2.0
#include "heap/garbage.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "heap/content.h"
#include "heap/naming.h"
#include "heap/paths.h"

namespace lowtide::heap {
namespace {

// With the collector on: it runs its oldest generation rarely, so a few snapshots prove nothing.
constexpr int kPatience = 4;

// The shortest way from n back to n, or nothing. Looks at so many nodes and no more.
Path cycle_through(const Graph& graph, NodeId n) {
  constexpr std::size_t kMostNodes = 20'000;
  std::unordered_map<NodeId, EdgeId> came_by;
  std::vector<NodeId> queue{n};
  for (std::size_t i = 0; i < queue.size() && i < kMostNodes; ++i) {
    for (EdgeId e = graph.edges_begin(queue[i]); e < graph.edges_end(queue[i]); ++e) {
      if (!graph.essential(e)) continue;
      if (!came_by.emplace(graph.target(e), e).second) continue;
      if (graph.target(e) != n) {
        queue.push_back(graph.target(e));
        continue;
      }
      Path path{e};
      while (source(graph, path.back()) != n)
        path.push_back(came_by.at(source(graph, path.back())));
      std::reverse(path.begin(), path.end());
      return path;
    }
  }
  return {};
}

// {"Node", ".parent : Node"}: the cycle as a person reads it, from its class back to it.
std::vector<std::string> cycle_pieces(const Graph& graph, const Path& cycle) {
  const auto short_name = [&](NodeId n) {
    const std::string name = public_name(graph.type(n));
    const std::size_t dot = name.rfind('.');
    return dot == std::string::npos ? name : name.substr(dot + 1);
  };
  std::vector<std::string> pieces{short_name(graph.target(cycle.back()))};
  std::size_t shown = 0;
  for (const EdgeId e : cycle) {
    if (graph.kind(e) == EdgeKind::Internal && graph.name(e) == "__dict__") continue;
    if (++shown > 12) {
      pieces.emplace_back("…");
      break;
    }
    std::string step;
    switch (graph.kind(e)) {
      case EdgeKind::Item:
        step = "[*]";
        break;
      case EdgeKind::Key:
        step = (graph.flags(source(graph, e)) & kNamespace) != 0 ? "." + std::string(graph.name(e))
                                                                 : "[*]";
        break;
      case EdgeKind::KeyObject:
        step = "[key]";
        break;
      case EdgeKind::Local:
      case EdgeKind::Closure:
        step = std::string(graph.name(e));
        break;
      default:
        step = "." + std::string(graph.name(e));
    }
    pieces.push_back(step + " : " + short_name(graph.target(e)));
  }
  return pieces;
}

Holder cycle_holder(const Graph& graph, const std::vector<NodeId>& nodes, std::int64_t count) {
  Holder holder;
  holder.root = "no root";
  holder.count = count;
  holder.path = {"no root"};
  constexpr std::size_t kTried = 8;
  for (std::size_t i = 0; i < nodes.size() && i < kTried; ++i) {
    const Path cycle = cycle_through(graph, nodes[i * nodes.size() / kTried % nodes.size()]);
    if (cycle.empty()) continue;
    for (std::string& piece : cycle_pieces(graph, cycle)) holder.path.push_back(std::move(piece));
    break;
  }
  holder.text = holder.path.size() > 1 ? "cycle " : "no root";
  for (std::size_t i = 1; i < holder.path.size(); ++i) {
    if (i > 1) holder.text += " → ";
    const std::string_view piece = holder.path[i];
    holder.text += piece.substr(i > 1 && piece.substr(0, 1) == "." ? 1 : 0);
  }
  return holder;
}

}  // namespace

double confidence_of(const Trend& trend) {
  static constexpr std::array<double, 7> kByIntervals{0, 0.3, 0.55, 0.75, 0.85, 0.9, 0.95};
  const auto intervals = static_cast<std::size_t>(std::clamp(trend.rose, 0, 6));
  return kByIntervals[intervals] * (0.7 + 0.3 * std::clamp(trend.evenness, 0.0, 1.0));
}

std::uint64_t fingerprint_of(const Suspect& suspect) {
  std::vector<std::string> paths;
  for (const Holder& holder : suspect.holders) paths.push_back(fold_digits(holder.text));
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::string text = fold_digits(suspect.type);
  for (const std::string& path : paths) text += '\n' + path;
  return text_hash(text);
}

std::vector<Suspect> garbage_suspects(const Series& series, const Graph& last,
                                      const SuspectOptions& options) {
  std::vector<Suspect> out;
  const Census& now = series.last();
  std::vector<std::int64_t> all;
  for (const Census* census : series.censuses) all.push_back(census->garbage);
  const Trend total = trend_of(series.x, all);
  if (!total.rises || (!now.gc_off && total.rose < kPatience)) return out;

  std::vector<std::pair<std::int64_t, const Census::Type*>> types;
  for (const Census::Type& type : now.types()) {
    const auto* then = series.censuses.front()->type(now.names().text(type.name));
    types.emplace_back(type.garbage_held - (then == nullptr ? 0 : then->garbage_held), &type);
  }
  std::stable_sort(types.begin(), types.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  BitSet live;
  for (const auto& [held, type] : types) {
    if (held * 10 < total.grown) break;
    const std::string_view name = now.names().text(type->name);
    std::vector<std::int64_t> counts;
    for (const Census* census : series.censuses) {
      const auto* row = census->type(name);
      counts.push_back(row == nullptr ? 0 : row->garbage_count);
    }
    const Trend trend = trend_of(series.x, counts);
    if (!trend.rises) continue;
    if (trend.grown < options.least_count && held < options.least_bytes.count) continue;

    Suspect suspect;
    suspect.garbage = true;
    suspect.type = public_name(name);
    suspect.count = trend.grown;
    suspect.count_per_second = trend_of(series.seconds, counts).slope;
    if (series.by_rounds) suspect.count_per_round = trend.slope;
    suspect.retained = Bytes{held};
    suspect.freed_if_all = Bytes{type->garbage_held};
    if (live.count() == 0) live = reachable(last);
    std::vector<NodeId> nodes;
    Content content;
    bool finalizer = false;
    const NameId id = last.names().find(name);
    for (NodeId n = 1; n < last.node_count(); ++n) {
      if (live.contains(n)) continue;
      content.add(last, n, n);
      if (last.type_id(n) != id) continue;
      nodes.push_back(n);
      content.add_named(last, n);
      finalizer |= (last.flags(n) & kFinalizer) != 0;
    }
    suspect.content = content.text(last, id);
    suspect.reason = now.gc_off  ? "the garbage collector is switched off (gc.disable)"
                     : finalizer ? "cycles with a finalizer (__del__)"
                                 : "cycles, waiting for the collector";
    suspect.holders.push_back(cycle_holder(last, nodes, trend.grown));
    suspect.confidence = confidence_of(trend);
    suspect.fingerprint = fingerprint_of(suspect);
    out.push_back(std::move(suspect));
  }
  return out;
}

}  // namespace lowtide::heap
