// SPDX-License-Identifier: Apache-2.0
// Written by tools/python_offsets.py from CPython's own headers; do not edit.
#pragma once

// One row a version: where CPython keeps what the walker reads, in
// bytes from the start of the struct; -1 where a version has no such field.

namespace lowtide::probe::cpython {

struct Offsets {
  int minor;
  int interp_modules;
  int interp_modules_by_index;
  int interp_importlib;
  int interp_import_func;
  int interp_sysdict;
  int interp_builtins;
  int interp_builtins_copy;
  int interp_sysdict_copy;
  int interp_dict;
  int interp_codec_search_path;
  int interp_codec_search_cache;
  int interp_codec_error_registry;
  int interp_before_forkers;
  int interp_after_forkers_parent;
  int interp_after_forkers_child;
  int interp_audit_hooks;
  int interp_warnings_filters;
  int interp_warnings_once;
  int interp_atexit_callbacks;
  int interp_atexit_count;
  int interp_exit_module;
  int interp_interned;
  int interp_own_lock;
  int interp_static_types;
  int interp_size;
  int static_type_size;
  int static_type_dict;
  int static_type_count;
  int static_type_ext;
  int static_type_ext_first;
  int breaker;
  int drop_request;
  int gc_enabled_back;
  int thread_interp;
  int thread_frame;
  int thread_exception;
  int thread_exception_type;
  int thread_exception_traceback;
  int thread_exc_info;
  int thread_dict;
  int thread_async_exc;
  int thread_context;
  int thread_profileobj;
  int thread_traceobj;
  int thread_firstiter;
  int thread_finalizer;
  int thread_ident;
  int cframe_current;
  int handled_value;
  int handled_type;
  int handled_traceback;
  int handled_previous;
  int frame_back;
  int frame_code;
  int frame_builtins;
  int frame_globals;
  int frame_locals;
  int frame_extra_locals;
  int frame_trace;
  int frame_stack;
  int frame_stacktop;
  int frame_stackdepth;
  int frame_last;
  int frame_lineno;
  int frame_fast;
  int frame_inner;
  int frame_data;
  int inner_code;
  int inner_function;
  int inner_globals;
  int inner_locals;
  int inner_object;
  int inner_previous;
  int inner_instruction;
  int inner_stacktop;
  int inner_owner;
  int inner_fast;
  int code_consts;
  int code_names;
  int code_varnames;
  int code_freevars;
  int code_cellvars;
  int code_fast_names;
  int code_fast_kinds;
  int code_fast_count;
  int code_free_count;
  int code_local_count;
  int code_stack_size;
  int code_filename;
  int code_name;
  int code_qualname;
  int code_lines;
  int code_exceptions;
  int code_bytes;
  int code_cached;
  int code_first_line;
  int code_instructions;
  int code_zombie;
  int code_cell2arg;
  int code_extra;
  int function_code;
  int function_globals;
  int function_defaults;
  int function_builtins;
  int function_kwdefaults;
  int function_closure;
  int function_doc;
  int function_name;
  int function_dict;
  int function_module;
  int function_annotations;
  int function_qualname;
  int function_typeparams;
  int generator_frame;
  int generator_code;
  int generator_name;
  int generator_qualname;
  int generator_handled;
  int generator_handled_type;
  int generator_handled_traceback;
  int generator_state;
  int coroutine_origin;
  int asyncgen_finalizer;
  int heap_type_name;
  int heap_type_slots;
  int heap_type_qualname;
  int heap_type_cached_keys;
  int heap_type_module;
  int heap_type_getitem;
  int heap_type_init;
  int heap_type_size;
  int type_size;
  int exception_dict;
  int exception_args;
  int exception_notes;
  int exception_traceback;
  int exception_context;
  int exception_cause;
  int context_previous;
  int context_vars;
  int contextvar_name;
  int contextvar_default;
  int runtime_size;
  int str_ascii_size;
  int str_compact_size;
  int str_size;
  int dict_keys_size;
};

inline constexpr Offsets kOffsets[] = {
    // clang-format off
    {
     8,  // minor; measured on 3.8.18
     56,  // interp_modules
     64,  // interp_modules_by_index
     88,  // interp_importlib
     560,  // interp_import_func
     72,  // interp_sysdict
     80,  // interp_builtins
     552,  // interp_builtins_copy
     -1,  // interp_sysdict_copy
     544,  // interp_dict
     120,  // interp_codec_search_path
     128,  // interp_codec_search_cache
     136,  // interp_codec_error_registry
     2624,  // interp_before_forkers
     2632,  // interp_after_forkers_parent
     2640,  // interp_after_forkers_child
     2704,  // interp_audit_hooks
     -1,  // interp_warnings_filters
     -1,  // interp_warnings_once
     -1,  // interp_atexit_callbacks
     -1,  // interp_atexit_count
     2656,  // interp_exit_module
     -1,  // interp_interned
     -1,  // interp_own_lock
     -1,  // interp_static_types
     2720,  // interp_size
     -1,  // static_type_size
     -1,  // static_type_dict
     -1,  // static_type_count
     -1,  // static_type_ext
     -1,  // static_type_ext_first
     592,  // breaker
     596,  // drop_request
     12,  // gc_enabled_back
     16,  // thread_interp
     24,  // thread_frame
     96,  // thread_exception
     88,  // thread_exception_type
     104,  // thread_exception_traceback
     144,  // thread_exc_info
     152,  // thread_dict
     168,  // thread_async_exc
     240,  // thread_context
     72,  // thread_profileobj
     80,  // thread_traceobj
     224,  // thread_firstiter
     232,  // thread_finalizer
     176,  // thread_ident
     -1,  // cframe_current
     8,  // handled_value
     0,  // handled_type
     16,  // handled_traceback
     24,  // handled_previous
     24,  // frame_back
     32,  // frame_code
     40,  // frame_builtins
     48,  // frame_globals
     56,  // frame_locals
     -1,  // frame_extra_locals
     80,  // frame_trace
     64,  // frame_stack
     72,  // frame_stacktop
     -1,  // frame_stackdepth
     104,  // frame_last
     108,  // frame_lineno
     360,  // frame_fast
     -1,  // frame_inner
     -1,  // frame_data
     -1,  // inner_code
     -1,  // inner_function
     -1,  // inner_globals
     -1,  // inner_locals
     -1,  // inner_object
     -1,  // inner_previous
     -1,  // inner_instruction
     -1,  // inner_stacktop
     -1,  // inner_owner
     -1,  // inner_fast
     56,  // code_consts
     64,  // code_names
     72,  // code_varnames
     80,  // code_freevars
     88,  // code_cellvars
     -1,  // code_fast_names
     -1,  // code_fast_kinds
     -1,  // code_fast_count
     -1,  // code_free_count
     28,  // code_local_count
     32,  // code_stack_size
     104,  // code_filename
     112,  // code_name
     -1,  // code_qualname
     120,  // code_lines
     -1,  // code_exceptions
     48,  // code_bytes
     -1,  // code_cached
     40,  // code_first_line
     -1,  // code_instructions
     128,  // code_zombie
     96,  // code_cell2arg
     144,  // code_extra
     16,  // function_code
     24,  // function_globals
     32,  // function_defaults
     -1,  // function_builtins
     40,  // function_kwdefaults
     48,  // function_closure
     56,  // function_doc
     64,  // function_name
     72,  // function_dict
     88,  // function_module
     96,  // function_annotations
     104,  // function_qualname
     -1,  // function_typeparams
     16,  // generator_frame
     32,  // generator_code
     48,  // generator_name
     56,  // generator_qualname
     72,  // generator_handled
     64,  // generator_handled_type
     80,  // generator_handled_traceback
     -1,  // generator_state
     96,  // coroutine_origin
     96,  // asyncgen_finalizer
     848,  // heap_type_name
     856,  // heap_type_slots
     864,  // heap_type_qualname
     872,  // heap_type_cached_keys
     -1,  // heap_type_module
     -1,  // heap_type_getitem
     -1,  // heap_type_init
     880,  // heap_type_size
     416,  // type_size
     16,  // exception_dict
     24,  // exception_args
     -1,  // exception_notes
     32,  // exception_traceback
     40,  // exception_context
     48,  // exception_cause
     16,  // context_previous
     24,  // context_vars
     16,  // contextvar_name
     24,  // contextvar_default
     1464,  // runtime_size
     48,  // str_ascii_size
     72,  // str_compact_size
     80,  // str_size
     40,  // dict_keys_size
    },
    {
     9,  // minor; measured on 3.9.18
     856,  // interp_modules
     864,  // interp_modules_by_index
     888,  // interp_importlib
     1392,  // interp_import_func
     872,  // interp_sysdict
     880,  // interp_builtins
     1384,  // interp_builtins_copy
     -1,  // interp_sysdict_copy
     1376,  // interp_dict
     912,  // interp_codec_search_path
     920,  // interp_codec_search_cache
     928,  // interp_codec_error_registry
     3456,  // interp_before_forkers
     3464,  // interp_after_forkers_parent
     3472,  // interp_after_forkers_child
     3536,  // interp_audit_hooks
     3504,  // interp_warnings_filters
     3512,  // interp_warnings_once
     -1,  // interp_atexit_callbacks
     -1,  // interp_atexit_count
     3488,  // interp_exit_module
     -1,  // interp_interned
     -1,  // interp_own_lock
     -1,  // interp_static_types
     5656,  // interp_size
     -1,  // static_type_size
     -1,  // static_type_dict
     -1,  // static_type_count
     -1,  // static_type_ext
     -1,  // static_type_ext_first
     72,  // breaker
     76,  // drop_request
     12,  // gc_enabled_back
     16,  // thread_interp
     24,  // thread_frame
     96,  // thread_exception
     88,  // thread_exception_type
     104,  // thread_exception_traceback
     144,  // thread_exc_info
     152,  // thread_dict
     168,  // thread_async_exc
     240,  // thread_context
     72,  // thread_profileobj
     80,  // thread_traceobj
     224,  // thread_firstiter
     232,  // thread_finalizer
     176,  // thread_ident
     -1,  // cframe_current
     8,  // handled_value
     0,  // handled_type
     16,  // handled_traceback
     24,  // handled_previous
     24,  // frame_back
     32,  // frame_code
     40,  // frame_builtins
     48,  // frame_globals
     56,  // frame_locals
     -1,  // frame_extra_locals
     80,  // frame_trace
     64,  // frame_stack
     72,  // frame_stacktop
     -1,  // frame_stackdepth
     104,  // frame_last
     108,  // frame_lineno
     360,  // frame_fast
     -1,  // frame_inner
     -1,  // frame_data
     -1,  // inner_code
     -1,  // inner_function
     -1,  // inner_globals
     -1,  // inner_locals
     -1,  // inner_object
     -1,  // inner_previous
     -1,  // inner_instruction
     -1,  // inner_stacktop
     -1,  // inner_owner
     -1,  // inner_fast
     56,  // code_consts
     64,  // code_names
     72,  // code_varnames
     80,  // code_freevars
     88,  // code_cellvars
     -1,  // code_fast_names
     -1,  // code_fast_kinds
     -1,  // code_fast_count
     -1,  // code_free_count
     28,  // code_local_count
     32,  // code_stack_size
     104,  // code_filename
     112,  // code_name
     -1,  // code_qualname
     120,  // code_lines
     -1,  // code_exceptions
     48,  // code_bytes
     -1,  // code_cached
     40,  // code_first_line
     -1,  // code_instructions
     128,  // code_zombie
     96,  // code_cell2arg
     144,  // code_extra
     16,  // function_code
     24,  // function_globals
     32,  // function_defaults
     -1,  // function_builtins
     40,  // function_kwdefaults
     48,  // function_closure
     56,  // function_doc
     64,  // function_name
     72,  // function_dict
     88,  // function_module
     96,  // function_annotations
     104,  // function_qualname
     -1,  // function_typeparams
     16,  // generator_frame
     32,  // generator_code
     48,  // generator_name
     56,  // generator_qualname
     72,  // generator_handled
     64,  // generator_handled_type
     80,  // generator_handled_traceback
     -1,  // generator_state
     96,  // coroutine_origin
     96,  // asyncgen_finalizer
     840,  // heap_type_name
     848,  // heap_type_slots
     856,  // heap_type_qualname
     864,  // heap_type_cached_keys
     872,  // heap_type_module
     -1,  // heap_type_getitem
     -1,  // heap_type_init
     880,  // heap_type_size
     408,  // type_size
     16,  // exception_dict
     24,  // exception_args
     -1,  // exception_notes
     32,  // exception_traceback
     40,  // exception_context
     48,  // exception_cause
     16,  // context_previous
     24,  // context_vars
     16,  // contextvar_name
     24,  // contextvar_default
     656,  // runtime_size
     48,  // str_ascii_size
     72,  // str_compact_size
     80,  // str_size
     40,  // dict_keys_size
    },
    {
     10,  // minor; measured on 3.10.13
     856,  // interp_modules
     864,  // interp_modules_by_index
     888,  // interp_importlib
     1360,  // interp_import_func
     872,  // interp_sysdict
     880,  // interp_builtins
     1352,  // interp_builtins_copy
     -1,  // interp_sysdict_copy
     1344,  // interp_dict
     912,  // interp_codec_search_path
     920,  // interp_codec_search_cache
     928,  // interp_codec_error_registry
     3424,  // interp_before_forkers
     3432,  // interp_after_forkers_parent
     3440,  // interp_after_forkers_child
     3504,  // interp_audit_hooks
     3456,  // interp_warnings_filters
     3464,  // interp_warnings_once
     3488,  // interp_atexit_callbacks
     3496,  // interp_atexit_count
     -1,  // interp_exit_module
     -1,  // interp_interned
     -1,  // interp_own_lock
     -1,  // interp_static_types
     113528,  // interp_size
     -1,  // static_type_size
     -1,  // static_type_dict
     -1,  // static_type_count
     -1,  // static_type_ext
     -1,  // static_type_ext_first
     68,  // breaker
     72,  // drop_request
     12,  // gc_enabled_back
     16,  // thread_interp
     24,  // thread_frame
     96,  // thread_exception
     88,  // thread_exception_type
     104,  // thread_exception_traceback
     144,  // thread_exc_info
     152,  // thread_dict
     168,  // thread_async_exc
     240,  // thread_context
     72,  // thread_profileobj
     80,  // thread_traceobj
     224,  // thread_firstiter
     232,  // thread_finalizer
     176,  // thread_ident
     -1,  // cframe_current
     8,  // handled_value
     0,  // handled_type
     16,  // handled_traceback
     24,  // handled_previous
     24,  // frame_back
     32,  // frame_code
     40,  // frame_builtins
     48,  // frame_globals
     56,  // frame_locals
     -1,  // frame_extra_locals
     72,  // frame_trace
     64,  // frame_stack
     -1,  // frame_stacktop
     80,  // frame_stackdepth
     96,  // frame_last
     100,  // frame_lineno
     352,  // frame_fast
     -1,  // frame_inner
     -1,  // frame_data
     -1,  // inner_code
     -1,  // inner_function
     -1,  // inner_globals
     -1,  // inner_locals
     -1,  // inner_object
     -1,  // inner_previous
     -1,  // inner_instruction
     -1,  // inner_stacktop
     -1,  // inner_owner
     -1,  // inner_fast
     56,  // code_consts
     64,  // code_names
     72,  // code_varnames
     80,  // code_freevars
     88,  // code_cellvars
     -1,  // code_fast_names
     -1,  // code_fast_kinds
     -1,  // code_fast_count
     -1,  // code_free_count
     28,  // code_local_count
     32,  // code_stack_size
     104,  // code_filename
     112,  // code_name
     -1,  // code_qualname
     120,  // code_lines
     -1,  // code_exceptions
     48,  // code_bytes
     -1,  // code_cached
     40,  // code_first_line
     -1,  // code_instructions
     -1,  // code_zombie
     96,  // code_cell2arg
     144,  // code_extra
     48,  // function_code
     16,  // function_globals
     56,  // function_defaults
     24,  // function_builtins
     64,  // function_kwdefaults
     72,  // function_closure
     80,  // function_doc
     32,  // function_name
     88,  // function_dict
     104,  // function_module
     112,  // function_annotations
     40,  // function_qualname
     -1,  // function_typeparams
     16,  // generator_frame
     24,  // generator_code
     40,  // generator_name
     48,  // generator_qualname
     64,  // generator_handled
     56,  // generator_handled_type
     72,  // generator_handled_traceback
     -1,  // generator_state
     88,  // coroutine_origin
     88,  // asyncgen_finalizer
     848,  // heap_type_name
     856,  // heap_type_slots
     864,  // heap_type_qualname
     872,  // heap_type_cached_keys
     880,  // heap_type_module
     -1,  // heap_type_getitem
     -1,  // heap_type_init
     888,  // heap_type_size
     408,  // type_size
     16,  // exception_dict
     24,  // exception_args
     -1,  // exception_notes
     32,  // exception_traceback
     40,  // exception_context
     48,  // exception_cause
     16,  // context_previous
     24,  // context_vars
     16,  // contextvar_name
     24,  // contextvar_default
     672,  // runtime_size
     48,  // str_ascii_size
     72,  // str_compact_size
     80,  // str_size
     40,  // dict_keys_size
    },
    {
     11,  // minor; measured on 3.11.7
     888,  // interp_modules
     896,  // interp_modules_by_index
     920,  // interp_importlib
     1416,  // interp_import_func
     904,  // interp_sysdict
     912,  // interp_builtins
     1408,  // interp_builtins_copy
     -1,  // interp_sysdict_copy
     1400,  // interp_dict
     936,  // interp_codec_search_path
     944,  // interp_codec_search_cache
     952,  // interp_codec_error_registry
     3480,  // interp_before_forkers
     3488,  // interp_after_forkers_parent
     3496,  // interp_after_forkers_child
     3552,  // interp_audit_hooks
     3504,  // interp_warnings_filters
     3512,  // interp_warnings_once
     3536,  // interp_atexit_callbacks
     3544,  // interp_atexit_count
     -1,  // interp_exit_module
     -1,  // interp_interned
     -1,  // interp_own_lock
     -1,  // interp_static_types
     107752,  // interp_size
     -1,  // static_type_size
     -1,  // static_type_dict
     -1,  // static_type_count
     -1,  // static_type_ext
     -1,  // static_type_ext_first
     100,  // breaker
     104,  // drop_request
     12,  // gc_enabled_back
     16,  // thread_interp
     56,  // thread_frame
     104,  // thread_exception
     96,  // thread_exception_type
     112,  // thread_exception_traceback
     120,  // thread_exc_info
     128,  // thread_dict
     144,  // thread_async_exc
     224,  // thread_context
     80,  // thread_profileobj
     88,  // thread_traceobj
     208,  // thread_firstiter
     216,  // thread_finalizer
     152,  // thread_ident
     8,  // cframe_current
     0,  // handled_value
     -1,  // handled_type
     -1,  // handled_traceback
     8,  // handled_previous
     16,  // frame_back
     -1,  // frame_code
     -1,  // frame_builtins
     -1,  // frame_globals
     -1,  // frame_locals
     -1,  // frame_extra_locals
     32,  // frame_trace
     -1,  // frame_stack
     -1,  // frame_stacktop
     -1,  // frame_stackdepth
     -1,  // frame_last
     40,  // frame_lineno
     -1,  // frame_fast
     24,  // frame_inner
     48,  // frame_data
     32,  // inner_code
     0,  // inner_function
     8,  // inner_globals
     24,  // inner_locals
     40,  // inner_object
     48,  // inner_previous
     56,  // inner_instruction
     64,  // inner_stacktop
     69,  // inner_owner
     72,  // inner_fast
     24,  // code_consts
     32,  // code_names
     -1,  // code_varnames
     -1,  // code_freevars
     -1,  // code_cellvars
     96,  // code_fast_names
     104,  // code_fast_kinds
     76,  // code_fast_count
     92,  // code_free_count
     80,  // code_local_count
     68,  // code_stack_size
     112,  // code_filename
     120,  // code_name
     128,  // code_qualname
     136,  // code_lines
     40,  // code_exceptions
     152,  // code_bytes
     -1,  // code_cached
     72,  // code_first_line
     184,  // code_instructions
     -1,  // code_zombie
     -1,  // code_cell2arg
     176,  // code_extra
     48,  // function_code
     16,  // function_globals
     56,  // function_defaults
     24,  // function_builtins
     64,  // function_kwdefaults
     72,  // function_closure
     80,  // function_doc
     32,  // function_name
     88,  // function_dict
     104,  // function_module
     112,  // function_annotations
     40,  // function_qualname
     -1,  // function_typeparams
     80,  // generator_frame
     16,  // generator_code
     32,  // generator_name
     40,  // generator_qualname
     48,  // generator_handled
     -1,  // generator_handled_type
     -1,  // generator_handled_traceback
     75,  // generator_state
     64,  // coroutine_origin
     64,  // asyncgen_finalizer
     848,  // heap_type_name
     856,  // heap_type_slots
     864,  // heap_type_qualname
     872,  // heap_type_cached_keys
     880,  // heap_type_module
     896,  // heap_type_getitem
     -1,  // heap_type_init
     904,  // heap_type_size
     408,  // type_size
     16,  // exception_dict
     24,  // exception_args
     32,  // exception_notes
     40,  // exception_traceback
     48,  // exception_context
     56,  // exception_cause
     16,  // context_previous
     24,  // context_vars
     16,  // contextvar_name
     24,  // contextvar_default
     166688,  // runtime_size
     48,  // str_ascii_size
     72,  // str_compact_size
     80,  // str_size
     32,  // dict_keys_size
    },
    {
     12,  // minor; measured on 3.12.1
     944,  // interp_modules
     952,  // interp_modules_by_index
     960,  // interp_importlib
     984,  // interp_import_func
     352,  // interp_sysdict
     360,  // interp_builtins
     1736,  // interp_builtins_copy
     1728,  // interp_sysdict_copy
     1720,  // interp_dict
     1248,  // interp_codec_search_path
     1256,  // interp_codec_search_cache
     1264,  // interp_codec_error_registry
     3872,  // interp_before_forkers
     3880,  // interp_after_forkers_parent
     3888,  // interp_after_forkers_child
     267208,  // interp_audit_hooks
     3896,  // interp_warnings_filters
     3904,  // interp_warnings_once
     3944,  // interp_atexit_callbacks
     3952,  // interp_atexit_count
     -1,  // interp_exit_module
     382936,  // interp_interned
     392,  // interp_own_lock
     373704,  // interp_static_types
     383552,  // interp_size
     40,  // static_type_size
     16,  // static_type_dict
     200,  // static_type_count
     -1,  // static_type_ext
     -1,  // static_type_ext_first
     368,  // breaker
     372,  // drop_request
     12,  // gc_enabled_back
     16,  // thread_interp
     56,  // thread_frame
     96,  // thread_exception
     -1,  // thread_exception_type
     -1,  // thread_exception_traceback
     104,  // thread_exc_info
     112,  // thread_dict
     128,  // thread_async_exc
     208,  // thread_context
     80,  // thread_profileobj
     88,  // thread_traceobj
     192,  // thread_firstiter
     200,  // thread_finalizer
     136,  // thread_ident
     0,  // cframe_current
     0,  // handled_value
     -1,  // handled_type
     -1,  // handled_traceback
     8,  // handled_previous
     16,  // frame_back
     -1,  // frame_code
     -1,  // frame_builtins
     -1,  // frame_globals
     -1,  // frame_locals
     -1,  // frame_extra_locals
     32,  // frame_trace
     -1,  // frame_stack
     -1,  // frame_stacktop
     -1,  // frame_stackdepth
     -1,  // frame_last
     40,  // frame_lineno
     -1,  // frame_fast
     24,  // frame_inner
     48,  // frame_data
     0,  // inner_code
     16,  // inner_function
     24,  // inner_globals
     40,  // inner_locals
     48,  // inner_object
     8,  // inner_previous
     56,  // inner_instruction
     64,  // inner_stacktop
     70,  // inner_owner
     72,  // inner_fast
     24,  // code_consts
     32,  // code_names
     -1,  // code_varnames
     -1,  // code_freevars
     -1,  // code_cellvars
     96,  // code_fast_names
     104,  // code_fast_kinds
     72,  // code_fast_count
     88,  // code_free_count
     80,  // code_local_count
     64,  // code_stack_size
     112,  // code_filename
     120,  // code_name
     128,  // code_qualname
     136,  // code_lines
     40,  // code_exceptions
     -1,  // code_bytes
     152,  // code_cached
     68,  // code_first_line
     192,  // code_instructions
     -1,  // code_zombie
     -1,  // code_cell2arg
     184,  // code_extra
     48,  // function_code
     16,  // function_globals
     56,  // function_defaults
     24,  // function_builtins
     64,  // function_kwdefaults
     72,  // function_closure
     80,  // function_doc
     32,  // function_name
     88,  // function_dict
     104,  // function_module
     112,  // function_annotations
     40,  // function_qualname
     120,  // function_typeparams
     72,  // generator_frame
     -1,  // generator_code
     24,  // generator_name
     32,  // generator_qualname
     40,  // generator_handled
     -1,  // generator_handled_type
     -1,  // generator_handled_traceback
     67,  // generator_state
     56,  // coroutine_origin
     56,  // asyncgen_finalizer
     856,  // heap_type_name
     864,  // heap_type_slots
     872,  // heap_type_qualname
     880,  // heap_type_cached_keys
     888,  // heap_type_module
     904,  // heap_type_getitem
     -1,  // heap_type_init
     920,  // heap_type_size
     416,  // type_size
     16,  // exception_dict
     24,  // exception_args
     32,  // exception_notes
     40,  // exception_traceback
     48,  // exception_context
     56,  // exception_cause
     16,  // context_previous
     24,  // context_vars
     16,  // contextvar_name
     24,  // contextvar_default
     459944,  // runtime_size
     40,  // str_ascii_size
     56,  // str_compact_size
     64,  // str_size
     32,  // dict_keys_size
    },
    {
     13,  // minor; measured on 3.13.0
     7656,  // interp_modules
     7664,  // interp_modules_by_index
     7672,  // interp_importlib
     7696,  // interp_import_func
     7640,  // interp_sysdict
     7648,  // interp_builtins
     8464,  // interp_builtins_copy
     8456,  // interp_sysdict_copy
     8448,  // interp_dict
     7960,  // interp_codec_search_path
     7968,  // interp_codec_search_cache
     7976,  // interp_codec_error_registry
     10632,  // interp_before_forkers
     10640,  // interp_after_forkers_parent
     10648,  // interp_after_forkers_child
     10808,  // interp_audit_hooks
     10656,  // interp_warnings_filters
     10664,  // interp_warnings_once
     10712,  // interp_atexit_callbacks
     10720,  // interp_atexit_count
     -1,  // interp_exit_module
     194328,  // interp_interned
     24,  // interp_own_lock
     182968,  // interp_static_types
     194968,  // interp_size
     48,  // static_type_size
     24,  // static_type_dict
     210,  // static_type_count
     9616,  // static_type_ext
     200,  // static_type_ext_first
     24,  // breaker
     -1,  // drop_request
     12,  // gc_enabled_back
     16,  // thread_interp
     72,  // thread_frame
     112,  // thread_exception
     -1,  // thread_exception_type
     -1,  // thread_exception_traceback
     120,  // thread_exc_info
     128,  // thread_dict
     144,  // thread_async_exc
     208,  // thread_context
     96,  // thread_profileobj
     104,  // thread_traceobj
     192,  // thread_firstiter
     200,  // thread_finalizer
     152,  // thread_ident
     -1,  // cframe_current
     0,  // handled_value
     -1,  // handled_type
     -1,  // handled_traceback
     8,  // handled_previous
     16,  // frame_back
     -1,  // frame_code
     -1,  // frame_builtins
     -1,  // frame_globals
     56,  // frame_locals
     48,  // frame_extra_locals
     32,  // frame_trace
     -1,  // frame_stack
     -1,  // frame_stacktop
     -1,  // frame_stackdepth
     -1,  // frame_last
     40,  // frame_lineno
     -1,  // frame_fast
     24,  // frame_inner
     64,  // frame_data
     0,  // inner_code
     16,  // inner_function
     24,  // inner_globals
     40,  // inner_locals
     48,  // inner_object
     8,  // inner_previous
     56,  // inner_instruction
     64,  // inner_stacktop
     70,  // inner_owner
     72,  // inner_fast
     24,  // code_consts
     32,  // code_names
     -1,  // code_varnames
     -1,  // code_freevars
     -1,  // code_cellvars
     96,  // code_fast_names
     104,  // code_fast_kinds
     72,  // code_fast_count
     88,  // code_free_count
     80,  // code_local_count
     64,  // code_stack_size
     112,  // code_filename
     120,  // code_name
     128,  // code_qualname
     136,  // code_lines
     40,  // code_exceptions
     -1,  // code_bytes
     160,  // code_cached
     68,  // code_first_line
     200,  // code_instructions
     -1,  // code_zombie
     -1,  // code_cell2arg
     192,  // code_extra
     48,  // function_code
     16,  // function_globals
     56,  // function_defaults
     24,  // function_builtins
     64,  // function_kwdefaults
     72,  // function_closure
     80,  // function_doc
     32,  // function_name
     88,  // function_dict
     104,  // function_module
     112,  // function_annotations
     40,  // function_qualname
     120,  // function_typeparams
     72,  // generator_frame
     -1,  // generator_code
     24,  // generator_name
     32,  // generator_qualname
     40,  // generator_handled
     -1,  // generator_handled_type
     -1,  // generator_handled_traceback
     67,  // generator_state
     56,  // coroutine_origin
     56,  // asyncgen_finalizer
     856,  // heap_type_name
     864,  // heap_type_slots
     872,  // heap_type_qualname
     880,  // heap_type_cached_keys
     888,  // heap_type_module
     904,  // heap_type_getitem
     920,  // heap_type_init
     928,  // heap_type_size
     416,  // type_size
     16,  // exception_dict
     24,  // exception_args
     32,  // exception_notes
     40,  // exception_traceback
     48,  // exception_context
     56,  // exception_cause
     16,  // context_previous
     24,  // context_vars
     16,  // contextvar_name
     24,  // contextvar_default
     283320,  // runtime_size
     40,  // str_ascii_size
     56,  // str_compact_size
     64,  // str_size
     32,  // dict_keys_size
    },
    // clang-format on
};

}  // namespace lowtide::probe::cpython
