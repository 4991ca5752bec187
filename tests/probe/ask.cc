// SPDX-License-Identifier: Apache-2.0
// Runs a command with the probe and, if told so, asks it for heaps: the smallest recorder there
// is, written against wire/ alone.
//
//   lowtide_ask --probe liblowtide_probe.so [option...] -- command...
//
//   --after MS      ask for a heap that long after the start; without it only lend a table
//   --times N       ... and N times, --after apart
//   --patience MS   take the request back when nothing comes for so long (60 s)
//   --out FILE      the stream as it came (the second: FILE.1 ...)
//   --contents      allow excerpts of strings
//   --pid-of NAME   ask the process of that name instead of the command
//   --allocator     ask for malloc's figures too
//   --round TEXT    lines that contain TEXT are rounds
//   --lines         at the end, tell of the lines seen and the slots used
//   --report FD     where to say all this (2)
//
// Exits as the command does.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "wire/heap_stream.h"
#include "wire/run_table.h"

namespace {

struct Options {
  std::string probe, out, name, round;
  long after_ms = -1;
  int times = 1;
  int report = 2;
  int patience_ms = 60000;
  bool contents = false, lines = false, allocator = false;
  char** command = nullptr;
};

std::string folder;
lowtide_table* table;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(125);
}

void sleep_ms(long milliseconds) {
  const timespec pause{milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&pause, nullptr);
}

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&] { return i + 1 < count ? words[++i] : ""; };
    if (word == "--probe") {
      options.probe = value();
    } else if (word == "--after") {
      options.after_ms = std::atol(value());
    } else if (word == "--times") {
      options.times = std::atoi(value());
    } else if (word == "--out") {
      options.out = value();
    } else if (word == "--pid-of") {
      options.name = value();
    } else if (word == "--round") {
      options.round = value();
    } else if (word == "--patience") {
      options.patience_ms = std::atoi(value());
    } else if (word == "--report") {
      options.report = std::atoi(value());
    } else if (word == "--contents") {
      options.contents = true;
    } else if (word == "--lines") {
      options.lines = true;
    } else if (word == "--allocator") {
      options.allocator = true;
    } else if (word == "--") {
      options.command = words + i + 1;
      break;
    } else {
      std::fprintf(stderr, "lowtide_ask: unknown option %s\n", words[i]);
      std::exit(125);
    }
  }
  if (options.probe.empty() || options.command == nullptr || options.command[0] == nullptr) {
    std::fprintf(stderr, "usage: lowtide_ask --probe FILE [--after MS] -- command...\n");
    std::exit(125);
  }
  return options;
}

// "contains this text", as an automaton: state 1 + i has seen i bytes of it, 2 is the end.
void set_round(const std::string& text) {
  auto& pattern = table->pattern;
  if (text.empty()) return;
  const auto state_of = [&](size_t seen) {
    if (seen == text.size()) return uint16_t{2};
    return static_cast<uint16_t>(seen == 0 ? 1 : 2 + seen);
  };
  for (size_t seen = 0; seen < text.size(); ++seen)
    for (int byte = 0; byte < 256; ++byte) {
      const std::string read = text.substr(0, seen) + static_cast<char>(byte);
      size_t keep = read.size();
      while (keep > 0 && read.substr(read.size() - keep) != text.substr(0, keep)) --keep;
      pattern.next[state_of(seen)][byte] = state_of(keep);
    }
  for (auto& next : pattern.next[2]) next = 2;
  pattern.states = static_cast<uint32_t>(3 + text.size());
}

void make_table(const std::string& probe) {
  char name[] = "/tmp/lowtide-ask-XXXXXX";
  if (mkdtemp(name) == nullptr) fail("mkdtemp");
  folder = name;
  const int file = open((folder + "/table").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || posix_fallocate(file, 0, sizeof(lowtide_table)) != 0) fail("table");
  void* mapped = mmap(nullptr, sizeof(lowtide_table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  close(file);
  table = static_cast<lowtide_table*>(mapped);
  std::snprintf(table->probe_path, sizeof table->probe_path, "%s", probe.c_str());
  table->recorder_pid = getpid();
  table->version = LOWTIDE_TABLE_VERSION;
  table->magic = LOWTIDE_TABLE_MAGIC;
}

pid_t start(const Options& options) {
  const pid_t child = fork();
  if (child != 0) return child;
  setenv(LOWTIDE_ENVIRONMENT, folder.c_str(), 1);
  const char* before = std::getenv("LD_PRELOAD");
  const std::string value = before == nullptr ? options.probe : options.probe + ":" + before;
  setenv("LD_PRELOAD", value.c_str(), 1);
  execvp(options.command[0], options.command);
  std::perror(options.command[0]);
  _exit(127);
}

std::string name_of(int pid) {
  std::string name;
  if (FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/comm").c_str(), "r")) {
    char line[64];
    if (std::fgets(line, sizeof line, file) != nullptr) name = line;
    std::fclose(file);
  }
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

lowtide_slot* find_slot(const Options& options, pid_t child) {
  for (auto& slot : table->slots)
    if (__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) == LOWTIDE_SLOT_LIVE &&
        (options.name.empty() ? slot.pid == child : name_of(slot.pid) == options.name))
      return &slot;
  return nullptr;
}

int listen_for(uint32_t id) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s/heap-%u.sock", folder.c_str(), id);
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(file, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(file, 1) != 0)
    fail("listen");
  return file;
}

// The whole stream of one heap, as it came.
std::vector<char> converse(int listener, const Options& options) {
  std::vector<char> stream;
  pollfd waiting{listener, POLLIN, 0};
  if (poll(&waiting, 1, options.patience_ms) != 1) return stream;
  const int file = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  lowtide_ask ask{};
  ask.magic = LOWTIDE_HEAP_MAGIC;
  ask.kind = LOWTIDE_ASK_HEAP;
  ask.flags = options.contents ? LOWTIDE_ASK_CONTENTS : 0;
  ask.walk_limit_ms = 120000;
  ask.lock_limit_ms = 10000;
  if (send(file, &ask, sizeof ask, MSG_NOSIGNAL) != sizeof ask) fail("send");
  std::vector<char> piece(1 << 20);
  waiting = {file, POLLIN, 0};
  while (poll(&waiting, 1, options.patience_ms) == 1) {
    const ssize_t count = read(file, piece.data(), piece.size());
    if (count <= 0) break;
    stream.insert(stream.end(), piece.begin(), piece.begin() + count);
  }
  close(file);
  return stream;
}

void ask_heap(const Options& options, pid_t child, int turn) {
  auto* slot = find_slot(options, child);
  if (slot == nullptr) {
    dprintf(options.report, "ask: no slot\n");
    return;
  }
  const uint32_t id = __atomic_add_fetch(&table->next_request, 1, __ATOMIC_RELAXED);
  const int listener = listen_for(id);
  __atomic_store_n(&slot->request, id, __ATOMIC_RELEASE);
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const auto stream = converse(listener, options);
  clock_gettime(CLOCK_MONOTONIC, &end);
  close(listener);
  for (int i = 0; i < 100 && !stream.empty() && slot->answer <= LOWTIDE_ANSWER_TAKEN; ++i)
    sleep_ms(10);
  const double seconds = static_cast<double>(end.tv_sec - begin.tv_sec) +
                         static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9;
  dprintf(options.report,
          "ask: pid %d answer %u copy %d lock wait %.3f ms pause %.3f ms stream %zu bytes %.2f s "
          "first %c\n",
          slot->pid, slot->answer, slot->copy_pid, static_cast<double>(slot->lock_wait_ns) * 1e-6,
          static_cast<double>(slot->pause_ns) * 1e-6, stream.size(), seconds,
          stream.empty() ? '-' : stream.front());
  if (!stream.empty() && stream[0] == 'X' && stream.size() < 200)
    dprintf(options.report, "ask: refused: %.*s\n", static_cast<int>(stream.size() - 2),
            stream.data() + 2);
  __atomic_store_n(&slot->answer, LOWTIDE_ANSWER_NONE, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->request, 0, __ATOMIC_RELEASE);
  if (options.out.empty()) return;
  const std::string path = turn == 0 ? options.out : options.out + "." + std::to_string(turn);
  if (FILE* file = std::fopen(path.c_str(), "wb")) {
    std::fwrite(stream.data(), 1, stream.size(), file);
    std::fclose(file);
  }
}

void ask_allocator(const Options& options, pid_t child) {
  auto* slot = find_slot(options, child);
  if (slot == nullptr) return;
  __atomic_store_n(&slot->want_allocator, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 300 && slot->allocator.updated_ns == 0; ++i) sleep_ms(10);
  dprintf(options.report, "allocator: in use %lu free %lu mapped %lu releasable %lu\n",
          slot->allocator.in_use, slot->allocator.free, slot->allocator.mapped,
          slot->allocator.releasable);
}

void print_lines(const Options& options) {
  const uint64_t end = table->lines_written;
  for (uint64_t i = end > LOWTIDE_LINES ? end - LOWTIDE_LINES : 0; i < end; ++i) {
    const auto& line = table->lines[i % LOWTIDE_LINES];
    dprintf(options.report, "line: shape %08x matched %u\n", line.shape, line.matched);
  }
  for (const auto& slot : table->slots)
    if (slot.state != LOWTIDE_SLOT_FREE)
      dprintf(options.report, "slot: state %u rounds %lu peak %lu troubles %u\n", slot.state,
              slot.rounds, slot.peak_rss, slot.troubles);
}

}  // namespace

int main(int count, char** words) {
  const auto options = read_options(count, words);
  if (options.report > 2) fcntl(options.report, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  make_table(options.probe);
  set_round(options.round);
  const pid_t child = start(options);
  if (options.after_ms >= 0) {
    for (int turn = 0; turn < options.times; ++turn) {
      sleep_ms(options.after_ms);
      if (options.allocator) ask_allocator(options, child);
      ask_heap(options, child, turn);
    }
  }
  int status = 0;
  for (pid_t pid; (pid = wait(&status)) > 0 && pid != child;) {
  }
  while (waitpid(-1, nullptr, WNOHANG) > 0) {  // The copies: ours by adoption.
  }
  if (options.lines) print_lines(options);
  std::string command = "rm -rf " + folder;
  if (std::system(command.c_str()) != 0) return 125;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
