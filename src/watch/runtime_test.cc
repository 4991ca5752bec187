// SPDX-License-Identifier: Apache-2.0
#include "watch/runtime.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"
#include "watch/testing.h"

namespace lowtide::watch {
namespace {

using testing::Child;
using testing::Folder;

// A library that exports `names`, with a number behind the last of them and texts to be found.
std::string library(const std::vector<std::string>& names, std::uint64_t number,
                    const std::string& texts) {
  std::string strings(1, '\0');
  std::vector<Elf64_Sym> symbols(1);
  for (const std::string& name : names) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings.size());
    symbol.st_shndx = 3;
    strings += name + '\0';
    symbols.push_back(symbol);
  }
  std::string data(reinterpret_cast<const char*>(&number), sizeof number);
  data += texts;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_phnum = 1;
  header.e_shnum = 4;
  header.e_phoff = sizeof header;
  header.e_shoff = header.e_phoff + sizeof(Elf64_Phdr);
  std::uint64_t at = header.e_shoff + 4 * sizeof(Elf64_Shdr);
  Elf64_Shdr sections[4] = {};
  sections[1].sh_type = SHT_DYNSYM;
  sections[1].sh_link = 2;
  sections[1].sh_offset = at;
  sections[1].sh_size = symbols.size() * sizeof(Elf64_Sym);
  at += sections[1].sh_size;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = at;
  sections[2].sh_size = strings.size();
  at += strings.size();
  sections[3].sh_type = SHT_PROGBITS;
  sections[3].sh_flags = SHF_ALLOC;
  sections[3].sh_offset = at;
  sections[3].sh_size = data.size();
  constexpr std::uint64_t kAddress = 0x40000;
  for (Elf64_Sym& symbol : symbols) symbol.st_value = kAddress;
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_offset = at;
  segment.p_vaddr = kAddress;
  segment.p_filesz = data.size();
  auto bytes = [](const auto* from, std::size_t count) {
    return std::string(reinterpret_cast<const char*>(from), count * sizeof *from);
  };
  return bytes(&header, 1) + bytes(&segment, 1) + bytes(sections, 4) +
         bytes(symbols.data(), symbols.size()) + strings + data;
}

const std::vector<std::string> kPython = {"Py_GetVersion", "_PyRuntime"};
const std::vector<std::string> kNewPython = {"Py_GetVersion", "_PyRuntime", "Py_Version"};

TEST(RuntimeFinder, TakesTheVersionFromThePythonThatExportsIt) {
  Folder proc;
  RuntimeFinder finder({proc.path(), ""});
  proc.write("7/exe", library(kNewPython, 0x030b02f0, ""));
  EXPECT_EQ(finder.runtime_of(7), "CPython 3.11.2");
  proc.write("8/exe", library(kNewPython, 0x030e00c2, ""));
  EXPECT_EQ(finder.runtime_of(8), "CPython 3.14.0rc2");
}

TEST(RuntimeFinder, FindsALibraryByItsNameInMaps) {
  Folder proc;
  using namespace std::string_literals;
  proc.write("7/exe", library({"main"}, 0, ""));
  proc.write("7/maps",
             "1000-2000 r-xp 00000000 00:00 0 /usr/bin/app\n"
             "2000-3000 r-xp 00000000 00:00 0 /opt/my python/libpython3.8.so.1.0\n");
  proc.write("7/root/opt/my python/libpython3.8.so.1.0", library(kPython, 1,
                                                                 "\0"
                                                                 "3.7.1\0"
                                                                 "x3.8.18\0"
                                                                 "3.8.18\0"s));
  RuntimeFinder finder({proc.path(), ""});
  EXPECT_EQ(finder.runtime_of(7), "CPython 3.8.18");
}

TEST(RuntimeFinder, FindsAVersionThatOnlyEndsAnotherText) {
  Folder proc;
  using namespace std::string_literals;
  proc.write("7/maps", "2000-3000 r-xp 00000000 00:00 0 /libpython3.10.so\n");
  proc.write("7/root/libpython3.10.so", library(kPython, 1, "\0/opt/3.10.13\0"s));
  RuntimeFinder finder({proc.path(), ""});
  EXPECT_EQ(finder.runtime_of(7), "CPython 3.10.13");
}

TEST(RuntimeFinder, KnowsNodeByBothOfItsNames) {
  Folder proc;
  proc.write("7/exe", library({"node_module_register", "_ZN2v82V810GetVersionEv"}, 0, ""));
  proc.write("8/exe", library({"_ZN2v82V810GetVersionEv"}, 0, ""));
  RuntimeFinder finder({proc.path(), ""});
  EXPECT_EQ(finder.runtime_of(7), "Node");
  EXPECT_EQ(finder.runtime_of(8), "");
}

TEST(RuntimeFinder, AProgramThatOnlyUsesPythonIsNone) {
  Folder proc;
  RuntimeFinder finder({proc.path(), ""});
  EXPECT_EQ(finder.runtime_of(7), "");
  proc.write("7/exe", "#!/bin/sh\n");
  EXPECT_EQ(finder.runtime_of(7), "");
  proc.write("8/exe", library({"Py_GetVersionX", "_PyRuntime"}, 0, ""));
  EXPECT_EQ(finder.runtime_of(8), "");
}

TEST(RuntimeFinder, BrokenFilesAreReadInsideTheirBounds) {
  Folder proc;
  std::string whole = library(kNewPython, 0x030b02f0,
                              std::string("\0"
                                          "3.11.2\0",
                                          8));
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string broken = whole;
    for (int i = 0; i < 8; ++i) {
      // Mostly among the headers, where the offsets are.
      broken[random() % std::min<std::size_t>(broken.size(), 420)] = static_cast<char>(random());
    }
    broken.resize(round % 2 ? broken.size() : random() % broken.size());
    std::memcpy(broken.data(), whole.data(), std::min<std::size_t>(broken.size(), 6));
    proc.write("7/exe", broken);
    RuntimeFinder finder({proc.path(), ""});
    finder.runtime_of(7);
  }
}

TEST(RuntimeFinderOnLinux, OurselvesAreNoRuntime) {
  RuntimeFinder finder{Roots{}};
  EXPECT_EQ(finder.runtime_of(getpid()), "");
  EXPECT_EQ(finder.runtime_of(0), "");
}

TEST(RuntimeFinderOnLinux, ARealPythonSaysItsVersion) {
  Folder folder;
  std::string out = folder / "version";

  // It prints its version and stays, so both sides of the comparison are the same program.
  std::string code = "import os,sys,time;open('" + out +
                     "','w').write('CPython %d.%d.%d' % sys.version_info[:3]);"
                     "time.sleep(1000)";
  Child child([&] {
    execlp("python3", "python3", "-c", code.c_str(), nullptr);
    _exit(127);
  });
  RuntimeFinder finder{Roots{}};
  for (;;) {
    Result<std::string> text = read_file(out);
    if (text && text->size() >= std::strlen("CPython 3.x.y")) {
      EXPECT_EQ(finder.runtime_of(child.pid()), *text);
      return;
    }
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOHANG | WNOWAIT);
    if (info.si_pid != 0) GTEST_SKIP() << "needs python3 on the PATH";
    sched_yield();
  }
}

}  // namespace
}  // namespace lowtide::watch
