// SPDX-License-Identifier: Apache-2.0
// Code and what runs it: functions, modules, frames, generators.
#include "probe/cpython/walk.h"

namespace lowtide::probe::cpython {

namespace {

inline constexpr int kBuiltinDef = 16;  // PyCFunctionObject.m_ml
inline constexpr int kModuleName = 48;
inline constexpr uint8_t kOwnedByGenerator = 1, kOwnedByFrameObject = 2;
inline constexpr int64_t kMostSlots = 1 << 16;  // locals and stack of one frame

bool is_code(const Walk& walk, Address object) {
  return object && type_of(object) == walk.code_type;
}

// "train.py" of "/home/me/train.py"
void add_file(Walk& walk, Address code, Line* line) {
  Address file = pointer(code, walk.python.offsets->code_filename);
  if (!file || !is_str(file)) return;
  Line path;
  path.add(walk.python, file, 400);
  size_t start = path.size();
  while (start && path.data()[start - 1] != '/') --start;
  line->add(path.data() + start, path.size() - start);
}

// Counts in bytes of instructions, as PyCode_Addr2Line wants it.
int line_of(Walk& walk, Address code, int64_t instruction) {
  int line = 0;
  if (walk.python.code_line && instruction >= 0)
    line = walk.python.code_line(reinterpret_cast<void*>(code), static_cast<int>(instruction));
  return line > 0 ? line : at<int>(code, walk.python.offsets->code_first_line);
}

void label_running(Walk& walk, Address code, int line_number, Line* line) {
  line->add(walk.python, pointer(code, walk.python.offsets->code_name)).add(" in ");
  add_file(walk, code, line);
  line->add(":").add(int64_t{line_number});
}

void read_function(Walk& walk, Address function) {
  const Offsets& o = *walk.python.offsets;
  constexpr uint8_t kInternal = LOWTIDE_EDGE_INTERNAL;
  Address code = pointer(function, o.function_code);
  Address closure = pointer(function, o.function_closure);
  walk.internal(Word::Code, code);
  walk.edge(kInternal, walk.word(Word::Globals), pointer(function, o.function_globals),
            Place::Namespace);
  walk.field(kInternal, Word::Builtins, function, o.function_builtins);
  walk.field(kInternal, Word::Defaults, function, o.function_defaults);
  walk.field(kInternal, Word::KwDefaults, function, o.function_kwdefaults);
  walk.internal(Word::Closure, closure);
  walk.field(kInternal, Word::Doc, function, o.function_doc);
  walk.field(kInternal, Word::NameName, function, o.function_name);
  walk.field(kInternal, Word::QualName, function, o.function_qualname);
  walk.field(kInternal, Word::ModuleName, function, o.function_module);
  walk.field(kInternal, Word::Annotations, function, o.function_annotations);
  walk.field(kInternal, Word::TypeParams, function, o.function_typeparams);
  if (!is_code(walk, code)) return;

  // One hop to each free variable's cell, under its name, beside the tuple that counts.
  if (closure && is_tuple(closure)) {
    int64_t count = var_size(closure);
    Address names;
    int64_t first = 0;
    if (walk.python.minor >= 11) {
      names = pointer(code, o.code_fast_names);
      first = at<int>(code, o.code_fast_count) - at<int>(code, o.code_free_count);
    } else {
      names = pointer(code, o.code_freevars);
    }
    int64_t known = names && is_tuple(names) ? var_size(names) - first : 0;
    for (int64_t i = 0; i < count; ++i) {
      uint32_t name = 0;
      if (i < known)
        name = walk.names.intern(walk.python,
                                 pointer(names, walk.python.tuple_items + (first + i) * 8));
      walk.edge(LOWTIDE_EDGE_CLOSURE, name, pointer(closure, walk.python.tuple_items + i * 8));
    }
  }
  Line label;
  Address name = pointer(function, o.function_qualname);
  label.add(walk.python, name).add(" (");
  add_file(walk, code, &label);
  label.add(":").add(int64_t{at<int>(code, o.code_first_line)}).add(")");
  walk.facts.label = walk.names.intern(label);
}

void read_code(Walk& walk, Address code) {
  const Offsets& o = *walk.python.offsets;
  const int fields[] = {o.code_consts,   o.code_names,      o.code_varnames,   o.code_freevars,
                        o.code_cellvars, o.code_fast_names, o.code_fast_kinds, o.code_filename,
                        o.code_name,     o.code_qualname,   o.code_lines,      o.code_exceptions,
                        o.code_bytes};
  static constexpr const char* kNames[] = {
      "co_consts",   "co_names",      "co_varnames", "co_freevars", "co_cellvars",
      "co_varnames", "co_localkinds", "co_filename", "co_name",     "co_qualname",
      "co_lines",    "co_exceptions", "co_code"};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i)
    if (fields[i] >= 0)
      walk.edge(LOWTIDE_EDGE_INTERNAL, walk.names.intern(kNames[i]), pointer(code, fields[i]));
  if (Address cached = walk.python.field(code, o.code_cached))
    for (int i = 0; i < 4; ++i) walk.edge(LOWTIDE_EDGE_INTERNAL, 0, pointer(cached, i * 8));
  Line label;
  label_code(walk, code, &label);
  walk.facts.label = walk.names.intern(label);
}

// Locals, cells and free variables under their names, then what the stack is known to hold.
void read_slots(Walk& walk, Address code, Address slots, Address stack_end) {
  const Offsets& o = *walk.python.offsets;
  Address slot = slots;
  auto named = [&](Address names, int64_t count) {
    bool tuple = names && is_tuple(names);
    for (int64_t i = 0; i < count; ++i, slot += 8) {
      Address value = pointer(slot, 0);
      if (!value) continue;
      if (walk.python.minor >= 14) value &= ~Address{3};
      uint32_t name = 0;
      if (tuple && i < var_size(names))
        name = walk.names.intern(walk.python, pointer(names, walk.python.tuple_items + i * 8));
      walk.edge(LOWTIDE_EDGE_LOCAL, name, value);
    }
  };
  if (walk.python.minor >= 11) {
    int64_t count = at<int>(code, o.code_fast_count);
    if (count < 0 || count > kMostSlots) return;
    named(pointer(code, o.code_fast_names), count);
  } else {
    Address cells = pointer(code, o.code_cellvars), frees = pointer(code, o.code_freevars);
    named(pointer(code, o.code_varnames), at<int>(code, o.code_local_count));
    named(cells, cells && is_tuple(cells) ? var_size(cells) : 0);
    named(frees, frees && is_tuple(frees) ? var_size(frees) : 0);
  }
  if (stack_end < slot || stack_end > slot + kMostSlots * 8) return;
  for (; slot < stack_end; slot += 8) {
    Address value = pointer(slot, 0);
    if (walk.python.minor >= 14) value &= ~Address{3};
    walk.internal(Word::Stack, value);
  }
}

// All that a frame of 3.11 and later holds. Its stack's top is saved only while it is not the
// one running: -1 otherwise.
void read_inner(Walk& walk, Address frame) {
  const Offsets& o = *walk.python.offsets;
  Address code = pointer(frame, o.inner_code);
  if (!is_code(walk, code)) return;
  walk.internal(Word::Code, code);
  walk.internal(Word::FunctionWord, pointer(frame, o.inner_function));
  walk.edge(LOWTIDE_EDGE_INTERNAL, walk.word(Word::Locals), pointer(frame, o.inner_locals),
            Place::Namespace);
  if (at<uint8_t>(frame, o.inner_owner) != kOwnedByFrameObject)
    walk.internal(Word::FrameWord, pointer(frame, o.inner_object));
  Address slots = frame + static_cast<Address>(o.inner_fast);
  int64_t top = walk.python.minor >= 14 ? -1 : at<int>(frame, o.inner_stacktop);
  read_slots(walk, code, slots, top > 0 ? slots + static_cast<Address>(top) * 8 : 0);
}

int64_t inner_position(Walk& walk, Address frame, Address code) {
  const Offsets& o = *walk.python.offsets;
  return static_cast<int64_t>(pointer(frame, o.inner_instruction) - code) - o.code_instructions;
}

void read_frame_object(Walk& walk, Address frame) {
  const Offsets& o = *walk.python.offsets;
  walk.field(LOWTIDE_EDGE_INTERNAL, Word::Back, frame, o.frame_back);
  walk.field(LOWTIDE_EDGE_INTERNAL, Word::Trace, frame, o.frame_trace);
  walk.field(LOWTIDE_EDGE_INTERNAL, Word::Locals, frame, o.frame_locals);
  walk.field(LOWTIDE_EDGE_INTERNAL, Word::Locals, frame, o.frame_extra_locals);
  Line label;
  if (walk.python.minor >= 11) {
    Address inner = pointer(frame, o.frame_inner);
    Address code = inner ? pointer(inner, o.inner_code) : 0;
    if (!is_code(walk, code)) return;
    if (at<uint8_t>(inner, o.inner_owner) == kOwnedByFrameObject) read_inner(walk, inner);
    label_running(walk, code, line_of(walk, code, inner_position(walk, inner, code)), &label);
  } else {
    Address code = pointer(frame, o.frame_code);
    if (!is_code(walk, code)) return;
    walk.internal(Word::Code, code);
    walk.field(LOWTIDE_EDGE_INTERNAL, Word::Builtins, frame, o.frame_builtins);
    walk.edge(LOWTIDE_EDGE_INTERNAL, walk.word(Word::Globals), pointer(frame, o.frame_globals),
              Place::Namespace);
    Address top = 0;
    if (o.frame_stacktop >= 0) {
      top = pointer(frame, o.frame_stacktop);
    } else if (int depth = at<int>(frame, o.frame_stackdepth); depth > 0) {
      top = pointer(frame, o.frame_stack) + static_cast<Address>(depth) * 8;
    }
    read_slots(walk, code, frame + static_cast<Address>(o.frame_fast), top);
    int last = at<int>(frame, o.frame_last);
    label_running(walk, code, line_of(walk, code, walk.python.minor >= 10 ? last * 2 : last),
                  &label);
  }
  walk.facts.label = walk.names.intern(label);
}

void read_generator(Walk& walk, Address generator, const TypeInfo& info) {
  const Offsets& o = *walk.python.offsets;
  constexpr uint8_t kInternal = LOWTIDE_EDGE_INTERNAL;
  walk.field(kInternal, Word::NameName, generator, o.generator_name);
  walk.field(kInternal, Word::QualName, generator, o.generator_qualname);
  walk.edge(kInternal, 0, pointer(generator, o.generator_handled));
  walk.edge(kInternal, 0, walk.python.field(generator, o.generator_handled_type));
  walk.edge(kInternal, 0, walk.python.field(generator, o.generator_handled_traceback));
  walk.edge(kInternal, 0, walk.python.field(generator, o.generator_code));
  if (walk.python.minor >= 11) {
    // A plain generator leaves the field as it was.
    if (info.type != walk.generator_type)
      walk.edge(kInternal, 0, pointer(generator, o.coroutine_origin));
  } else if (info.base_basic > static_cast<uint64_t>(o.coroutine_origin)) {
    walk.edge(kInternal, 0, pointer(generator, o.coroutine_origin));
  }
  Line label;
  label.add(walk.python, pointer(generator, o.generator_qualname));
  if (walk.python.minor >= 11) {
    Address frame = generator + static_cast<Address>(o.generator_frame);
    // Above zero it has ended, and its frame is no more.
    if (at<int8_t>(generator, o.generator_state) <= 0) {
      Address code = pointer(frame, o.inner_code);
      read_inner(walk, frame);
      if (is_code(walk, code)) {
        label.add(" in ");
        add_file(walk, code, &label);
        label.add(":").add(int64_t{line_of(walk, code, inner_position(walk, frame, code))});
      }
    }
  } else {
    walk.internal(Word::FrameWord, pointer(generator, o.generator_frame));
  }
  walk.facts.label = walk.names.intern(label);
}

}  // namespace

void label_code(Walk& walk, Address code, Line* line) {
  const Offsets& o = *walk.python.offsets;
  Address name = walk.python.field(code, o.code_qualname);
  line->add(walk.python, name ? name : pointer(code, o.code_name)).add(" (");
  add_file(walk, code, line);
  line->add(":").add(int64_t{at<int>(code, o.code_first_line)}).add(")");
}

void label_frame(Walk& walk, Address frame, Line* line) {
  const Offsets& o = *walk.python.offsets;
  if (walk.python.minor >= 11) {
    Address code = pointer(frame, o.inner_code);
    if (is_code(walk, code))
      label_running(walk, code, line_of(walk, code, inner_position(walk, frame, code)), line);
    return;
  }
  Address code = pointer(frame, o.frame_code);
  if (!is_code(walk, code)) return;
  int last = at<int>(frame, o.frame_last);
  label_running(walk, code, line_of(walk, code, walk.python.minor >= 10 ? last * 2 : last), line);
}

void read_interpreter_frame(Walk& walk, Address frame) {
  const Offsets& o = *walk.python.offsets;
  walk.facts.type = walk.names.intern("frame");
  Line label;
  label_frame(walk, frame, &label);
  walk.facts.label = walk.names.intern(label);
  uint8_t owner = at<uint8_t>(frame, o.inner_owner);
  if (owner == kOwnedByGenerator) {
    walk.internal(Word::GeneratorWord, frame - static_cast<Address>(o.generator_frame));
  } else if (owner == kOwnedByFrameObject) {
    walk.internal(Word::FrameWord, pointer(frame, o.inner_object));
  } else {
    read_inner(walk, frame);
  }
}

void read_code_object(Walk& walk, Address object, const TypeInfo& info) {
  switch (info.family) {
    case Family::Function:
      return read_function(walk, object);
    case Family::Code:
      return read_code(walk, object);
    case Family::Frame:
      return read_frame_object(walk, object);
    case Family::Generator:
      return read_generator(walk, object, info);
    case Family::BuiltinFunction: {
      Address name = pointer(pointer(object, kBuiltinDef), 0);
      if (name && walk.copy.readable(name, 1)) {
        const char* text = reinterpret_cast<const char*>(name);
        walk.facts.label = walk.names.intern(text, strnlen(text, 200));
      }
      return;
    }
    case Family::Module: {
      Address name = pointer(object, kModuleName);
      if (!name || !is_str(name)) return;
      walk.internal(Word::NameName, name);
      walk.facts.label = walk.names.intern(walk.python, name);
      return;
    }
    default:
      return;
  }
}

}  // namespace lowtide::probe::cpython
