// SPDX-License-Identifier: Apache-2.0
#include "probe/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

namespace lowtide::probe {
namespace {

uint32_t gnu_hash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != 0; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

struct Tables {
  const ElfW(Sym) * symbols;
  const char* names;
  const ElfW(Half) * versions;
  const uint32_t* hash;
};

// The loader has turned these addresses into absolute ones, except in the vdso.
template <typename T>
const T* at(const Module& module, ElfW(Addr) value) {
  return reinterpret_cast<const T*>(value < module.base ? module.base + value : value);
}

bool read_tables(const Module& module, Tables& tables) {
  tables = {};
  if (module.dynamic == nullptr) return false;
  for (auto* entry = static_cast<const ElfW(Dyn)*>(module.dynamic); entry->d_tag != DT_NULL;
       ++entry) {
    const auto value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) tables.symbols = at<ElfW(Sym)>(module, value);
    if (entry->d_tag == DT_STRTAB) tables.names = at<char>(module, value);
    if (entry->d_tag == DT_VERSYM) tables.versions = at<ElfW(Half)>(module, value);
    if (entry->d_tag == DT_GNU_HASH) tables.hash = at<uint32_t>(module, value);
  }
  return tables.symbols != nullptr && tables.names != nullptr && tables.hash != nullptr;
}

struct Visit {
  VisitModule visit;
  void* argument;
};

const char anchor = 0;  // An address of the probe's own.

int visit_one(dl_phdr_info* info, size_t, void* argument) {
  auto* request = static_cast<Visit*>(argument);
  Module module{info->dlpi_name != nullptr ? info->dlpi_name : "", info->dlpi_addr, nullptr};
  bool is_probe = false;
  const auto own = reinterpret_cast<uintptr_t>(&anchor);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) module.dynamic = reinterpret_cast<const void*>(begin);
    if (header.p_type == PT_LOAD && own >= begin && own - begin < header.p_memsz) is_probe = true;
  }
  return request->visit(module, is_probe, request->argument) ? 1 : 0;
}

}  // namespace

void* find_symbol(const Module& module, const char* name) {
  Tables tables;
  if (!read_tables(module, tables)) return nullptr;
  const uint32_t bucket_count = tables.hash[0];
  const uint32_t first = tables.hash[1];
  const uint32_t bloom_words = tables.hash[2];
  const uint32_t bloom_shift = tables.hash[3];
  if (bucket_count == 0 || bloom_words == 0) return nullptr;
  const auto* bloom = reinterpret_cast<const ElfW(Addr)*>(tables.hash + 4);
  const auto* buckets = reinterpret_cast<const uint32_t*>(bloom + bloom_words);
  const auto* chains = buckets + bucket_count;

  const uint32_t hash = gnu_hash(name);
  constexpr uint32_t kBits = sizeof(ElfW(Addr)) * 8;
  const auto word = bloom[(hash / kBits) % bloom_words];
  const auto mask =
      (ElfW(Addr){1} << (hash % kBits)) | (ElfW(Addr){1} << ((hash >> bloom_shift) % kBits));
  if ((word & mask) != mask) return nullptr;

  void* old_version = nullptr;
  for (uint32_t i = buckets[hash % bucket_count]; i >= first; ++i) {
    const uint32_t chain = chains[i - first];
    const auto& symbol = tables.symbols[i];
    const auto kind = ELF64_ST_TYPE(symbol.st_info);
    if ((chain | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF &&
        (kind == STT_FUNC || kind == STT_OBJECT || kind == STT_NOTYPE) &&
        strcmp(tables.names + symbol.st_name, name) == 0) {
      auto* address = reinterpret_cast<void*>(module.base + symbol.st_value);
      constexpr ElfW(Half) kHidden = 0x8000;  // Not the default version of this name.
      if (tables.versions == nullptr || (tables.versions[i] & kHidden) == 0) return address;
      old_version = address;
    }
    if ((chain & 1) != 0) break;
  }
  return old_version;
}

void visit_modules(VisitModule visit, void* argument) {
  Visit request{visit, argument};
  dl_iterate_phdr(visit_one, &request);
}

size_t list_modules(Module* modules, size_t room) {
  struct List {
    Module* modules;
    size_t room, count;
  } list{modules, room, 0};
  visit_modules(
      [](const Module& module, bool, void* argument) {
        auto* into = static_cast<List*>(argument);
        if (into->count < into->room) into->modules[into->count] = module;
        ++into->count;
        return false;
      },
      &list);
  return list.count;
}

void* find_anywhere(const char* name) {
  struct Look {
    const char* name;
    void* found;
  } look{name, nullptr};
  visit_modules(
      [](const Module& module, bool is_probe, void* argument) {
        auto* into = static_cast<Look*>(argument);
        if (!is_probe) into->found = find_symbol(module, into->name);
        return into->found != nullptr;
      },
      &look);
  return look.found;
}

bool in_loader(const void* address) {
  const uintptr_t base = getauxval(AT_BASE);
  if (base == 0) return false;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - base;
  for (int i = 0; i < header->e_phnum; ++i) {
    const auto& segment = segments[i];
    if (segment.p_type == PT_LOAD && offset - segment.p_vaddr < segment.p_memsz) return true;
  }
  return false;
}

}  // namespace lowtide::probe
