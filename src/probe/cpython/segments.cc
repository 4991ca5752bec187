// SPDX-License-Identifier: Apache-2.0
#include "probe/cpython/segments.h"

#include <elf.h>

namespace lowtide::probe::cpython {

int writable_segments(lowtide_copy& copy, const Range& range, Segment* segments, int room) {
  if (range.name[0] != '/' || !range.readable || range.end - range.begin < sizeof(Elf64_Ehdr))
    return 0;
  auto header = at<Elf64_Ehdr>(range.begin, 0);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr) ||
      (header.e_type != ET_DYN && header.e_type != ET_EXEC) || header.e_phnum > 64)
    return 0;
  Address headers = range.begin + header.e_phoff;
  if (!copy.readable(headers, header.e_phnum * sizeof(Elf64_Phdr))) return 0;
  Address base = 0;
  bool first = true;
  int count = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    auto part = at<Elf64_Phdr>(headers, i * static_cast<ptrdiff_t>(sizeof(Elf64_Phdr)));
    if (part.p_type != PT_LOAD) continue;
    if (first) base = range.begin - (part.p_vaddr & ~Address{4095});
    first = false;
    if (!(part.p_flags & PF_W) || count == room) continue;
    Address begin = (base + part.p_vaddr + 7) & ~Address{7};
    segments[count++] = {begin, base + part.p_vaddr + part.p_memsz};
  }
  return count;
}

}  // namespace lowtide::probe::cpython
