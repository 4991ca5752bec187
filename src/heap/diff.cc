// SPDX-License-Identifier: Apache-2.0
#include "heap/diff.h"

#include <algorithm>
#include <cstdlib>

#include "heap/census.h"
#include "heap/naming.h"

namespace lowtide::heap {
namespace {

// "module app → _history : list → [*] : Result", from the shapes alone: the graph is gone.
std::string path_of(const Census& census, const Census::ShapeCount* row) {
  std::vector<std::string> steps;
  while (row != &census.shapes()[0]) {
    std::string step(census.names().text(row->edge));
    const bool root = row->parent == 0;
    if (!root && step.substr(0, 1) == ".") step.erase(0, 1);
    if (!root) step += " : " + public_name(census.names().text(row->type));
    steps.push_back(std::move(step));
    row = &census.shapes()[row->parent];
  }
  std::string text;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!text.empty()) text += " → ";
    text += *step;
  }
  return text;
}

void keep_the_largest(std::vector<Difference>& all, std::size_t most) {
  std::erase_if(all, [](const Difference& d) { return d.count() == 0 && d.bytes() == Bytes{0}; });
  std::stable_sort(all.begin(), all.end(), [](const Difference& a, const Difference& b) {
    const auto size = [](const Difference& d) { return std::llabs(d.bytes().count); };
    return size(a) != size(b) ? size(a) > size(b) : std::llabs(a.count()) > std::llabs(b.count());
  });
  if (all.size() > most) all.resize(most);
}

std::vector<Difference> types_between(const Census& before, const Census& after) {
  std::vector<Difference> out;
  for (const Census::Type& now : after.types()) {
    const std::string_view name = after.names().text(now.name);
    Difference& d = out.emplace_back();
    d.what = std::string(name);
    d.count_after = now.count;
    d.after = Bytes{now.retained};
    if (const Census::Type* then = before.type(name)) {
      d.count_before = then->count;
      d.before = Bytes{then->retained};
    }
  }
  for (const Census::Type& then : before.types()) {
    const std::string_view name = before.names().text(then.name);
    if (after.type(name) != nullptr) continue;
    Difference& d = out.emplace_back();
    d.what = std::string(name);
    d.count_before = then.count;
    d.before = Bytes{then.retained};
  }
  return out;
}

// Paths are made into text only for those that are kept: there may be 200,000.
std::vector<Difference> paths_between(const Census& before, const Census& after, std::size_t most) {
  std::vector<const Census::ShapeCount*> rows;
  std::vector<Difference> all;
  const auto add = [&](const Census::ShapeCount* then, const Census::ShapeCount* now) {
    Difference& d = all.emplace_back();
    d.what = std::to_string(rows.size());
    if (then != nullptr) d.count_before = then->count, d.before = Bytes{then->bytes};
    if (now != nullptr) d.count_after = now->count, d.after = Bytes{now->bytes};
    rows.push_back(now != nullptr ? now : then);
  };
  const std::size_t from_after = after.shapes().size();
  for (std::size_t i = 1; i < from_after; ++i) {
    add(before.shape(after.shapes()[i].id), &after.shapes()[i]);
  }
  for (std::size_t i = 1; i < before.shapes().size(); ++i) {
    if (after.shape(before.shapes()[i].id) == nullptr) add(&before.shapes()[i], nullptr);
  }
  keep_the_largest(all, most);
  for (Difference& d : all) {
    const std::size_t row = std::stoull(d.what);
    d.what = path_of(row + 1 < from_after ? after : before, rows[row]);
  }
  return all;
}

}  // namespace

Diff diff(const Census& before, const Census& after, std::size_t most) {
  Diff out;
  out.types = types_between(before, after);
  keep_the_largest(out.types, most);
  out.paths = paths_between(before, after, most);
  out.reachable_before = Bytes{before.reachable};
  out.reachable_after = Bytes{after.reachable};
  out.garbage_before = Bytes{before.garbage};
  out.garbage_after = Bytes{after.garbage};
  return out;
}

}  // namespace lowtide::heap
