// SPDX-License-Identifier: Apache-2.0
// --show: an expression over each object of a type, evaluated in the copy. Here, and only here, the
// program's own code runs: on a copy, with the collector off, and the clock that ends it set.
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr int kExpression = 258;  // Py_eval_input
inline constexpr size_t kLongestAnswer = 2000;
inline constexpr uint32_t kMostShown = 1000;

struct Api {
  void* (*compile)(const char*, const char*, int, void*, int);
  void* (*evaluate)(void* code, void* globals, void* locals);
  void* (*repr)(void*);
  void* (*str)(void*);
  void* (*new_dict)();
  int (*set_item)(void* dict, const char* key, void* value);
  void (*fetch)(void** type, void** value, void** traceback);
  void (*normalize)(void** type, void** value, void** traceback);
  const char* (*utf8)(void* str, int64_t* size);
  int (*disable)();  // 3.10 on

  bool find(const lowtide_copy& copy) {
    compile =
        copy.find<void*(const char*, const char*, int, void*, int)>("Py_CompileStringExFlags");
    evaluate = copy.find<void*(void*, void*, void*)>("PyEval_EvalCode");
    repr = copy.find<void*(void*)>("PyObject_Repr");
    str = copy.find<void*(void*)>("PyObject_Str");
    new_dict = copy.find<void*()>("PyDict_New");
    set_item = copy.find<int(void*, const char*, void*)>("PyDict_SetItemString");
    fetch = copy.find<void(void**, void**, void**)>("PyErr_Fetch");
    normalize = copy.find<void(void**, void**, void**)>("PyErr_NormalizeException");
    utf8 = copy.find<const char*(void*, int64_t*)>("PyUnicode_AsUTF8AndSize");
    disable = copy.find<int()>("PyGC_Disable");
    return compile && evaluate && repr && str && new_dict && set_item && fetch && normalize && utf8;
  }
};

// Another thread may have asked for the lock. It does not exist here, and giving the lock away
// would wait for it to be taken.
void forget_requests(Walk& walk) {
  const Offsets& o = *walk.python.offsets;
  Address owner = walk.python.interpreter;
  if (walk.python.minor == 8) owner = reinterpret_cast<Address>(walk.copy.find<char>("_PyRuntime"));
  if (walk.python.minor >= 13) owner = walk.python.thread;
  if (!owner) return;
  // From 3.13 the low byte holds the requests, the rest a version of the instrumentation.
  if (o.breaker >= 0)
    memset(reinterpret_cast<char*>(owner) + o.breaker, 0, walk.python.minor >= 13 ? 1 : 4);
  if (o.drop_request >= 0) memset(reinterpret_cast<char*>(owner) + o.drop_request, 0, 4);
}

struct Shown {
  Walk* walk;
  Api* api;
  void* code;
  void* names;
  Address object;
  Line text;
};

void answer(Walk& walk, Address object, const char* text, size_t size) {
  Writer& out = walk.copy.out;
  out.byte('V');
  out.varint(object);
  out.text(text, size < kLongestAnswer ? size : kLongestAnswer);
}

// "ValueError: what it says"
void describe_error(Api& api, Line* line) {
  void *type = nullptr, *value = nullptr, *traceback = nullptr;
  api.fetch(&type, &value, &traceback);
  if (!type) return;
  api.normalize(&type, &value, &traceback);
  const char* name =
      reinterpret_cast<const char*>(pointer(reinterpret_cast<Address>(type), type_field::kName));
  line->add(name);
  int64_t size = 0;
  void* text = value ? api.str(value) : nullptr;
  const char* characters = text ? api.utf8(text, &size) : nullptr;
  if (characters && size) line->add(": ").add(characters, static_cast<size_t>(size));
}

void show_one(void* argument) {
  auto& it = *static_cast<Shown*>(argument);
  Api& api = *it.api;
  api.set_item(it.names, "o", reinterpret_cast<void*>(it.object));
  forget_requests(*it.walk);
  void* value = api.evaluate(it.code, it.names, it.names);
  void* text = value ? api.repr(value) : nullptr;
  int64_t size = 0;
  const char* characters = text ? api.utf8(text, &size) : nullptr;
  if (characters) return answer(*it.walk, it.object, characters, static_cast<size_t>(size));
  describe_error(api, &it.text);
  answer(*it.walk, it.object, it.text.data(), it.text.size());
}

}  // namespace

void show(Walk& walk, const Address* objects, size_t count, const char* expression) {
  Api api{};
  if (!api.find(walk.copy)) return walk.note("this CPython does not export what --show needs");
  if (api.disable)
    api.disable();
  else if (walk.youngest)
    memset(reinterpret_cast<char*>(walk.youngest) - walk.python.offsets->gc_enabled_back, 0, 4);
  forget_requests(walk);
  void* code = api.compile(expression, "<show>", kExpression, nullptr, -1);
  if (!code) {
    Line line;
    line.add("the expression cannot be read: ");
    describe_error(api, &line);
    return walk.note(line.sentence());
  }
  void* names = api.new_dict();
  Address builtins =
      walk.python.field(walk.python.interpreter, walk.python.offsets->interp_builtins);
  api.set_item(names, "__builtins__", reinterpret_cast<void*>(builtins));
  uint32_t limit = walk.copy.ask.object_limit ? walk.copy.ask.object_limit : kMostShown;
  for (size_t i = 0; i < count && i < limit && !walk.copy.late(); ++i) {
    Shown shown{&walk, &api, code, names, objects[i], {}};
    if (!walk.copy.guarded(show_one, &shown)) {
      const char* fault = "the program's code failed on this object";
      answer(walk, objects[i], fault, strlen(fault));
    }
  }
}

}  // namespace lowtide::probe::cpython
