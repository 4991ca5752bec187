// SPDX-License-Identifier: Apache-2.0
#include "watch/runtime.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include "base/file.h"
#include "watch/elf_symbols.h"
#include "watch/proc_text.h"

namespace lowtide::watch {
namespace {

constexpr std::size_t kMostRemembered = 1024;
constexpr std::size_t kMostMaps = std::size_t{16} << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "3.8.18", "3.14.0rc2", "3.12.1+": what PY_VERSION looks like, and nothing else.
bool is_version(std::string_view text) {
  if (text.size() < 5 || text.size() > 12 || text.substr(0, 2) != "3.") return false;
  std::size_t at = 2;
  for (int part = 0; part < 2; ++part) {
    std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == from || at - from > 2) return false;
    if (part == 0 && (at >= text.size() || text[at++] != '.')) return false;
  }
  return text.find_first_not_of("0123456789abrc+", at) == std::string_view::npos;
}

// "3.11" of "libpython3.11.so.1.0", "python3.11": the name promises what the file holds.
std::string minor_in(std::string_view name) {
  std::size_t at = name.find("python3.");
  if (at == std::string_view::npos) return "";
  std::size_t begin = at + 6, end = at + 8;
  while (end < name.size() && is_digit(name[end])) ++end;
  return end == at + 8 ? "" : std::string(name.substr(begin, end - begin));
}

// 0x030b02f0 is 3.11.2. Py_Version is there since 3.11.
std::string version_of_number(std::uint64_t number) {
  std::uint64_t major = number >> 24 & 0xff, minor = number >> 16 & 0xff,
                micro = number >> 8 & 0xff;
  std::uint64_t level = number >> 4 & 0xf, serial = number & 0xf;
  if (number >> 32 != 0 || major != 3) return "";
  std::string text =
      std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(micro);
  if (level == 0xa) text += "a" + std::to_string(serial);
  if (level == 0xb) text += "b" + std::to_string(serial);
  if (level == 0xc) text += "rc" + std::to_string(serial);
  return text;
}

std::string runtime_in(int fd, std::string_view name) {
  std::optional<ElfFile> file = ElfFile::open(fd);
  if (!file) return "";
  constexpr std::array<std::string_view, 5> kNames = {"Py_GetVersion", "_PyRuntime", "Py_Version",
                                                      "node_module_register",
                                                      "_ZN2v82V810GetVersionEv"};
  std::vector<ElfFile::Symbol> symbols = file->find(kNames);
  if (symbols[3].defined && symbols[4].defined) return "Node";
  if (!symbols[0].defined || !symbols[1].defined) return "";
  std::string version;
  std::uint64_t number = 0;
  if (symbols[2].defined &&
      file->read_at_address(symbols[2].address,
                            {reinterpret_cast<char*>(&number), sizeof number})) {
    version = version_of_number(number);
  }
  std::string minor = minor_in(name);
  auto fits = [&](std::string_view text) {
    return is_version(text) && (minor.empty() || text.substr(0, minor.size() + 1) == minor + ".");
  };
  if (version.empty()) version = file->find_text(fits);
  if (version.empty() && !minor.empty()) {
    // Linkers keep a text that ends another only once, and the prefix Python was built for often
    // ends so: "/opt/python/3.10.13".
    auto tail = [](std::string_view text) { return text.substr(text.find_last_of("/-") + 1); };
    std::string text = file->find_text([&](std::string_view t) { return fits(tail(t)); });
    version = tail(text);
  }
  if (version.empty()) version = minor;
  return version.empty() ? "CPython" : "CPython " + version;
}

}  // namespace

struct RuntimeFinder::State {
  Roots roots;
  // device, inode, size, change: a file replaced in place is another one.
  using Key = std::tuple<dev_t, ino_t, off_t, std::int64_t>;
  std::map<Key, std::string> remembered;

  std::string look(const std::string& path, std::string_view name);
};

std::string RuntimeFinder::State::look(const std::string& path, std::string_view name) {
  // O_NONBLOCK: a name in somebody's maps may be a pipe by now.
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd || fstat(fd.number(), &status) != 0) return "";
  Key key{status.st_dev, status.st_ino, status.st_size,
          std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
  if (auto found = remembered.find(key); found != remembered.end()) return found->second;
  if (remembered.size() >= kMostRemembered) remembered.clear();
  return remembered[key] = runtime_in(fd.number(), name);
}

RuntimeFinder::RuntimeFinder(Roots roots) : state_(std::make_unique<State>()) {
  state_->roots = std::move(roots);
}
RuntimeFinder::~RuntimeFinder() = default;
RuntimeFinder::RuntimeFinder(RuntimeFinder&&) noexcept = default;
RuntimeFinder& RuntimeFinder::operator=(RuntimeFinder&&) noexcept = default;

std::string RuntimeFinder::runtime_of(std::int32_t pid) {
  std::string folder = state_->roots.proc + "/" + std::to_string(pid);
  std::array<char, 4096> link;
  ssize_t n = readlink((folder + "/exe").c_str(), link.data(), link.size());
  std::string_view exe(link.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  std::string found = state_->look(folder + "/exe", exe.substr(exe.rfind('/') + 1));
  if (!found.empty()) return found;

  // Libraries by their names in maps, opened below the process' own root: it may be a container.
  Result<std::string> maps = read_file(folder + "/maps", kMostMaps);
  if (!maps) return "";
  std::string_view lines = *maps, last;
  while (!lines.empty()) {
    std::string_view line = next_line(lines);
    std::size_t slash = line.find('/');
    if (slash == std::string_view::npos) continue;
    std::string_view path = line.substr(slash);
    std::string_view name = path.substr(path.rfind('/') + 1);
    if (path == last || (name.substr(0, 9) != "libpython" && name.substr(0, 7) != "libnode"))
      continue;
    last = path;
    found = state_->look(folder + "/root" + std::string(path), name);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace lowtide::watch
