// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/copy.h"

namespace lowtide::probe {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kPiece = size_t{1} << 20;

size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) & ~(kPage - 1); }

}  // namespace

void* Arena::map(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  bytes = whole_pages(bytes);
  if (limit != 0 && (bytes > limit || used_ > limit - bytes)) return nullptr;
  const long pages = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == -1) return nullptr;
  used_ += bytes;
  return reinterpret_cast<void*>(pages);
}

void Arena::release(void* pages, size_t bytes) {
  bytes = whole_pages(bytes);
  if (syscall(SYS_munmap, pages, bytes) == 0) used_ -= bytes;
}

void* Arena::take(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  bytes = (bytes + 15) & ~size_t{15};
  if (bytes > kPiece / 4) return map(bytes);
  if (static_cast<size_t>(end_ - next_) < bytes) {
    auto* piece = static_cast<char*>(map(kPiece));
    if (piece == nullptr) return nullptr;
    next_ = piece;
    end_ = piece + kPiece;
  }
  void* taken = next_;
  next_ += bytes;
  return taken;
}

}  // namespace lowtide::probe
