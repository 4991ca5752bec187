// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a program or library exports, read from its file and never mapped: it may be cut off,
// replaced while we read, or made to fool us. 64-bit ELF of this machine's byte order.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lowtide::watch {

class ElfFile {
 public:
  // `fd` stays the caller's. Nothing where it is no ELF file of our kind.
  static std::optional<ElfFile> open(int fd);

  // For each name, whether .dynsym defines it, and where.
  struct Symbol {
    bool defined = false;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
  };
  std::vector<Symbol> find(std::span<const std::string_view> names) const;

  // Bytes of the file that will be mapped at `address`; false where there are none.
  bool read_at_address(std::uint64_t address, std::span<char> bytes) const;

  // The first NUL-terminated text in .rodata that `accept` takes; "" for none. Reads 64 MiB at
  // most.
  template <typename Accept>
  std::string find_text(Accept accept) const;

 private:
  struct Section {
    std::uint32_t type = 0, link = 0;
    std::uint64_t flags = 0, offset = 0, size = 0;
  };
  struct Segment {
    std::uint64_t address = 0, offset = 0, size = 0;
  };
  bool read(std::uint64_t offset, void* bytes, std::size_t size) const;

  int fd_ = -1;
  std::uint64_t file_size_ = 0;
  std::vector<Section> sections_;
  std::vector<Segment> segments_;
};

template <typename Accept>
std::string ElfFile::find_text(Accept accept) const {
  constexpr std::uint32_t kProgramBits = 1;
  constexpr std::uint64_t kWritable = 1, kCode = 4;
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
  std::string piece(std::size_t{1} << 18, '\0');
  for (const Section& section : sections_) {
    if (section.type != kProgramBits || (section.flags & (kWritable | kCode)) != 0) continue;
    std::string carry;  // a text cut by the edge of a piece
    for (std::uint64_t at = 0; at < std::min(section.size, kMost);) {
      std::size_t n =
          static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), section.size - at));
      if (!read(section.offset + at, piece.data(), n)) break;
      at += n;
      std::string_view rest(piece.data(), n);
      for (std::size_t end; (end = rest.find('\0')) != std::string_view::npos;
           rest.remove_prefix(end + 1)) {
        if (carry.empty()) {
          if (accept(rest.substr(0, end))) return std::string(rest.substr(0, end));
          continue;
        }
        carry.append(rest.substr(0, end));
        if (accept(std::string_view(carry))) return carry;
        carry.clear();
      }
      if (rest.size() < 256) carry = rest;  // Longer ones are no text anybody looks for.
    }
  }
  return "";
}

}  // namespace lowtide::watch
