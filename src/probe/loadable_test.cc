// SPDX-License-Identifier: Apache-2.0
#include "wire/loadable.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

// A folder of its own for each test.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/lowtide-loadable-XXXXXX";
    path_ = mkdtemp(name);
    write("probe.so", "any readable file");
  }
  ~Folder() {
    for (const auto& name : names_) unlink((path_ + "/" + name).c_str());
    rmdir(path_.c_str());
  }
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0755) {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    chmod(path.c_str(), mode);
    names_.push_back(name);
    return path;
  }
  std::string probe() const { return path_ + "/probe.so"; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<std::string> names_;
};

template <typename T>
void put(std::string& bytes, size_t at, const T& value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  memcpy(bytes.data() + at, &value, sizeof value);
}

struct Elf {
  const char* interpreter = "/lib64/ld-linux-x86-64.so.2";
  const char* needed = "libc.so.6";
  const char* defines = nullptr;
  uint16_t machine = LOWTIDE_MACHINE;
  uint8_t elf_class = ELFCLASS64;
  bool dynamic = true;
};

// The least an ELF program can have: loaded at address 0, everything in one segment.
std::string make_elf(const Elf& elf) {
  constexpr size_t kInterpreter = 0x200, kDynamic = 0x300, kNames = 0x400, kSymbols = 0x500,
                   kHash = 0x600, kEnd = 0x700;
  std::string bytes(kEnd, '\0');
  Elf64_Ehdr header{};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = elf.elf_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = elf.machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<uint16_t>(1 + (elf.interpreter != nullptr) + elf.dynamic);
  put(bytes, 0, header);
  size_t at = sizeof header;
  const auto segment = [&](uint32_t type, size_t offset, size_t size) {
    Elf64_Phdr entry{};
    entry.p_type = type;
    entry.p_offset = entry.p_vaddr = offset;
    entry.p_filesz = entry.p_memsz = size;
    put(bytes, at, entry);
    at += sizeof entry;
  };
  segment(PT_LOAD, 0, kEnd);
  if (elf.interpreter != nullptr) {
    segment(PT_INTERP, kInterpreter, strlen(elf.interpreter) + 1);
    memcpy(bytes.data() + kInterpreter, elf.interpreter, strlen(elf.interpreter));
  }
  if (!elf.dynamic) return bytes;
  const std::vector<std::pair<Elf64_Sxword, uint64_t>> entries = {{DT_NEEDED, 1},
                                                                  {DT_STRTAB, kNames},
                                                                  {DT_SYMTAB, kSymbols},
                                                                  {DT_GNU_HASH, kHash},
                                                                  {DT_NULL, 0}};
  segment(PT_DYNAMIC, kDynamic, entries.size() * sizeof(Elf64_Dyn));
  for (size_t i = 0; i < entries.size(); ++i) {
    Elf64_Dyn entry{};
    entry.d_tag = entries[i].first;
    entry.d_un.d_val = entries[i].second;
    put(bytes, kDynamic + i * sizeof entry, entry);
  }
  memcpy(bytes.data() + kNames + 1, elf.needed, strlen(elf.needed));
  if (elf.defines != nullptr) {
    memcpy(bytes.data() + kNames + 128, elf.defines, strlen(elf.defines));
    Elf64_Sym symbol{};
    symbol.st_name = 128;
    symbol.st_shndx = 1;
    put(bytes, kSymbols + sizeof symbol, symbol);
    uint32_t hash = 5381;
    for (const char* c = elf.defines; *c != 0; ++c) hash = hash * 33 + static_cast<uint8_t>(*c);
    const uint32_t table[] = {1, 1, 1, 0, ~0u, ~0u, 1, hash | 1};  // One bucket, one symbol.
    memcpy(bytes.data() + kHash, table, sizeof table);
  }
  return bytes;
}

lowtide_loadable check(const Folder& folder, const std::string& program,
                       const char* search = nullptr) {
  return lowtide_can_load(program.c_str(), search, folder.probe().c_str());
}

TEST(Loadable, ADynamicProgramOfThisMachineCanLoadTheProbe) {
  Folder folder;
  EXPECT_EQ(check(folder, folder.write("a", make_elf({}))), LOWTIDE_LOADABLE);
  EXPECT_EQ(check(folder, "/bin/sh"), LOWTIDE_LOADABLE);
}

TEST(Loadable, OtherMachinesAreRefused) {
  Folder folder;
  Elf arm;
  arm.machine = LOWTIDE_MACHINE == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
  EXPECT_EQ(check(folder, folder.write("a", make_elf(arm))), LOWTIDE_LOADABLE_OTHER_MACHINE);
  Elf narrow;
  narrow.elf_class = ELFCLASS32;
  EXPECT_EQ(check(folder, folder.write("b", make_elf(narrow))), LOWTIDE_LOADABLE_OTHER_MACHINE);
}

TEST(Loadable, StaticProgramsAreRefused) {
  Folder folder;
  Elf elf;
  elf.interpreter = nullptr;
  EXPECT_EQ(check(folder, folder.write("pie", make_elf(elf))), LOWTIDE_LOADABLE_STATIC);
  elf.dynamic = false;
  EXPECT_EQ(check(folder, folder.write("plain", make_elf(elf))), LOWTIDE_LOADABLE_STATIC);
}

TEST(Loadable, MuslIsRefused) {
  Folder folder;
  Elf elf;
  elf.interpreter = "/lib/ld-musl-x86_64.so.1";
  EXPECT_EQ(check(folder, folder.write("a", make_elf(elf))), LOWTIDE_LOADABLE_OTHER_LIBC);
}

TEST(Loadable, SanitizersAreRefusedLinkedAndBuiltIn) {
  Folder folder;
  Elf linked;
  linked.needed = "libasan.so.8";
  EXPECT_EQ(check(folder, folder.write("a", make_elf(linked))), LOWTIDE_LOADABLE_SANITIZER);
  Elf built_in;
  built_in.defines = "__tsan_init";
  EXPECT_EQ(check(folder, folder.write("b", make_elf(built_in))), LOWTIDE_LOADABLE_SANITIZER);
  Elf other;
  other.defines = "__tsan_inix";
  EXPECT_EQ(check(folder, folder.write("c", make_elf(other))), LOWTIDE_LOADABLE);
}

TEST(Loadable, SanitizersAreFoundInALdPreload) {
  EXPECT_TRUE(lowtide_preload_names_sanitizer("/usr/lib/libasan.so.8"));
  EXPECT_TRUE(lowtide_preload_names_sanitizer("libjemalloc.so:libtsan.so.2 x.so"));
  EXPECT_FALSE(lowtide_preload_names_sanitizer("libjemalloc.so.2:/opt/libasan.so/x.so"));
  EXPECT_FALSE(lowtide_preload_names_sanitizer(""));
}

TEST(Loadable, OtherPrivilegesAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a file of another owner";
  Folder folder;
  const auto path = folder.write("a", make_elf({}));
  ASSERT_EQ(chown(path.c_str(), 1234, 1234), 0);
  ASSERT_EQ(chmod(path.c_str(), 04755), 0);
  EXPECT_EQ(check(folder, path), LOWTIDE_LOADABLE_PRIVILEGED);
  ASSERT_EQ(chmod(path.c_str(), 02755), 0);
  EXPECT_EQ(check(folder, path), LOWTIDE_LOADABLE_PRIVILEGED);
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  EXPECT_EQ(check(folder, path), LOWTIDE_LOADABLE);
}

TEST(Loadable, ScriptsAreJudgedByTheirInterpreter) {
  Folder folder;
  const auto program = folder.write("program", make_elf({}));
  Elf fixed;
  fixed.interpreter = nullptr;
  const auto other = folder.write("static", make_elf(fixed));
  EXPECT_EQ(check(folder, folder.write("a", "#!" + program + "\n")), LOWTIDE_LOADABLE);
  EXPECT_EQ(check(folder, folder.write("b", "#! " + program + " -u\nx")), LOWTIDE_LOADABLE);
  EXPECT_EQ(check(folder, folder.write("c", "#!" + other + " " + program + "\n")),
            LOWTIDE_LOADABLE_STATIC);
  EXPECT_EQ(check(folder, folder.write("d", "#!" + folder.path() + "/c\n")),
            LOWTIDE_LOADABLE_STATIC);
  EXPECT_EQ(check(folder, folder.write("loop", "#!" + folder.path() + "/loop\n")),
            LOWTIDE_LOADABLE_TOO_DEEP);
}

TEST(Loadable, ScriptsOfEnvAreJudgedByWhatEnvFinds) {
  Folder folder;
  const auto env = folder.write("env", make_elf({}));
  folder.write("good", make_elf({}));
  Elf fixed;
  fixed.interpreter = nullptr;
  folder.write("fixed", make_elf(fixed));
  const char* search = folder.path().c_str();
  EXPECT_EQ(check(folder, folder.write("a", "#!" + env + " good\n"), search), LOWTIDE_LOADABLE);
  EXPECT_EQ(check(folder, folder.write("b", "#!" + env + " fixed\n"), search),
            LOWTIDE_LOADABLE_STATIC);
  EXPECT_EQ(check(folder, folder.write("c", "#!" + env + " -S A=1 fixed -u\n"), search),
            LOWTIDE_LOADABLE_STATIC);
}

TEST(Loadable, WhatIsNoProgramIsRefused) {
  Folder folder;
  EXPECT_EQ(check(folder, folder.write("a", "")), LOWTIDE_LOADABLE_NOT_A_PROGRAM);
  EXPECT_EQ(check(folder, folder.write("b", "echo hello\n")), LOWTIDE_LOADABLE_NOT_A_PROGRAM);
  EXPECT_EQ(check(folder, folder.write("c", "#!\n")), LOWTIDE_LOADABLE_NOT_A_PROGRAM);
  EXPECT_EQ(check(folder, folder.path()), LOWTIDE_LOADABLE_UNREADABLE);
  EXPECT_EQ(check(folder, folder.path() + "/none"), LOWTIDE_LOADABLE_UNREADABLE);
}

TEST(Loadable, AProbeThatCannotBeReadIsNotPreloaded) {
  Folder folder;
  EXPECT_EQ(lowtide_can_load("/bin/sh", nullptr, (folder.path() + "/none").c_str()),
            LOWTIDE_LOADABLE_NO_PROBE);
}

TEST(Loadable, APathIsSearchedAsExecvpDoes) {
  Folder folder;
  folder.write("tool", make_elf({}));
  folder.write("plain", "text", 0644);
  char found[4096];
  const std::string search = "/nowhere:" + folder.path() + ":/bin";
  EXPECT_TRUE(lowtide_search("tool", search.c_str(), found, sizeof found));
  EXPECT_EQ(found, folder.path() + "/tool");
  EXPECT_FALSE(lowtide_search("plain", search.c_str(), found, sizeof found));
  EXPECT_TRUE(lowtide_search("./x", search.c_str(), found, sizeof found));
  EXPECT_STREQ(found, "./x");
}

TEST(Loadable, DamagedProgramsAreJudgedWithoutHarm) {
  Folder folder;
  Elf elf;
  elf.defines = "__asan_init";
  const std::string whole = make_elf(elf);
  const int file = memfd_create("damaged", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  std::mt19937 random(7);
  for (int turn = 0; turn < 20000; ++turn) {
    std::string bytes = whole;
    for (int i = 0; i < 8; ++i) {
      // Mostly where the structure is: headers, dynamic entries, the hash table.
      const size_t starts[] = {0, 0x40, 0x300, 0x500, 0x600};
      bytes[starts[random() % 5] + random() % 0x80] = static_cast<char>(random());
    }
    if (turn % 5 == 0) bytes.resize(random() % bytes.size());
    ASSERT_EQ(ftruncate(file, 0), 0);
    ASSERT_EQ(pwrite(file, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    const auto why = lowtide_can_load_at(file, "", AT_EMPTY_PATH, nullptr, folder.probe().c_str());
    EXPECT_STRNE(lowtide_loadable_sentence(why), "for a reason without a name");
  }
  close(file);
}

TEST(Loadable, EveryReasonHasASentence) {
  for (int why = 0; why <= LOWTIDE_LOADABLE_TOO_DEEP; ++why)
    EXPECT_STRNE(lowtide_loadable_sentence(static_cast<lowtide_loadable>(why)),
                 "for a reason without a name");
}

}  // namespace
