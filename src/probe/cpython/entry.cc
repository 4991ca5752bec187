// SPDX-License-Identifier: Apache-2.0
// Where the copy of a Python program begins, and the reasons to refuse it beforehand.
#include <signal.h>

#include <new>

#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

namespace {

const Offsets* offsets_of(int minor) {
  for (const Offsets& row : kOffsets)
    if (row.minor == minor) return &row;
  return nullptr;
}

// Interpreters beside the first: how many, and does one have a lock of its own (3.12 on)?
struct Others {
  int count = 0;
  bool own_lock = false;
};

Others other_interpreters(const lowtide_copy& copy, const Offsets& offsets) {
  Others others;
  auto* head = copy.find<void*()>("PyInterpreterState_Head");
  auto* next = copy.find<void*(void*)>("PyInterpreterState_Next");
  if (!head || !next) return others;
  void* one = head();
  for (int i = 0; one && i < 1 << 16; ++i, one = next(one)) {
    // New ones are put in front: the last is the first that was made.
    if (!next(one)) break;
    ++others.count;
    if (offsets.interp_own_lock >= 0 &&
        at<int>(reinterpret_cast<Address>(one), offsets.interp_own_lock))
      others.own_lock = true;
  }
  return others;
}

// A check in the interpreter, or in an extension's tp_traverse, that fails calls abort(): that
// costs the object being read, as a fault does.
void abort_is_a_fault() {
  struct sigaction action {};
  action.sa_handler = [](int) { raise(SIGSEGV); };
  action.sa_flags = SA_NODEFER | SA_ONSTACK;
  sigaction(SIGABRT, &action, nullptr);
}

}  // namespace

// The sentence lives in a buffer of its own: it names the version.
static const char* objection(lowtide_copy* copy) {
  static char sentence[200];
  Line line;
  if (copy->python_major != 3 || !offsets_of(copy->python_minor)) {
    line.add("CPython ").add(int64_t{copy->python_major}).add(".");
    line.add(int64_t{copy->python_minor})
        .add(" keeps its objects in a way this lowtide has not been taught");
  } else if (copy->find<char>("_Py_MergeZeroLocalRefcount")) {
    line.add("this CPython is built without the global lock, so its heap never stands still");
  } else if (copy->find<char>("_Py_RefTotal") || copy->find<char>("_Py_NegativeRefcount")) {
    line.add("this is a debug build of CPython, which keeps its objects in another way");
  }
  if (!line.size()) {
    if (other_interpreters(*copy, *offsets_of(copy->python_minor)).own_lock)
      line.add(
          "this program has interpreters with locks of their own, which do not stand still "
          "while the first is copied");
  }
  if (!line.size()) return nullptr;
  memcpy(sentence, line.data(), line.size() < sizeof sentence ? line.size() : sizeof sentence - 1);
  return sentence;
}

}  // namespace lowtide::probe::cpython

extern "C" const char* lowtide_objection_cpython(lowtide_copy* copy) {
  return lowtide::probe::cpython::objection(copy);
}

extern "C" void lowtide_walk_cpython(lowtide_copy* copy) {
  using namespace lowtide::probe::cpython;
  if (const char* why = objection(copy)) {
    copy->out.sentence('X', why);
    return;
  }
  abort_is_a_fault();
  int others = other_interpreters(*copy, *offsets_of(copy->python_minor)).count;
  void* memory = copy->arena.take(sizeof(Walk));
  if (!memory) {
    copy->out.sentence('X', "not enough memory to walk the heap within the limit");
    return;
  }
  auto& walk = *new (memory) Walk(copy);
  walk.other_interpreters = others;
  walk.run();
}
