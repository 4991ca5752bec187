// SPDX-License-Identifier: Apache-2.0
// Answering a request: a thread that lives only for it, never a resident one (a second thread makes
// `unshare -U` fail and os.fork() warn on Python 3.12). It fetches the question, waits for the
// interpreter's lock, has the process copied and leaves; the copy does the work.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe/attend.h"
#include "probe/clone.h"
#include "probe/modules.h"
#include "probe/python.h"
#include "probe/run_copy.h"

namespace lowtide::probe {
namespace {

constexpr size_t kModules = 4096;
constexpr size_t kTextRoom = 1 << 16;
constexpr size_t kStack = size_t{1} << 20;  // The copy walks on it too.

// All a request needs, mapped before the lock is asked for and unmapped after it.
struct Answer {
  lowtide_slot* slot;
  uint32_t id;
  int socket;
  int32_t first;  // the copy's maker, to be reaped
  lowtide_copy copy;
  Module modules[kModules];
  char text[kTextRoom + 1];
};

void answered(const Answer& answer, lowtide_answer how) {
  if (__atomic_load_n(&answer.slot->request, __ATOMIC_ACQUIRE) == answer.id)
    __atomic_store_n(&answer.slot->answer, how, __ATOMIC_RELEASE);
}

void refuse(Answer& answer, const char* why) {
  if (answer.socket >= 0) {
    answer.copy.out.sentence('X', why);
    answer.copy.out.flush();
  }
  answered(answer, LOWTIDE_ANSWER_REFUSED);
}

bool wanted(const Answer& answer) {
  return __atomic_load_n(&answer.slot->request, __ATOMIC_ACQUIRE) == answer.id;
}

size_t append_number(char* text, uint32_t number) {
  char digits[10];
  size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  for (size_t i = 0; i < count; ++i) text[i] = digits[count - 1 - i];
  return count;
}

// Out of the way of programs that count on low numbers.
int move_high(int file) {
  const int high = fcntl(file, F_DUPFD_CLOEXEC, 500);
  if (high < 0) return file;
  close(file);
  return high;
}

// $run/heap-<id>.sock. A path too long for sockaddr_un goes by way of the folder's descriptor.
int connect_asker(uint32_t id) {
  char name[32] = "/heap-";
  size_t length = 6;
  length += append_number(name + length, id);
  memcpy(name + length, ".sock", 6);
  length += 5;

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t folder_length = strlen(run_folder);
  int folder = -1;
  if (folder_length + length < sizeof address.sun_path) {
    memcpy(address.sun_path, run_folder, folder_length);
    memcpy(address.sun_path + folder_length, name, length);
  } else {
    folder = open(run_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -1;
    memcpy(address.sun_path, "/proc/self/fd/", 14);
    const size_t digits = append_number(address.sun_path + 14, static_cast<uint32_t>(folder));
    memcpy(address.sun_path + 14 + digits, name, length);
  }
  int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file >= 0) {
    file = move_high(file);
    const timeval patience{10, 0};
    setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      close(file);
      file = -1;
    }
  }
  if (folder >= 0) close(folder);
  return file;
}

bool receive(int file, void* into, size_t count) {
  auto* at = static_cast<char*>(into);
  while (count > 0) {
    const long got = syscall(SYS_recvfrom, file, at, count, 0, nullptr, nullptr);
    if (got <= 0) return false;
    at += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

bool read_ask(Answer& answer) {
  auto& ask = answer.copy.ask;
  if (!receive(answer.socket, &ask, sizeof ask) || ask.magic != LOWTIDE_HEAP_MAGIC ||
      ask.text_bytes > kTextRoom || !receive(answer.socket, answer.text, ask.text_bytes))
    return false;
  answer.text[ask.text_bytes] = 0;
  answer.copy.text = answer.text;
  answer.copy.arena.limit = ask.memory_limit;
  answer.copy.out.open(answer.socket, true);
  return true;
}

const char* cannot_copy(int error) {
  if (error == ENOMEM) return "the kernel has not enough memory to copy this process";
  if (error == EAGAIN) return "no further process is allowed here, so this one cannot be copied";
  return "the kernel does not let this process be copied";
}

// A program that adopts orphans would find the copy among its children.
bool adopts_orphans() {
  int subreaper = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
  return subreaper != 0 || getpid() == 1;
}

// With the interpreter's lock held.
const char* make_copy(Answer& answer) {
  if (const char* objection = lowtide_objection_cpython(&answer.copy)) return objection;
  const auto cloned = clone_self(&answer.slot->copy_pid);
  if (cloned.in_copy) run_copy(answer.copy, answer.socket);
  if (cloned.error != 0) return cannot_copy(cloned.error);
  answer.first = cloned.first;
  return nullptr;
}

void answer_request(Answer& answer) {
  answer.socket = connect_asker(answer.id);
  if (answer.socket < 0 || !read_ask(answer)) {
    __atomic_fetch_add(&answer.slot->troubles, 1, __ATOMIC_RELAXED);
    return answered(answer, LOWTIDE_ANSWER_REFUSED);
  }
  auto& copy = answer.copy;
  const size_t count = list_modules(answer.modules, kModules);
  copy.modules = answer.modules;
  copy.module_count = count < kModules ? count : kModules;
  copy.target_pid = answer.slot->pid;
  if (adopts_orphans())
    return refuse(answer, "this program adopts orphans and would find the copy among its children");
  Python python;
  if (const char* why = find_python(answer.modules, copy.module_count, python))
    return refuse(answer, why);
  copy.python = python.module;
  copy.python_major = python.major;
  copy.python_minor = python.minor;
  copy.python_version = python.version;

  const uint64_t asked_ns = now_ns();
  const int state = python.ensure();
  const uint64_t locked_ns = now_ns();
  const uint64_t waited_ns = locked_ns - asked_ns;
  const char* why = nullptr;
  const bool still_wanted = wanted(answer);
  if (still_wanted && waited_ns > uint64_t{copy.ask.lock_limit_ms} * 1000000u)
    why = "the interpreter's lock was not free in time";
  if (still_wanted && why == nullptr) why = make_copy(answer);
  python.release(state);
  const uint64_t released_ns = now_ns();
  if (answer.first != 0) {
    const int error = reap_first(answer.first);
    if (error != 0) why = cannot_copy(error);
  }
  if (!still_wanted) return;
  answer.slot->lock_wait_ns = waited_ns;
  answer.slot->pause_ns = released_ns - locked_ns;
  if (why != nullptr) return refuse(answer, why);
  answered(answer, LOWTIDE_ANSWER_COPIED);
}

void* answer_thread(void* argument) {
  auto* answer = static_cast<Answer*>(argument);
  inside = 1;  // This thread answers nothing else.
  prctl(PR_SET_NAME, "lowtide", 0, 0, 0);
  answer_request(*answer);
  if (answer->socket >= 0) close(answer->socket);
  syscall(SYS_munmap, answer, sizeof *answer);
  return nullptr;
}

// glibc 2.34 moved these from libpthread, which a program may not have: looked up when needed.
struct Threads {
  decltype(&pthread_create) create;
  decltype(&pthread_attr_init) init;
  decltype(&pthread_attr_setstacksize) set_stack;
  decltype(&pthread_attr_setdetachstate) set_detached;
};

bool start_thread(Answer* answer) {
  Threads threads{
      reinterpret_cast<decltype(Threads::create)>(find_anywhere("pthread_create")),
      reinterpret_cast<decltype(Threads::init)>(find_anywhere("pthread_attr_init")),
      reinterpret_cast<decltype(Threads::set_stack)>(find_anywhere("pthread_attr_setstacksize")),
      reinterpret_cast<decltype(Threads::set_detached)>(
          find_anywhere("pthread_attr_setdetachstate")),
  };
  if (threads.create == nullptr || threads.init == nullptr || threads.set_stack == nullptr ||
      threads.set_detached == nullptr)
    return false;
  pthread_attr_t attributes;
  if (threads.init(&attributes) != 0) return false;
  threads.set_stack(&attributes, kStack);
  threads.set_detached(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);  // Per thread on Linux; the new thread inherits it.
  pthread_t thread;
  const int error = threads.create(&thread, &attributes, answer_thread, answer);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return error == 0;
}

}  // namespace

void start_answer(lowtide_slot* slot, uint32_t id) {
  slot->copy_pid = 0;
  __atomic_store_n(&slot->answer, LOWTIDE_ANSWER_TAKEN, __ATOMIC_RELEASE);
  const long pages = syscall(SYS_mmap, nullptr, sizeof(Answer), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* answer = reinterpret_cast<Answer*>(pages);
  if (pages != -1) {
    answer->slot = slot;
    answer->id = id;
    answer->socket = -1;
    if (start_thread(answer)) return;
    syscall(SYS_munmap, answer, sizeof *answer);
  }
  __atomic_fetch_add(&slot->troubles, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->answer, LOWTIDE_ANSWER_REFUSED, __ATOMIC_RELEASE);
}

}  // namespace lowtide::probe
