// SPDX-License-Identifier: Apache-2.0
#include "probe/stream.h"

#include "probe/copy_memory.h"
#include "probe/slot.h"

namespace lowtide::probe {
namespace {

// A program that pours data through its stdout must not pay for it: beyond this many bytes a
// second, lines are no longer looked at until the second is over.
constexpr uint64_t kBytesPerSecond = uint64_t{8} << 20;

void note(const Line& line) {
  auto* slot = own_slot();
  if (slot == nullptr) return;
  const uint64_t position = __atomic_fetch_add(&table->lines_written, 1, __ATOMIC_RELAXED);
  auto& entry = table->lines[position % LOWTIDE_LINES];
  __atomic_store_n(&entry.ns, 0, __ATOMIC_RELEASE);
  entry.pid = slot->pid;
  entry.shape = line.shape();
  entry.matched = line.matched() ? 1 : 0;
  entry.sequence = static_cast<uint32_t>(position);
  __atomic_store_n(&entry.ns, now_ns(), __ATOMIC_RELEASE);
  if (line.matched()) __atomic_fetch_add(&slot->rounds, 1, __ATOMIC_RELAXED);
}

}  // namespace

bool lines_wanted() {
  return table != nullptr && !in_copy && __atomic_load_n(&own->slot, __ATOMIC_RELAXED) != &nobody;
}

bool Stream::over_budget(size_t count) {
  bytes_ += count;
  if (bytes_ <= kBytesPerSecond) return false;
  const uint64_t now = now_ns();
  if (now - second_began_ns_ < 1000000000u) return true;
  second_began_ns_ = now;
  bytes_ = 0;
  return false;
}

void Stream::see(const char* text, size_t count) {
  if (over_budget(count)) {
    skipping_ = true;
    return;
  }
  size_t i = 0;
  if (skipping_) {  // Go on with a whole line.
    while (i < count && text[i] != '\n') ++i;
    if (i == count) return;
    skipping_ = false;
    line_ = Line();
  }
  for (; i < count; ++i) {
    if (text[i] != '\n' && text[i] != '\r') {
      line_.add(table->pattern, static_cast<unsigned char>(text[i]));
      continue;
    }
    if (!line_.empty()) note(line_);
    line_ = Line();
  }
}

}  // namespace lowtide::probe
