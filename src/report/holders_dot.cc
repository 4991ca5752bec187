// SPDX-License-Identifier: Apache-2.0
#include "report/holders_dot.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "report/text.h"

namespace lowtide::report {
namespace {

// Inside double quotes dot knows two escapes of ours; a backslash of the target's must not
// become "\n" or "\l".
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : clean(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// A tree of path steps. `count` is summed over the paths that share an edge.
struct Step {
  std::size_t parent = 0;
  std::string label;
  std::int64_t count = 0;
};

constexpr std::size_t kNone = ~std::size_t{0};

}  // namespace

std::string to_dot(const heap::Suspect& suspect) {
  std::vector<Step> steps;
  std::map<std::pair<std::size_t, std::string>, std::size_t> known;
  std::map<std::size_t, const heap::Holder*> ends;
  for (const heap::Holder& holder : suspect.holders) {
    std::size_t at = kNone;
    for (const std::string& label : holder.path) {
      const auto [found, fresh] = known.try_emplace({at, label}, steps.size());
      if (fresh) steps.push_back({at, label, 0});
      at = found->second;
      steps[at].count += holder.count;
    }
    if (at != kNone) ends[at] = &holder;
  }

  std::string out =
      "digraph holders {\n"
      "  rankdir=LR;\n"
      "  bgcolor=\"white\";\n"
      "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f3f6f9\", color=\"#9aa5b1\", "
      "fontname=\"DejaVu Sans\", fontsize=11, margin=\"0.14,0.07\"];\n"
      "  edge [color=\"#626b75\", fontname=\"DejaVu Sans\", fontsize=9, fontcolor=\"#626b75\", "
      "arrowsize=0.7];\n";
  std::string what =
      (suspect.count > 0 ? "+" : "") + count_text(suspect.count) + " " + suspect.type;
  if (suspect.retained.count != 0) what += "\n" + to_signed_text(suspect.retained);
  if (!suspect.content.empty()) what += " as " + suspect.content;
  const auto newline = what.find('\n');
  std::string label = escaped(what.substr(0, newline));
  if (newline != std::string::npos) label += "\\n" + escaped(what.substr(newline + 1));
  out += fmt::format(
      "  what [label=\"{}\", fillcolor=\"#fbe3d2\", color=\"#d55e00\", penwidth=1.6];\n", label);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool root = steps[i].parent == kNone;
    out += fmt::format("  n{} [label=\"{}\"{}];\n", i, escaped(steps[i].label),
                       root ? ", fillcolor=\"#d6e8f5\", color=\"#0072b2\", penwidth=1.6" : "");
  }
  const auto weight = [&](std::int64_t count) {
    return count > 0 && count != suspect.count ? fmt::format(" [label=\"{}\"]", count_text(count))
                                               : std::string();
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].parent == kNone) continue;
    out += fmt::format("  n{} -> n{}{};\n", steps[i].parent, i, weight(steps[i].count));
  }
  for (const auto& [at, holder] : ends) {
    std::string text;
    if (suspect.holders.size() > 1 && holder->freed_if_only_this.count > 0) {
      text = fmt::format(" [label=\"alone frees {}\"]", to_text(holder->freed_if_only_this));
    }
    out += fmt::format("  n{} -> what{};\n", at, text.empty() ? weight(holder->count) : text);
  }
  if (suspect.holders.empty()) {
    const std::string why = suspect.garbage ? "no one: unreachable cycles" : "not known";
    out +=
        fmt::format("  nobody [label=\"{}\", style=\"rounded,dashed\"];\n  nobody -> what;\n", why);
  }
  return out + "}\n";
}

}  // namespace lowtide::report
