// SPDX-License-Identifier: Apache-2.0
// The allocation functions as the target calls them: forward, then look whether the recorder wants
// something. In the copy of a target they give out the copy's own memory instead, since any lock
// of the real allocator may be held by a thread that does not exist there.

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "probe/attend.h"
#include "probe/copy_memory.h"
#include "probe/export.h"
#include "probe/next.h"

using namespace lowtide::probe;

namespace {

template <typename Call>
__attribute__((always_inline)) inline auto forward(Call call) {
  const Next& to = next();
  in_allocator = true;
  asm volatile("" ::: "memory");  // The flag stands before the call and falls after it.
  auto result = call(to);
  asm volatile("" ::: "memory");
  in_allocator = false;
  attend();
  return result;
}

}  // namespace

LOWTIDE_EXPORT void* malloc(size_t size) {
  if (__builtin_expect(in_copy, 0)) return copy_take(size, 16);
  return forward([=](const Next& to) { return to.malloc(size); });
}

LOWTIDE_EXPORT void* calloc(size_t count, size_t size) {
  if (__builtin_expect(in_copy, 0)) {
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? nullptr : copy_take(bytes, 16);
  }
  return forward([=](const Next& to) { return to.calloc(count, size); });
}

LOWTIDE_EXPORT void* realloc(void* old, size_t size) {
  if (__builtin_expect(in_copy, 0)) return copy_resize(old, size);
  return forward([=](const Next& to) { return to.realloc(old, size); });
}

LOWTIDE_EXPORT void* reallocarray(void* old, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(old, bytes);
}

LOWTIDE_EXPORT void free(void* old) {
  if (__builtin_expect(in_copy, 0)) return;
  forward([=](const Next& to) {
    to.free(old);
    return 0;
  });
}

LOWTIDE_EXPORT void* memalign(size_t alignment, size_t size) {
  if (__builtin_expect(in_copy, 0)) return copy_take(size, alignment);
  return forward([=](const Next& to) { return to.memalign(alignment, size); });
}

LOWTIDE_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  if (__builtin_expect(in_copy, 0)) return copy_take(size, alignment);
  return forward([=](const Next& to) { return to.aligned_alloc(alignment, size); });
}

LOWTIDE_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) {
  if (__builtin_expect(in_copy, 0)) {
    void* taken = copy_take(size, alignment);
    if (taken == nullptr) return ENOMEM;
    *result = taken;
    return 0;
  }
  return forward([=](const Next& to) { return to.posix_memalign(result, alignment, size); });
}

// Memory straight from the kernel: pymalloc's arenas come this way, and programs that otherwise
// never call malloc are heard through it.

LOWTIDE_EXPORT void* mmap(void* address, size_t length, int protection, int flags, int file,
                          off_t offset) {
  void* result =
      reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, file, offset));
  if (!in_copy) attend();
  return result;
}

LOWTIDE_EXPORT void* mmap64(void* address, size_t length, int protection, int flags, int file,
                            off_t offset) __attribute__((alias("mmap")));

LOWTIDE_EXPORT int munmap(void* address, size_t length) {
  const auto result = static_cast<int>(syscall(SYS_munmap, address, length));
  if (!in_copy) attend();
  return result;
}
