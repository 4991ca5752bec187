/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOWTIDE_WIRE_LOADABLE_H
#define LOWTIDE_WIRE_LOADABLE_H

/* Can this program load the probe? Asked before LD_PRELOAD is set, by the recorder for the command
 * and by the probe for whatever the target executes: the dynamic loader complains on the target's
 * stderr about a library it cannot load, and a sanitizer's runtime refuses to start behind one.
 *
 * Plain C, header only, system calls only: the probe asks between vfork and exec. Reads a few
 * hundred bytes of the file and believes none of them; everything is bounded.
 */

/* NOLINTBEGIN(modernize-use-nullptr): C has no nullptr. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for AT_EMPTY_PATH, in C */
#endif
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum lowtide_loadable {
  LOWTIDE_LOADABLE = 0,
  LOWTIDE_LOADABLE_UNREADABLE,
  LOWTIDE_LOADABLE_NOT_A_PROGRAM,
  LOWTIDE_LOADABLE_OTHER_MACHINE,
  LOWTIDE_LOADABLE_STATIC,
  LOWTIDE_LOADABLE_OTHER_LIBC,
  LOWTIDE_LOADABLE_PRIVILEGED,
  LOWTIDE_LOADABLE_SANITIZER,
  LOWTIDE_LOADABLE_NO_PROBE,
  LOWTIDE_LOADABLE_TOO_DEEP,
};

static inline const char* lowtide_loadable_sentence(enum lowtide_loadable why) {
  switch (why) {
    case LOWTIDE_LOADABLE:
      return "it can load the probe";
    case LOWTIDE_LOADABLE_UNREADABLE:
      return "it cannot be read";
    case LOWTIDE_LOADABLE_NOT_A_PROGRAM:
      return "it is neither an ELF program nor a script with an interpreter";
    case LOWTIDE_LOADABLE_OTHER_MACHINE:
      return "it is built for another kind of machine than the probe";
    case LOWTIDE_LOADABLE_STATIC:
      return "it is statically linked, so nothing can be preloaded into it";
    case LOWTIDE_LOADABLE_OTHER_LIBC:
      return "its C library is not glibc";
    case LOWTIDE_LOADABLE_PRIVILEGED:
      return "it runs with other privileges than its caller's (setuid, setgid or capabilities)";
    case LOWTIDE_LOADABLE_SANITIZER:
      return "it is built with a sanitizer, which must own malloc itself";
    case LOWTIDE_LOADABLE_NO_PROBE:
      return "the probe's file cannot be read from where it runs";
    case LOWTIDE_LOADABLE_TOO_DEEP:
      return "its script interpreters are nested too deeply";
  }
  return "for a reason without a name";
}

/* True when a library of this name belongs to a sanitizer's runtime. */
static inline int lowtide_names_sanitizer(const char* name) {
  static const char* const prefixes[] = {
      "libasan.",           "libtsan.",         "libmsan.",         "liblsan.",
      "libhwasan.",         "libclang_rt.asan", "libclang_rt.tsan", "libclang_rt.msan",
      "libclang_rt.hwasan", "libclang_rt.lsan"};
  const char* base = strrchr(name, '/');
  base = base == NULL ? name : base + 1;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i)
    if (strncmp(base, prefixes[i], strlen(prefixes[i])) == 0) return 1;
  return 0;
}

/* True when an LD_PRELOAD of this value already loads a sanitizer's runtime: it must come first. */
static inline int lowtide_preload_names_sanitizer(const char* value) {
  char name[256];
  size_t used = 0;
  for (;; ++value) {
    if (*value != 0 && *value != ':' && *value != ' ') {
      if (used < sizeof name - 1) name[used++] = *value;
      if (*value == '/') used = 0;
      continue;
    }
    name[used] = 0;
    if (lowtide_names_sanitizer(name)) return 1;
    used = 0;
    if (*value == 0) return 0;
  }
}

/* ------------------------------------------------------------------------------- the file */

#if defined(__x86_64__)
enum { LOWTIDE_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { LOWTIDE_MACHINE = EM_AARCH64 };
#else
enum { LOWTIDE_MACHINE = EM_NONE };
#endif

struct lowtide_program {
  int file;
  uint64_t size;
  uint64_t dynamic, dynamic_bytes; /* where the dynamic section lies in the file */
  unsigned loads;
  Elf64_Phdr load[16];
};

static inline int lowtide_read(int file, uint64_t at, void* into, size_t count) {
  if (at > INT64_MAX) return 0;
  return syscall(SYS_pread64, file, into, count, (off_t)at) == (long)count;
}

/* A zero-terminated text at `at`, cut at room - 1 bytes. */
static inline int lowtide_read_text(int file, uint64_t at, char* into, size_t room) {
  if (at > INT64_MAX) return 0;
  const long count = syscall(SYS_pread64, file, into, room - 1, (off_t)at);
  if (count <= 0) return 0;
  into[count] = 0;
  return 1;
}

/* Where an address of the loaded program lies in its file; 0: nowhere. */
static inline uint64_t lowtide_file_offset(const struct lowtide_program* program,
                                           uint64_t address) {
  for (unsigned i = 0; i < program->loads; ++i) {
    const Elf64_Phdr* load = &program->load[i];
    if (address >= load->p_vaddr && address - load->p_vaddr < load->p_filesz)
      return load->p_offset + (address - load->p_vaddr);
  }
  return 0;
}

struct lowtide_tables {
  uint64_t symbols, names, hash; /* file offsets */
};

/* Does the program itself define `name`? One bucket of its DT_GNU_HASH is read. */
static inline int lowtide_defines(const struct lowtide_program* program,
                                  const struct lowtide_tables* tables, const char* name) {
  uint32_t head[4];
  if (tables->hash == 0 || tables->symbols == 0 || tables->names == 0) return 0;
  if (!lowtide_read(program->file, tables->hash, head, sizeof head) || head[0] == 0) return 0;
  uint32_t hash = 5381;
  for (const char* at = name; *at != 0; ++at) hash = hash * 33 + (unsigned char)*at;
  const uint64_t buckets = tables->hash + sizeof head + (uint64_t)head[2] * 8;
  const uint64_t chains = buckets + (uint64_t)head[0] * 4;
  uint32_t index;
  if (!lowtide_read(program->file, buckets + (uint64_t)(hash % head[0]) * 4, &index, 4)) return 0;
  for (int steps = 0; steps < 256 && index >= head[1] && index != 0; ++steps, ++index) {
    uint32_t chain;
    if (!lowtide_read(program->file, chains + (uint64_t)(index - head[1]) * 4, &chain, 4)) return 0;
    Elf64_Sym symbol;
    char found[32];
    if ((chain | 1) == (hash | 1) &&
        lowtide_read(program->file, tables->symbols + (uint64_t)index * sizeof symbol, &symbol,
                     sizeof symbol) &&
        symbol.st_shndx != SHN_UNDEF &&
        lowtide_read_text(program->file, tables->names + symbol.st_name, found, sizeof found) &&
        strcmp(found, name) == 0)
      return 1;
    if ((chain & 1) != 0) return 0;
  }
  return 0;
}

static inline int lowtide_has_sanitizer(const struct lowtide_program* program) {
  static const char* const inits[] = {"__asan_init", "__tsan_init", "__msan_init", "__hwasan_init",
                                      "__lsan_init"};
  struct lowtide_tables tables = {0, 0, 0};
  uint64_t entries = program->dynamic_bytes / sizeof(Elf64_Dyn);
  if (entries > 4096) entries = 4096;
  /* The first pass finds the tables, the second reads the needed libraries' names. */
  for (int pass = 0; pass < 2; ++pass) {
    for (uint64_t i = 0; i < entries; ++i) {
      Elf64_Dyn entry;
      if (!lowtide_read(program->file, program->dynamic + i * sizeof entry, &entry, sizeof entry) ||
          entry.d_tag == DT_NULL)
        break;
      const uint64_t value = entry.d_un.d_val;
      if (pass == 0) {
        if (entry.d_tag == DT_STRTAB) tables.names = lowtide_file_offset(program, value);
        if (entry.d_tag == DT_SYMTAB) tables.symbols = lowtide_file_offset(program, value);
        if (entry.d_tag == DT_GNU_HASH) tables.hash = lowtide_file_offset(program, value);
      } else if (entry.d_tag == DT_NEEDED && tables.names != 0) {
        char name[256];
        if (lowtide_read_text(program->file, tables.names + value, name, sizeof name) &&
            lowtide_names_sanitizer(name))
          return 1;
      }
    }
  }
  for (size_t i = 0; i < sizeof inits / sizeof *inits; ++i)
    if (lowtide_defines(program, &tables, inits[i])) return 1;
  return 0;
}

static inline enum lowtide_loadable lowtide_check_elf(int file, const Elf64_Ehdr* header) {
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != LOWTIDE_MACHINE)
    return LOWTIDE_LOADABLE_OTHER_MACHINE;
  if (header->e_phentsize != sizeof(Elf64_Phdr)) return LOWTIDE_LOADABLE_NOT_A_PROGRAM;
  struct lowtide_program program;
  memset(&program, 0, sizeof program);
  program.file = file;
  char interpreter[256] = "";
  for (unsigned i = 0; i < header->e_phnum && i < 256; ++i) {
    Elf64_Phdr segment;
    if (!lowtide_read(file, header->e_phoff + (uint64_t)i * sizeof segment, &segment,
                      sizeof segment))
      return LOWTIDE_LOADABLE_NOT_A_PROGRAM;
    if (segment.p_type == PT_LOAD && program.loads < 16) program.load[program.loads++] = segment;
    if (segment.p_type == PT_INTERP &&
        !lowtide_read_text(file, segment.p_offset, interpreter, sizeof interpreter))
      return LOWTIDE_LOADABLE_NOT_A_PROGRAM;
    if (segment.p_type == PT_DYNAMIC) {
      program.dynamic = segment.p_offset;
      program.dynamic_bytes = segment.p_filesz;
    }
  }
  if (interpreter[0] == 0 || program.dynamic == 0) return LOWTIDE_LOADABLE_STATIC;
  const char* base = strrchr(interpreter, '/');
  if (strncmp(base == NULL ? interpreter : base + 1, "ld-linux", 8) != 0)
    return LOWTIDE_LOADABLE_OTHER_LIBC;
  return lowtide_has_sanitizer(&program) ? LOWTIDE_LOADABLE_SANITIZER : LOWTIDE_LOADABLE;
}

/* The kernel starts such a program with its caller's LD_PRELOAD ignored. */
static inline int lowtide_is_privileged(int file, const struct stat* status) {
  if ((status->st_mode & S_ISUID) != 0 && status->st_uid != geteuid()) return 1;
  if ((status->st_mode & S_ISGID) != 0 && (status->st_mode & S_IXGRP) != 0 &&
      status->st_gid != getegid())
    return 1;
  return geteuid() != 0 && syscall(SYS_fgetxattr, file, "security.capability", NULL, (size_t)0) > 0;
}

/* ---------------------------------------------------------------------------- the command */

/* What execvp would execute for `name`: 1 and the path in `into`, or 0. `search` is $PATH, NULL
 * for the C library's own. */
static inline int lowtide_search(const char* name, const char* search, char* into, size_t room) {
  const size_t length = strlen(name);
  if (length == 0 || length >= room) return 0;
  if (strchr(name, '/') != NULL) {
    memcpy(into, name, length + 1);
    return 1;
  }
  if (search == NULL) search = "/bin:/usr/bin";
  for (;;) {
    const char* end = strchr(search, ':');
    const size_t folder = end == NULL ? strlen(search) : (size_t)(end - search);
    if (folder + 1 + length < room) {
      memcpy(into, search, folder);
      size_t used = folder;
      if (folder != 0) into[used++] = '/';
      memcpy(into + used, name, length + 1);
      struct stat status;
      if (syscall(SYS_newfstatat, AT_FDCWD, into, &status, 0) == 0 && S_ISREG(status.st_mode) &&
          syscall(SYS_faccessat, AT_FDCWD, into, X_OK) == 0)
        return 1;
    }
    if (end == NULL) return 0;
    search = end + 1;
  }
}

/* The word of a #! line's argument that /usr/bin/env will execute; 0 when there is none. */
static inline int lowtide_word_for_env(const char* text, char* word, size_t room) {
  while (*text != 0) {
    while (*text == ' ' || *text == '\t') ++text;
    size_t length = 0;
    while (text[length] != 0 && text[length] != ' ' && text[length] != '\t') ++length;
    if (length == 0 || length >= room) return 0;
    memcpy(word, text, length);
    word[length] = 0;
    text += length;
    if (word[0] != '-' && strchr(word, '=') == NULL) return 1;
  }
  return 0;
}

/* `program` is a path as execveat takes it (directory may be AT_FDCWD, the path empty with
 * AT_EMPTY_PATH in flags); `search` is $PATH for `#!/usr/bin/env name`. */
static inline enum lowtide_loadable lowtide_can_load_at(int directory, const char* program,
                                                        int flags, const char* search,
                                                        const char* probe) {
  if (probe == NULL || syscall(SYS_faccessat, AT_FDCWD, probe, R_OK) != 0)
    return LOWTIDE_LOADABLE_NO_PROBE;
  char path[4096];
  char line[258];
  const char* next = program;
  const char* env_word = NULL; /* What env executes once env itself has passed. */
  for (int level = 0; level < 8; ++level) {
    int file;
    if (level == 0 && next[0] == 0 && (flags & AT_EMPTY_PATH) != 0)
      file = (int)syscall(SYS_fcntl, directory, F_DUPFD_CLOEXEC, 0);
    else
      file = (int)syscall(SYS_openat, level == 0 ? directory : AT_FDCWD, next,
                          O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (file < 0) return LOWTIDE_LOADABLE_UNREADABLE;
    enum lowtide_loadable why = LOWTIDE_LOADABLE_NOT_A_PROGRAM;
    int script = 0;
    struct stat status;
    union {
      Elf64_Ehdr elf;
      char text[sizeof(Elf64_Ehdr)];
    } head;
    if (syscall(SYS_newfstatat, file, "", &status, AT_EMPTY_PATH) != 0 ||
        !S_ISREG(status.st_mode)) {
      why = LOWTIDE_LOADABLE_UNREADABLE;
    } else if (lowtide_read_text(file, 0, line, sizeof line) && line[0] == '#' && line[1] == '!') {
      script = 1;
    } else if (lowtide_is_privileged(file, &status)) {
      why = LOWTIDE_LOADABLE_PRIVILEGED;
    } else if (lowtide_read(file, 0, &head, sizeof head) &&
               memcmp(head.text, ELFMAG, SELFMAG) == 0) {
      why = lowtide_check_elf(file, &head.elf);
    }
    syscall(SYS_close, file);
    if (!script) {
      if (why != LOWTIDE_LOADABLE || env_word == NULL) return why;
      /* env has passed: now the program it will execute. */
      char word[256];
      if (!lowtide_word_for_env(env_word, word, sizeof word) ||
          !lowtide_search(word, search, path, sizeof path))
        return LOWTIDE_LOADABLE;
      env_word = NULL;
      next = path;
      continue;
    }
    /* "#! /path argument": the text lives in `line`, moved to `path` so that line can be reused. */
    line[strcspn(line, "\n")] = 0;
    const char* start = line + 2 + strspn(line + 2, " \t");
    const size_t length = strcspn(start, " \t");
    if (length == 0) return LOWTIDE_LOADABLE_NOT_A_PROGRAM;
    memcpy(path, start, strlen(start) + 1);
    env_word = NULL;
    if (path[length] != 0) {
      path[length] = 0;
      const char* base = strrchr(path, '/');
      if (search != NULL && strcmp(base == NULL ? path : base + 1, "env") == 0)
        env_word = path + length + 1;
    }
    next = path;
  }
  return LOWTIDE_LOADABLE_TOO_DEEP;
}

static inline enum lowtide_loadable lowtide_can_load(const char* program, const char* search,
                                                     const char* probe) {
  return lowtide_can_load_at(AT_FDCWD, program, 0, search, probe);
}

/* NOLINTEND(modernize-use-nullptr) */

#endif
