// SPDX-License-Identifier: Apache-2.0
#include "probe/cpython/pagemap.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lowtide::probe::cpython {

namespace {

inline constexpr Address kPage = 4096;

}  // namespace

// Left open: the copy ends soon, and its files with it.
uint64_t Pagemap::entry(Address page) {
  if (!opened_) {
    file_ = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    opened_ = true;
  }
  if (file_ < 0) return kPresent;
  Address index = page / kPage;
  if (index < first_ || index >= first_ + known_) {
    first_ = index;
    ssize_t got = syscall(SYS_pread64, file_, entries_, sizeof entries_,
                          static_cast<off_t>(index * sizeof entries_[0]));
    known_ = got > 0 ? static_cast<size_t>(got) / sizeof entries_[0] : 0;
    if (!known_) return kPresent;
  }
  return entries_[index - first_];
}

uint64_t Pagemap::touched(Address begin, uint64_t bytes) {
  uint64_t found = 0;
  Address end = begin + bytes;
  for (Address page = begin & ~(kPage - 1); page < end; page += kPage) {
    if (!(entry(page) & (kPresent | kSwapped))) continue;
    Address from = page < begin ? begin : page, to = page + kPage < end ? page + kPage : end;
    found += to - from;
  }
  return found;
}

}  // namespace lowtide::probe::cpython
