#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/probe/cpython/offsets.h: where CPython keeps what the walker reads.

    usage: tools/python_offsets.py python3.8 python3.9 ... > src/probe/cpython/offsets.h

Each interpreter named must come with its headers, internal/ included. A C program is built
against them, so the table cannot drift from what was compiled; only the list of fields below is
kept by hand. A field is (name, {first minor version: C expression}); an expression stands until
the next one, and None says that the field has gone.
"""
import pathlib
import subprocess
import sys
import tempfile
import textwrap


def at(struct, member):
    return f"offsetof({struct}, {member})"


def members(prefix, struct, table):
    """{'name': 'member'} or {'name': {8: 'member', 11: None}}"""
    rows = []
    for name, member in table.items():
        by_version = member if isinstance(member, dict) else {8: member}
        rows.append((prefix + name, {k: v and at(struct, v) for k, v in by_version.items()}))
    return rows


FIELDS = (
    # The interpreter.
    members("interp_", "struct _is", {
        "modules": {8: "modules", 12: "imports.modules"},
        "modules_by_index": {8: "modules_by_index", 12: "imports.modules_by_index"},
        "importlib": {8: "importlib", 12: "imports.importlib"},
        "import_func": {8: "import_func", 12: "imports.import_func"},
        "sysdict": "sysdict",
        "builtins": "builtins",
        "builtins_copy": "builtins_copy",
        "sysdict_copy": {8: None, 12: "sysdict_copy"},
        "dict": "dict",
        "codec_search_path": {8: "codec_search_path", 13: "codecs.search_path"},
        "codec_search_cache": {8: "codec_search_cache", 13: "codecs.search_cache"},
        "codec_error_registry": {8: "codec_error_registry", 13: "codecs.error_registry"},
        "before_forkers": "before_forkers",
        "after_forkers_parent": "after_forkers_parent",
        "after_forkers_child": "after_forkers_child",
        "audit_hooks": "audit_hooks",
        "warnings_filters": {8: None, 9: "warnings.filters"},
        "warnings_once": {8: None, 9: "warnings.once_registry"},
        "atexit_callbacks": {8: None, 10: "atexit.callbacks"},
        "atexit_count": {8: None, 10: "atexit.ncallbacks"},
        "exit_module": {8: "pyexitmodule", 10: None},
        "interned": {8: None, 12: "cached_objects.interned_strings"},
        "own_lock": {8: None, 12: "ceval.own_gil"},
        "static_types": {8: None, 12: "types.builtins", 13: "types.builtins.initialized"},
    }) + [
        ("interp_size", {8: "sizeof(struct _is)"}),
        ("static_type_size", {8: None, 12: "sizeof(static_builtin_state)",
                              13: "sizeof(managed_static_type_state)"}),
        ("static_type_dict", {8: None, 12: at("static_builtin_state", "tp_dict"),
                              13: at("managed_static_type_state", "tp_dict")}),
        ("static_type_count", {
            8: None, 12: "_Py_MAX_STATIC_BUILTIN_TYPES",
            13: "_Py_MAX_MANAGED_STATIC_BUILTIN_TYPES + _Py_MAX_MANAGED_STATIC_EXT_TYPES"}),
        ("static_type_ext", {
            8: None, 13: at("struct _is", "types.for_extensions.initialized") + " - "
            + at("struct _is", "types.builtins.initialized")}),
        ("static_type_ext_first", {8: None, 13: "_Py_MAX_MANAGED_STATIC_BUILTIN_TYPES"}),
        # What makes the interpreter pause and give its lock away. In 3.8 of the runtime, in 3.13 of
        # the thread (eval_breaker), else of the interpreter.
        ("breaker", {8: at("_PyRuntimeState", "ceval.eval_breaker"),
                     9: at("struct _is", "ceval.eval_breaker"),
                     13: at("struct _ts", "eval_breaker")}),
        ("drop_request", {8: at("_PyRuntimeState", "ceval.gil_drop_request"),
                          9: at("struct _is", "ceval.gil_drop_request"), 13: None}),
        # The collector: how far before the youngest generation its switch is.
        ("gc_enabled_back", {8: at("struct _gc_runtime_state", "generations") + " - "
                             + at("struct _gc_runtime_state", "enabled")}),
    ]
    # A thread.
    + members("thread_", "struct _ts", {
        "interp": "interp",
        "frame": {8: "frame", 11: "cframe", 13: "current_frame"},
        "exception": {8: "curexc_value", 12: "current_exception"},
        "exception_type": {8: "curexc_type", 12: None},
        "exception_traceback": {8: "curexc_traceback", 12: None},
        "exc_info": "exc_info",
        "dict": "dict",
        "async_exc": "async_exc",
        "context": "context",
        "profileobj": "c_profileobj",
        "traceobj": "c_traceobj",
        "firstiter": "async_gen_firstiter",
        "finalizer": "async_gen_finalizer",
        "ident": "thread_id",
    }) + [
        ("cframe_current", {8: None, 11: at("_PyCFrame", "current_frame"), 13: None}),
    ]
    + members("handled_", "_PyErr_StackItem", {
        "value": "exc_value", "type": {8: "exc_type", 11: None},
        "traceback": {8: "exc_traceback", 11: None}, "previous": "previous_item"})
    # Frame objects; from 3.11 the frame itself is elsewhere.
    + members("frame_", "PyFrameObject", {
        "back": "f_back",
        "code": {8: "f_code", 11: None},
        "builtins": {8: "f_builtins", 11: None},
        "globals": {8: "f_globals", 11: None},
        "locals": {8: "f_locals", 11: None, 13: "f_locals_cache"},
        "extra_locals": {8: None, 13: "f_extra_locals"},
        "trace": "f_trace",
        "stack": {8: "f_valuestack", 11: None},
        "stacktop": {8: "f_stacktop", 10: None},
        "stackdepth": {8: None, 10: "f_stackdepth", 11: None},
        "last": {8: "f_lasti", 11: None},
        "lineno": "f_lineno",
        "fast": {8: "f_localsplus", 11: None},
        "inner": {8: None, 11: "f_frame"},
        "data": {8: None, 11: "_f_frame_data"},
    })
    + members("inner_", "_PyInterpreterFrame", {
        "code": {8: None, 11: "f_code", 13: "f_executable"},
        "function": {8: None, 11: "f_func", 12: "f_funcobj"},
        "globals": {8: None, 11: "f_globals"},
        "locals": {8: None, 11: "f_locals"},
        "object": {8: None, 11: "frame_obj"},
        "previous": {8: None, 11: "previous"},
        "instruction": {8: None, 11: "prev_instr", 13: "instr_ptr"},
        "stacktop": {8: None, 11: "stacktop"},
        "owner": {8: None, 11: "owner"},
        "fast": {8: None, 11: "localsplus"},
    })
    + members("code_", "PyCodeObject", {
        "consts": "co_consts",
        "names": "co_names",
        "varnames": {8: "co_varnames", 11: None},
        "freevars": {8: "co_freevars", 11: None},
        "cellvars": {8: "co_cellvars", 11: None},
        "fast_names": {8: None, 11: "co_localsplusnames"},
        "fast_kinds": {8: None, 11: "co_localspluskinds"},
        "fast_count": {8: None, 11: "co_nlocalsplus"},
        "free_count": {8: None, 11: "co_nfreevars"},
        "local_count": "co_nlocals",
        "stack_size": "co_stacksize",
        "filename": "co_filename",
        "name": "co_name",
        "qualname": {8: None, 11: "co_qualname"},
        "lines": {8: "co_lnotab", 10: "co_linetable"},
        "exceptions": {8: None, 11: "co_exceptiontable"},
        "bytes": {8: "co_code", 11: "_co_code", 12: None},
        "cached": {8: None, 12: "_co_cached"},
        "first_line": "co_firstlineno",
        "instructions": {8: None, 11: "co_code_adaptive"},
        "zombie": {8: "co_zombieframe", 10: None},
        "cell2arg": {8: "co_cell2arg", 11: None},
        "extra": "co_extra",
    })
    + members("function_", "PyFunctionObject", {
        "code": "func_code", "globals": "func_globals", "defaults": "func_defaults",
        "builtins": {8: None, 10: "func_builtins"},
        "kwdefaults": "func_kwdefaults", "closure": "func_closure", "doc": "func_doc",
        "name": "func_name", "dict": "func_dict", "module": "func_module",
        "annotations": "func_annotations", "qualname": "func_qualname",
        "typeparams": {8: None, 12: "func_typeparams"},
    })
    + members("generator_", "PyGenObject", {
        "frame": {8: "gi_frame", 11: "gi_iframe"},
        "code": {8: "gi_code", 12: None},
        "name": "gi_name", "qualname": "gi_qualname",
        "handled": "gi_exc_state.exc_value",
        "handled_type": {8: "gi_exc_state.exc_type", 11: None},
        "handled_traceback": {8: "gi_exc_state.exc_traceback", 11: None},
        "state": {8: None, 11: "gi_frame_state"},
    }) + [
        ("coroutine_origin", {8: at("PyCoroObject", "cr_origin"),
                              11: at("PyCoroObject", "cr_origin_or_finalizer")}),
        ("asyncgen_finalizer", {8: at("PyAsyncGenObject", "ag_finalizer"),
                                11: at("PyAsyncGenObject", "ag_origin_or_finalizer")}),
    ]
    + members("heap_type_", "PyHeapTypeObject", {
        "name": "ht_name", "slots": "ht_slots", "qualname": "ht_qualname",
        "cached_keys": "ht_cached_keys", "module": {8: None, 9: "ht_module"},
        "getitem": {8: None, 11: "_spec_cache.getitem"},
        "init": {8: None, 13: "_spec_cache.init"},
    }) + [
        ("heap_type_size", {8: "sizeof(PyHeapTypeObject)"}),
        ("type_size", {8: "sizeof(PyTypeObject)"}),
    ]
    + members("exception_", "PyBaseExceptionObject", {
        "dict": "dict", "args": "args", "notes": {8: None, 11: "notes"},
        "traceback": "traceback", "context": "context", "cause": "cause"})
    + members("context_", "PyContext", {"previous": "ctx_prev", "vars": "ctx_vars"})
    + members("contextvar_", "PyContextVar", {"name": "var_name", "default": "var_default"})
    + [
        ("runtime_size", {8: "sizeof(_PyRuntimeState)"}),
        ("str_ascii_size", {8: "sizeof(PyASCIIObject)"}),
        ("str_compact_size", {8: "sizeof(PyCompactUnicodeObject)"}),
        ("str_size", {8: "sizeof(PyUnicodeObject)"}),
        # Private to dictobject.c before 3.11.
        ("dict_keys_size", {8: "40", 11: at("PyDictKeysObject", "dk_indices")}),
    ]
)

INCLUDES = """
#define Py_BUILD_CORE 1
#include "Python.h"
#include "frameobject.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_context.h"
#if PY_MINOR_VERSION == 8
#include "internal/pycore_pymem.h"
#endif
#if PY_MINOR_VERSION >= 9
#include "internal/pycore_interp.h"
#include "internal/pycore_gc.h"
#endif
#if PY_MINOR_VERSION >= 11
#include "internal/pycore_frame.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_code.h"
#endif
#include <stddef.h>
#include <stdio.h>
"""


def expression(by_version, minor):
    known = [v for v in sorted(by_version) if v <= minor]
    return by_version[known[-1]] if known else None


def row(python):
    text = subprocess.run(
        [python, "-c", "import sys, sysconfig; print(*sys.version_info[:3],"
         " sysconfig.get_paths()['include'])"], check=True, capture_output=True, text=True).stdout
    _, minor, patch, include = text.split()
    lines = []
    for _, by_version in FIELDS:
        value = expression(by_version, int(minor)) or "-1"
        lines.append(f'    printf("%d\\n", (int)({value}));')
    program = INCLUDES + "int main(void) {\n" + "\n".join(lines) + "\n    return 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder, "row.c"), pathlib.Path(folder, "row")
        source.write_text(program)
        subprocess.run(["cc", "-w", f"-I{include}", f"-I{include}/internal", source, "-o", binary],
                       check=True)
        values = subprocess.run([binary], check=True, capture_output=True, text=True).stdout
    text = textwrap.fill(", ".join([minor] + values.split()), 92)
    return f"    {{  // measured on 3.{minor}.{patch}\n{textwrap.indent(text, '     ')}}},"


def main(pythons):
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Written by tools/python_offsets.py from CPython's own headers; do not edit.")
    print("#pragma once\n\n// One row a version: where CPython keeps what the walker reads, in")
    print("// bytes from the start of the struct; -1 where a version has no such field.\n")
    print("namespace lowtide::probe::cpython {\n\n// clang-format off\nstruct Offsets {")
    names = textwrap.fill(", ".join(["minor"] + [name for name, _ in FIELDS]), 92)
    print(textwrap.indent("int " + names + ";", "  "))
    print("};\n\ninline constexpr Offsets kOffsets[] = {")
    for python in pythons:
        print(row(python))
    print("};\n// clang-format on\n\n}  // namespace lowtide::probe::cpython")


main(sys.argv[1:])
