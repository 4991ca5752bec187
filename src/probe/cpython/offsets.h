// SPDX-License-Identifier: Apache-2.0
// Written by tools/python_offsets.py from CPython's own headers; do not edit.
#pragma once

// One row a version: where CPython keeps what the walker reads, in
// bytes from the start of the struct; -1 where a version has no such field.

namespace lowtide::probe::cpython {

// clang-format off
struct Offsets {
  int minor, interp_modules, interp_modules_by_index, interp_importlib, interp_import_func,
  interp_sysdict, interp_builtins, interp_builtins_copy, interp_sysdict_copy, interp_dict,
  interp_codec_search_path, interp_codec_search_cache, interp_codec_error_registry,
  interp_before_forkers, interp_after_forkers_parent, interp_after_forkers_child,
  interp_audit_hooks, interp_warnings_filters, interp_warnings_once, interp_atexit_callbacks,
  interp_atexit_count, interp_exit_module, interp_interned, interp_own_lock,
  interp_static_types, interp_size, static_type_size, static_type_dict, static_type_count,
  static_type_ext, static_type_ext_first, breaker, drop_request, gc_enabled_back,
  thread_interp, thread_frame, thread_exception, thread_exception_type,
  thread_exception_traceback, thread_exc_info, thread_dict, thread_async_exc, thread_context,
  thread_profileobj, thread_traceobj, thread_firstiter, thread_finalizer, thread_ident,
  cframe_current, handled_value, handled_type, handled_traceback, handled_previous,
  frame_back, frame_code, frame_builtins, frame_globals, frame_locals, frame_extra_locals,
  frame_trace, frame_stack, frame_stacktop, frame_stackdepth, frame_last, frame_lineno,
  frame_fast, frame_inner, frame_data, inner_code, inner_function, inner_globals,
  inner_locals, inner_object, inner_previous, inner_instruction, inner_stacktop, inner_owner,
  inner_fast, code_consts, code_names, code_varnames, code_freevars, code_cellvars,
  code_fast_names, code_fast_kinds, code_fast_count, code_free_count, code_local_count,
  code_stack_size, code_filename, code_name, code_qualname, code_lines, code_exceptions,
  code_bytes, code_cached, code_first_line, code_instructions, code_zombie, code_cell2arg,
  code_extra, function_code, function_globals, function_defaults, function_builtins,
  function_kwdefaults, function_closure, function_doc, function_name, function_dict,
  function_module, function_annotations, function_qualname, function_typeparams,
  generator_frame, generator_code, generator_name, generator_qualname, generator_handled,
  generator_handled_type, generator_handled_traceback, generator_state, coroutine_origin,
  asyncgen_finalizer, heap_type_name, heap_type_slots, heap_type_qualname,
  heap_type_cached_keys, heap_type_module, heap_type_getitem, heap_type_init, heap_type_size,
  type_size, exception_dict, exception_args, exception_notes, exception_traceback,
  exception_context, exception_cause, context_previous, context_vars, contextvar_name,
  contextvar_default, runtime_size, str_ascii_size, str_compact_size, str_size, dict_keys_size;
};

inline constexpr Offsets kOffsets[] = {
    {  // measured on 3.8.18
     8, 56, 64, 88, 560, 72, 80, 552, -1, 544, 120, 128, 136, 2624, 2632, 2640, 2704, -1, -1, -1,
     -1, 2656, -1, -1, -1, 2720, -1, -1, -1, -1, -1, 592, 596, 12, 16, 24, 96, 88, 104, 144, 152,
     168, 240, 72, 80, 224, 232, 176, -1, 8, 0, 16, 24, 24, 32, 40, 48, 56, -1, 80, 64, 72, -1,
     104, 108, 360, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 56, 64, 72, 80, 88, -1, -1,
     -1, -1, 28, 32, 104, 112, -1, 120, -1, 48, -1, 40, -1, 128, 96, 144, 16, 24, 32, -1, 40, 48,
     56, 64, 72, 88, 96, 104, -1, 16, 32, 48, 56, 72, 64, 80, -1, 96, 96, 848, 856, 864, 872, -1,
     -1, -1, 880, 416, 16, 24, -1, 32, 40, 48, 16, 24, 16, 24, 1464, 48, 72, 80, 40},
    {  // measured on 3.9.18
     9, 856, 864, 888, 1392, 872, 880, 1384, -1, 1376, 912, 920, 928, 3456, 3464, 3472, 3536,
     3504, 3512, -1, -1, 3488, -1, -1, -1, 5656, -1, -1, -1, -1, -1, 72, 76, 12, 16, 24, 96, 88,
     104, 144, 152, 168, 240, 72, 80, 224, 232, 176, -1, 8, 0, 16, 24, 24, 32, 40, 48, 56, -1,
     80, 64, 72, -1, 104, 108, 360, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 56, 64, 72,
     80, 88, -1, -1, -1, -1, 28, 32, 104, 112, -1, 120, -1, 48, -1, 40, -1, 128, 96, 144, 16, 24,
     32, -1, 40, 48, 56, 64, 72, 88, 96, 104, -1, 16, 32, 48, 56, 72, 64, 80, -1, 96, 96, 840,
     848, 856, 864, 872, -1, -1, 880, 408, 16, 24, -1, 32, 40, 48, 16, 24, 16, 24, 656, 48, 72,
     80, 40},
    {  // measured on 3.10.13
     10, 856, 864, 888, 1360, 872, 880, 1352, -1, 1344, 912, 920, 928, 3424, 3432, 3440, 3504,
     3456, 3464, 3488, 3496, -1, -1, -1, -1, 113528, -1, -1, -1, -1, -1, 68, 72, 12, 16, 24, 96,
     88, 104, 144, 152, 168, 240, 72, 80, 224, 232, 176, -1, 8, 0, 16, 24, 24, 32, 40, 48, 56,
     -1, 72, 64, -1, 80, 96, 100, 352, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 56, 64,
     72, 80, 88, -1, -1, -1, -1, 28, 32, 104, 112, -1, 120, -1, 48, -1, 40, -1, -1, 96, 144, 48,
     16, 56, 24, 64, 72, 80, 32, 88, 104, 112, 40, -1, 16, 24, 40, 48, 64, 56, 72, -1, 88, 88,
     848, 856, 864, 872, 880, -1, -1, 888, 408, 16, 24, -1, 32, 40, 48, 16, 24, 16, 24, 672, 48,
     72, 80, 40},
    {  // measured on 3.11.7
     11, 888, 896, 920, 1416, 904, 912, 1408, -1, 1400, 936, 944, 952, 3480, 3488, 3496, 3552,
     3504, 3512, 3536, 3544, -1, -1, -1, -1, 107752, -1, -1, -1, -1, -1, 100, 104, 12, 16, 56,
     104, 96, 112, 120, 128, 144, 224, 80, 88, 208, 216, 152, 8, 0, -1, -1, 8, 16, -1, -1, -1,
     -1, -1, 32, -1, -1, -1, -1, 40, -1, 24, 48, 32, 0, 8, 24, 40, 48, 56, 64, 69, 72, 24, 32,
     -1, -1, -1, 96, 104, 76, 92, 80, 68, 112, 120, 128, 136, 40, 152, -1, 72, 184, -1, -1, 176,
     48, 16, 56, 24, 64, 72, 80, 32, 88, 104, 112, 40, -1, 80, 16, 32, 40, 48, -1, -1, 75, 64,
     64, 848, 856, 864, 872, 880, 896, -1, 904, 408, 16, 24, 32, 40, 48, 56, 16, 24, 16, 24,
     166688, 48, 72, 80, 32},
    {  // measured on 3.12.1
     12, 944, 952, 960, 984, 352, 360, 1736, 1728, 1720, 1248, 1256, 1264, 3872, 3880, 3888,
     267208, 3896, 3904, 3944, 3952, -1, 382936, 392, 373704, 383552, 40, 16, 200, -1, -1, 368,
     372, 12, 16, 56, 96, -1, -1, 104, 112, 128, 208, 80, 88, 192, 200, 136, 0, 0, -1, -1, 8, 16,
     -1, -1, -1, -1, -1, 32, -1, -1, -1, -1, 40, -1, 24, 48, 0, 16, 24, 40, 48, 8, 56, 64, 70,
     72, 24, 32, -1, -1, -1, 96, 104, 72, 88, 80, 64, 112, 120, 128, 136, 40, -1, 152, 68, 192,
     -1, -1, 184, 48, 16, 56, 24, 64, 72, 80, 32, 88, 104, 112, 40, 120, 72, -1, 24, 32, 40, -1,
     -1, 67, 56, 56, 856, 864, 872, 880, 888, 904, -1, 920, 416, 16, 24, 32, 40, 48, 56, 16, 24,
     16, 24, 459944, 40, 56, 64, 32},
    {  // measured on 3.13.0
     13, 7656, 7664, 7672, 7696, 7640, 7648, 8464, 8456, 8448, 7960, 7968, 7976, 10632, 10640,
     10648, 10808, 10656, 10664, 10712, 10720, -1, 194328, 24, 182968, 194968, 48, 24, 210, 9616,
     200, 24, -1, 12, 16, 72, 112, -1, -1, 120, 128, 144, 208, 96, 104, 192, 200, 152, -1, 0, -1,
     -1, 8, 16, -1, -1, -1, 56, 48, 32, -1, -1, -1, -1, 40, -1, 24, 64, 0, 16, 24, 40, 48, 8, 56,
     64, 70, 72, 24, 32, -1, -1, -1, 96, 104, 72, 88, 80, 64, 112, 120, 128, 136, 40, -1, 160,
     68, 200, -1, -1, 192, 48, 16, 56, 24, 64, 72, 80, 32, 88, 104, 112, 40, 120, 72, -1, 24, 32,
     40, -1, -1, 67, 56, 56, 856, 864, 872, 880, 888, 904, 920, 928, 416, 16, 24, 32, 40, 48, 56,
     16, 24, 16, 24, 283320, 40, 56, 64, 32},
};
// clang-format on

}  // namespace lowtide::probe::cpython
