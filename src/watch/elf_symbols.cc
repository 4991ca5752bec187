// SPDX-License-Identifier: Apache-2.0
#include "watch/elf_symbols.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace lowtide::watch {
namespace {

constexpr std::uint16_t kMostHeaders = 4096;
constexpr std::uint64_t kMostTable = std::uint64_t{128} << 20;  // of symbols, and of their names

}  // namespace

bool ElfFile::read(std::uint64_t offset, void* bytes, std::size_t size) const {
  if (offset > file_size_ || size > file_size_ - offset) return false;
  auto* to = static_cast<char*>(bytes);
  while (size > 0) {
    ssize_t n = pread(fd_, to, size, static_cast<off_t>(offset));
    if (n <= 0) return false;
    to += n;
    offset += static_cast<std::uint64_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<ElfFile> ElfFile::open(int fd) {
  ElfFile file;
  file.fd_ = fd;
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return {};
  file.file_size_ = static_cast<std::uint64_t>(status.st_size);
  Elf64_Ehdr header;
  constexpr unsigned char kOrder =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != kOrder) {
    return {};
  }
  if (header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phnum <= kMostHeaders) {
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    if (file.read(header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) {
      for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type != PT_LOAD) continue;
        file.segments_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz});
      }
    }
  }
  if (header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shnum <= kMostHeaders) {
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    if (file.read(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) {
      for (const Elf64_Shdr& section : sections) {
        file.sections_.push_back({section.sh_type, section.sh_link, section.sh_flags,
                                  section.sh_offset, section.sh_size});
      }
    }
  }
  return file;
}

std::vector<ElfFile::Symbol> ElfFile::find(std::span<const std::string_view> names) const {
  std::vector<Symbol> found(names.size());
  for (const Section& section : sections_) {
    if (section.type != SHT_DYNSYM || section.link >= sections_.size()) continue;
    const Section& texts = sections_[section.link];
    if (section.size > kMostTable || texts.size > kMostTable || texts.size > file_size_) continue;
    std::string text(static_cast<std::size_t>(texts.size), '\0');
    if (!read(texts.offset, text.data(), text.size())) continue;
    std::vector<Elf64_Sym> piece(4096);
    std::uint64_t left = section.size / sizeof(Elf64_Sym);
    for (std::uint64_t at = section.offset; left > 0;) {
      std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size()));
      if (!read(at, piece.data(), n * sizeof(Elf64_Sym))) break;
      at += n * sizeof(Elf64_Sym);
      left -= n;
      for (std::size_t i = 0; i < n; ++i) {
        const Elf64_Sym& symbol = piece[i];
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= text.size()) continue;
        const char* name = text.data() + symbol.st_name;  // std::string ends it with a NUL.
        for (std::size_t k = 0; k < names.size(); ++k) {
          if (names[k] == name) found[k] = {true, symbol.st_value, symbol.st_size};
        }
      }
    }
  }
  return found;
}

bool ElfFile::read_at_address(std::uint64_t address, std::span<char> bytes) const {
  for (const Segment& segment : segments_) {
    if (address < segment.address || address - segment.address >= segment.size) continue;
    std::uint64_t into = address - segment.address;
    if (bytes.size() > segment.size - into) return false;
    return segment.offset <= ~std::uint64_t{0} - into &&
           read(segment.offset + into, bytes.data(), bytes.size());
  }
  return false;
}

}  // namespace lowtide::watch
