// SPDX-License-Identifier: Apache-2.0
#include "heap/content.h"

#include <algorithm>
#include <vector>

#include "heap/naming.h"

namespace lowtide::heap {
namespace {

constexpr std::int64_t kLabelsCompared = 64;

std::string last_word(std::string_view type) {
  const std::string name = public_name(type);
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

}  // namespace

void Content::add(const Graph& graph, NodeId n, NodeId owner) {
  Part& part = parts_[graph.type_id(owner)];
  part.bytes += graph.own(n).count;
  total_ += graph.own(n).count;
  if (n == owner) {
    ++part.count;
    part.flags = graph.flags(n);
  }
  // The label that the most bytes have: of an array and its thousand views the array's.
  const std::int64_t weight = graph.own(n).count;
  if (graph.label_id(owner) == part.label) {
    part.lead += weight;
  } else if (part.lead < weight) {
    part.label = graph.label_id(owner);
    part.lead = weight - part.lead;
  } else {
    part.lead -= weight;
  }
}

void Content::add_named(const Graph& graph, NodeId n) {
  if (++named_ > kLabelsCompared) return;
  label_ = named_ == 1 ? std::string(graph.label(n)) : common_label(label_, graph.label(n));
}

void Content::add(const Content& other) {
  for (const auto& [type, more] : other.parts_) {
    Part& part = parts_[type];
    part.bytes += more.bytes;
    part.count += more.count;
    part.flags |= more.flags;
    if (more.lead > part.lead) part.label = more.label;
    part.lead = std::max(part.lead, more.lead);
  }
  total_ += other.total_;
}

std::string Content::part_text(const Graph& graph, NameId type, const Part& part,
                               bool itself) const {
  const std::string_view text = graph.names().text(type);
  const std::string_view label = graph.names().text(part.label);
  if (fame_of(text, part.flags) == Fame::Buffer && !label.empty()) {
    const std::size_t space = label.find(' ');
    if (space == std::string_view::npos) return std::string(label) + " arrays";
    return std::string(label.substr(0, space)) + " arrays" + std::string(label.substr(space));
  }
  const Bytes each{part.count == 0 ? part.bytes : part.bytes / part.count};
  if (itself) return each < kKiB ? "" : to_text(each) + " each";
  return last_word(text) + ", " + to_text(each) + " each";
}

std::string Content::text(const Graph& graph, NameId type) const {
  std::vector<std::pair<NameId, Part>> parts(parts_.begin(), parts_.end());
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::pair(b.second.bytes, a.first) < std::pair(a.second.bytes, b.first);
  });
  std::string bytes;
  if (!parts.empty() && parts[0].second.bytes * 2 >= total_) {
    bytes = part_text(graph, parts[0].first, parts[0].second, parts[0].first == type);
  } else if (!parts.empty()) {
    const std::size_t shown = std::min<std::size_t>(3, parts.size());
    for (std::size_t i = 0; i < shown; ++i) {
      if (i != 0) bytes += i + 1 == shown ? " and " : ", ";
      bytes += last_word(graph.names().text(parts[i].first));
    }
  }
  const std::string_view name = graph.names().text(type);
  const bool labelled = (is_function(name) || is_class(name) || bare_type(name) == "module") &&
                        !label_.empty() && label_ != "*";
  if (!labelled) return bytes;
  return bytes.empty() ? label_ : label_ + "; " + bytes;
}

}  // namespace lowtide::heap
