// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/file.h"
#include "watch/account.h"
#include "watch/proc_text.h"

namespace lowtide::watch {
namespace {

constexpr std::int64_t kMostMappings = 1 << 18;  // the kernel's usual cap is 65530
constexpr std::uint64_t kMostGuard = 1 << 20;
constexpr std::uint64_t kLeastStack = 16 << 10;
constexpr std::uint64_t kMostStack = 64 << 20;

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

bool parse_hex(std::string_view word, std::uint64_t& value) {
  if (word.empty() || word.size() > 16) return false;
  value = 0;
  for (char c : word) {
    std::uint64_t digit;
    if (c >= '0' && c <= '9') {
      digit = static_cast<std::uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<std::uint64_t>(c - 'a' + 10);
    } else {
      return false;
    }
    value = value << 4 | digit;
  }
  return true;
}

enum class Class { Heap, Stack, Anonymous, File, Shared, Other };

// By its name alone. A mapping of a file may still hold anonymous pages: those it has written.
Class class_of(std::string_view name) {
  if (name.empty()) return Class::Anonymous;
  if (name == "[heap]") return Class::Heap;
  if (starts(name, "[stack")) return Class::Stack;
  if (starts(name, "[anon")) {  // prctl(PR_SET_VMA): "[anon:stack…]", "[anon: glibc: pthread …]"
    return name.find("stack") != std::string_view::npos ? Class::Stack : Class::Anonymous;
  }
  if (starts(name, "/memfd:") || starts(name, "/dev/shm/") || starts(name, "/SYSV") ||
      starts(name, "/dev/zero") || starts(name, "/anon_hugepage") || starts(name, "[anon_shmem")) {
    return Class::Shared;
  }
  if (name.front() == '/') return starts(name, "/dev/") ? Class::Other : Class::File;
  return Class::Other;
}

// One mapping as its lines come in.
struct Mapping {
  std::uint64_t begin = 0, end = 0;
  bool readable = false, writable = false, executable = false, private_ = false;
  Class is = Class::Other;
  bool unnamed = false;
  std::int64_t rss = 0, pss = 0, anonymous = 0, swap = 0, huge = 0;
  bool no_huge_pages = false;  // MAP_STACK says so since Linux 6.7

  bool guard() const {
    return unnamed && !readable && !writable && !executable && end - begin <= kMostGuard;
  }
};

// Adds mappings up, one line at a time.
class Adder {
 public:
  Adder(Mappings& sum, std::int64_t threads) : sum_(sum), threads_(threads) {}

  // False once there are too many.
  bool line(std::string_view line) {
    std::string_view rest = line;
    std::string_view first = next_word(rest);
    std::size_t dash = first.find('-');
    Mapping next;
    if (dash != std::string_view::npos && parse_hex(first.substr(0, dash), next.begin) &&
        parse_hex(first.substr(dash + 1), next.end) && next.end >= next.begin) {
      close();
      if (++count_ > kMostMappings) return false;
      open(next, rest);
      return true;
    }
    if (!open_) return true;
    if (first == "VmFlags:") {
      while (!rest.empty()) now_.no_huge_pages |= next_word(rest) == "nh";
      return true;
    }
    std::int64_t kilobytes = parse_number(next_word(rest));
    if (kilobytes < 0 || kilobytes > (std::int64_t{1} << 42)) return true;
    std::int64_t bytes = kilobytes * 1024;
    if (first == "Rss:") now_.rss = bytes;
    if (first == "Pss:") now_.pss = bytes;
    if (first == "Anonymous:") now_.anonymous = bytes;
    if (first == "Swap:") now_.swap = bytes;
    if (first == "AnonHugePages:") now_.huge = bytes;
    return true;
  }

  void close() {
    if (!open_) return;
    open_ = false;
    add();
    before_ = now_;
  }

  std::int64_t count() const { return count_; }

 private:
  void open(const Mapping& next, std::string_view rest) {
    now_ = next;
    open_ = true;
    std::string_view permissions = next_word(rest);
    if (permissions.size() >= 4) {
      now_.readable = permissions[0] == 'r';
      now_.writable = permissions[1] == 'w';
      now_.executable = permissions[2] == 'x';
      now_.private_ = permissions[3] == 'p';
    }
    for (int i = 0; i < 3; ++i) next_word(rest);  // offset, device, inode
    std::size_t name = rest.find_first_not_of(' ');
    rest = name == std::string_view::npos ? std::string_view{} : rest.substr(name);
    now_.unnamed = rest.empty();
    now_.is = class_of(rest);
  }

  // The shape of a thread's stack: readable and writable, without a name, just above a guard that
  // may not be touched. Since Linux 6.7 MAP_STACK also refuses huge pages, which settles it. Before
  // that the size must be a usual one, and the process must have threads; an arena of an allocator
  // that guards its memory can be taken for a stack then.
  bool thread_stack() const {
    bool shape = now_.unnamed && now_.readable && now_.writable && !now_.executable &&
                 now_.private_ && before_.guard() && before_.end == now_.begin;
    std::uint64_t size = now_.end - now_.begin;
    return shape && size >= kLeastStack &&
           (now_.no_huge_pages || (threads_ > 1 && size <= kMostStack));
  }

  void add() {
    sum_.swap += now_.swap;
    sum_.huge += now_.huge;
    Resident whole{now_.rss, now_.pss};
    switch (now_.is) {
      case Class::Heap:
        return add_to(sum_.heap, whole);
      case Class::Stack:
        return add_to(sum_.stacks, whole);
      case Class::Anonymous:
        if (thread_stack()) {
          ++sum_.thread_stacks;
          return add_to(sum_.stacks, whole);
        }
        return add_to(sum_.anonymous, whole);
      case Class::Other:
        return add_to(sum_.other, whole);
      case Class::File:
      case Class::Shared:
        break;
    }
    // What was written to a private mapping is memory of its own, hardly ever shared with others.
    Resident written;
    written.rss = std::min(now_.anonymous, now_.rss);
    written.pss = std::min(written.rss, now_.pss);
    add_to(sum_.anonymous, written);
    add_to(now_.is == Class::File ? sum_.files : sum_.shared,
           {whole.rss - written.rss, whole.pss - written.pss});
  }

  static void add_to(Resident& sum, Resident part) {
    sum.rss += part.rss;
    sum.pss += part.pss;
  }

  Mappings& sum_;
  std::int64_t threads_;
  std::int64_t count_ = 0;
  bool open_ = false;
  Mapping now_;
  Mapping before_;
};

}  // namespace

Resident Mappings::total() const {
  Resident sum;
  for (const Resident* part : {&heap, &stacks, &anonymous, &files, &shared, &other}) {
    sum.rss += part->rss;
    sum.pss += part->pss;
  }
  return sum;
}

Result<Mappings> read_mappings(const Roots& roots, std::int32_t pid) {
  std::string folder = roots.proc + "/" + std::to_string(pid);
  std::string path = folder + "/smaps";
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return io_error("cannot read", path, errno);

  Mappings sum;
  std::array<char, 16384> buffer;
  std::string_view status = read_once(AT_FDCWD, (folder + "/status").c_str(), buffer);
  sum.page_tables = field_bytes(status, "VmPTE");
  Adder adder(sum, field_number(status, "Threads"));

  std::size_t have = 0;
  bool skipping = false;  // the rest of a line that does not fit
  for (;;) {
    ssize_t n = read(fd.number(), buffer.data() + have, buffer.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      if (adder.count() == 0) return io_error("cannot read", path, errno);
      sum.whole = false;
    }
    if (n <= 0) break;
    have += static_cast<std::size_t>(n);
    std::size_t at = 0;
    while (at < have) {
      const void* end = std::memchr(buffer.data() + at, '\n', have - at);
      if (!end) break;
      auto length = static_cast<std::size_t>(static_cast<const char*>(end) - buffer.data()) - at;
      if (!skipping && !adder.line({buffer.data() + at, length})) {
        sum.whole = false;
        return sum;
      }
      skipping = false;
      at += length + 1;
    }
    if (at == 0 && have == buffer.size()) {
      // The start of a long line is what counts: addresses, permissions, the start of the name.
      if (!skipping && !adder.line({buffer.data(), have})) break;
      skipping = true;
      at = have;
    }
    have -= at;
    std::memmove(buffer.data(), buffer.data() + at, have);
  }
  adder.close();
  if (adder.count() == 0) {  // A zombie's smaps is empty.
    return Error{Code::NotFound, "cannot read " + path + ": the process has ended"};
  }
  if (access((folder + "/smaps").c_str(), F_OK) != 0) sum.whole = false;
  return sum;
}

}  // namespace lowtide::watch
