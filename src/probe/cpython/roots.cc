// SPDX-License-Identifier: Apache-2.0
// The named reasons for objects to live: modules, the interpreter's own tables, threads and what
// they are running, static types.
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr int kMostThreads = 1 << 16, kMostFrames = 1 << 20, kMostExceptions = 1 << 12;
inline constexpr int kModuleState = 32;
inline constexpr uint8_t kOwnedByCStack = 3;  // 3.12 on: a frame of C, with nothing in it

void send_modules(Walk& walk) {
  Address modules = loaded_modules(walk.python);
  if (!modules) return;
  walk.root(LOWTIDE_ROOT_RUNTIME, "sys.modules", modules);
  DictEntries entries = dict_entries(walk.python, modules);
  for (size_t i = 0; i < entries.count; ++i) {
    Address name = entries.key(i), module = entries.value(i);
    if (name && module && is_str(name) && module != walk.python.none)
      walk.root(LOWTIDE_ROOT_MODULE, walk.names.intern(walk.python, name), module);
  }
}

void send_interpreter(Walk& walk) {
  const Offsets& o = *walk.python.offsets;
  const struct {
    int offset;
    const char* name;
  } kFields[] = {
      {o.interp_sysdict, "sys"},
      {o.interp_builtins, "builtins"},
      {o.interp_builtins_copy, "builtins as they were"},
      {o.interp_sysdict_copy, "sys as it was"},
      {o.interp_modules_by_index, "modules by index"},
      {o.interp_importlib, "importlib"},
      {o.interp_import_func, "__import__"},
      {o.interp_dict, "interpreter's dict"},
      {o.interp_codec_search_path, "codecs"},
      {o.interp_codec_search_cache, "codecs"},
      {o.interp_codec_error_registry, "codecs"},
      {o.interp_before_forkers, "os.register_at_fork"},
      {o.interp_after_forkers_parent, "os.register_at_fork"},
      {o.interp_after_forkers_child, "os.register_at_fork"},
      {o.interp_audit_hooks, "sys.addaudithook"},
      {o.interp_warnings_filters, "warnings"},
      {o.interp_warnings_once, "warnings"},
      {o.interp_interned, "interned strings"},
  };
  for (const auto& field : kFields)
    walk.root(LOWTIDE_ROOT_RUNTIME, field.name,
              walk.python.field(walk.python.interpreter, field.offset));
}

// atexit.register: an array of structs in C that no object refers to.
void send_atexit(Walk& walk) {
  const Offsets& o = *walk.python.offsets;
  Address interpreter = walk.python.interpreter, callbacks;
  int count;
  if (o.interp_atexit_callbacks >= 0) {
    callbacks = pointer(interpreter, o.interp_atexit_callbacks);
    count = at<int>(interpreter, o.interp_atexit_count);
  } else {
    Address module = walk.python.field(interpreter, o.interp_exit_module);
    Address state = module ? pointer(module, kModuleState) : 0;
    if (!state) return;
    callbacks = pointer(state, 0);
    count = at<int>(state, 8);
  }
  uint32_t name = walk.names.intern("atexit");
  for (int i = 0; callbacks && i < count; ++i) {
    Address callback = pointer(callbacks, i * 8);
    if (!callback) continue;  // unregistered
    for (int part = 0; part < 3; ++part)
      walk.root(LOWTIDE_ROOT_RUNTIME, name, pointer(callback, part * 8));
  }
}

void send_frames(Walk& walk, Address thread) {
  const Offsets& o = *walk.python.offsets;
  Address frame = pointer(thread, o.thread_frame);
  bool objects = walk.python.minor < 11;
  if (frame && o.cframe_current >= 0) frame = pointer(frame, o.cframe_current);
  for (int depth = 0; frame && depth < kMostFrames; ++depth) {
    Line label;
    if (objects) {
      label_frame(walk, frame, &label);
      walk.root(LOWTIDE_ROOT_FRAME, walk.names.intern(label), frame);
      frame = pointer(frame, o.frame_back);
      continue;
    }
    Address code = pointer(frame, o.inner_code);
    bool of_c = walk.python.minor >= 12 && at<uint8_t>(frame, o.inner_owner) >= kOwnedByCStack;
    if (!of_c && code && type_of(code) == walk.code_type) {
      label_frame(walk, frame, &label);
      walk.root(LOWTIDE_ROOT_FRAME, walk.names.intern(label), frame, Place::Frame);
    }
    frame = pointer(frame, o.inner_previous);
  }
}

void send_thread(Walk& walk, Address thread) {
  const Offsets& o = *walk.python.offsets;
  const struct {
    int offset;
    const char* name;
  } kFields[] = {
      {o.thread_dict, "thread-locals"},
      {o.thread_context, "context"},
      {o.thread_exception, "exception being raised"},
      {o.thread_exception_type, "exception being raised"},
      {o.thread_exception_traceback, "exception being raised"},
      {o.thread_async_exc, "exception being raised"},
      {o.thread_profileobj, "sys.setprofile"},
      {o.thread_traceobj, "sys.settrace"},
      {o.thread_firstiter, "sys.set_asyncgen_hooks"},
      {o.thread_finalizer, "sys.set_asyncgen_hooks"},
  };
  for (const auto& field : kFields)
    walk.root(LOWTIDE_ROOT_THREAD, field.name, walk.python.field(thread, field.offset));
  Address handled = pointer(thread, o.thread_exc_info);
  for (int depth = 0; handled && depth < kMostExceptions; ++depth) {
    const int parts[] = {o.handled_value, o.handled_type, o.handled_traceback};
    for (int part : parts) {
      Address object = walk.python.field(handled, part);
      if (object && object != walk.python.none)
        walk.root(LOWTIDE_ROOT_THREAD, "exception being handled", object);
    }
    handled = pointer(handled, o.handled_previous);
  }
  send_frames(walk, thread);
}

}  // namespace

void send_roots(Walk& walk) {
  send_modules(walk);
  send_interpreter(walk);
  send_atexit(walk);
  void* thread = walk.python.thread_head(reinterpret_cast<void*>(walk.python.interpreter));
  for (int i = 0; thread && i < kMostThreads; ++i) {
    send_thread(walk, reinterpret_cast<Address>(thread));
    thread = walk.python.thread_next(thread);
  }
}

void send_static_types(Walk& walk) {
  const Offsets& o = *walk.python.offsets;
  if (o.interp_static_types >= 0 && !walk.static_types_sent) {
    for (int i = 0; i < o.static_type_count; ++i) {
      int64_t offset = o.interp_static_types + int64_t{i} * o.static_type_size;
      if (o.static_type_ext >= 0 && i >= o.static_type_ext_first)
        offset = o.interp_static_types + o.static_type_ext +
                 int64_t{i - o.static_type_ext_first} * o.static_type_size;
      Address type = pointer(walk.python.interpreter, offset);
      if (type && walk.types.info(type)) walk.types.info(type);
    }
  }
  for (size_t i = walk.static_types_sent; i < walk.types.count(); ++i) {
    const TypeInfo* info = walk.types.nth(i);
    if (info && !info->heap) walk.root(LOWTIDE_ROOT_TYPE, info->name, info->type);
  }
  walk.static_types_sent = walk.types.count();
}

// Every collectable object stands in a ring of its generation. An empty list of our own, put in
// by the interpreter itself, has the youngest ring's head behind it, and the others lie at
// fixed distances from that: no offset into the interpreter is needed.
void list_collectable(Walk& walk) {
  struct Own {
    Address gc[2];
    Address refcount, type, size, items, allocated, rest;
  };
  auto* own = static_cast<Own*>(walk.copy.arena.take(sizeof(Own)));
  auto list_type = reinterpret_cast<Address>(walk.copy.find<char>("PyList_Type"));
  if (!own || !list_type || !walk.python.gc_track) return;
  own->refcount = 1;
  own->type = list_type;
  walk.python.gc_track(&own->refcount);
  Address youngest = own->gc[0] & ~Address{7};
  walk.youngest = youngest;
  Address mine = reinterpret_cast<Address>(own);
  // Young, middle and old, then those that gc.freeze() has set aside. 3.14 has no pointer between.
  Address heads[] = {youngest, youngest + 24, youngest + 48,
                     youngest + (walk.python.minor >= 14 ? 72 : 80)};
  if (walk.python.gc_enabled ? !walk.python.gc_enabled()
                             : !at<int>(youngest, -walk.python.offsets->gc_enabled_back))
    walk.gc_off = true;
  for (Address head : heads) {
    Address gc = pointer(head, 0) & ~Address{7};
    if (!gc || !walk.copy.readable(gc, 16) || (pointer(gc, 8) & ~Address{7}) != head) continue;
    for (; gc != head && !walk.table.full() && !walk.copy.late(); gc = pointer(gc, 0) & ~Address{7})
      if (gc != mine) walk.table.meet(gc + kGcHeaderSize, Place::Object);
  }
}

}  // namespace lowtide::probe::cpython
