#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arrows point down. A module is a folder of src/ with a CMakeLists.txt; what lies in folders under it
is its own. It includes itself, what its CMakeLists.txt names in DEPS, and include/lowtide/; DEPS may only
name modules on a lower row."""
import pathlib
import re
import sys

ROWS = [
    {"base", "wire"},
    {"recording", "verdict", "heap"},
    {"watch", "report", "readers/cpython", "readers/v8", "readers/native", "readers/ledger"},
    {"cli"},
]
ISLANDS = {"probe": {"wire"}, "keep": {"wire"}}


def row(module):
    return next((i for i, names in enumerate(ROWS) if module in names), None)


def module_of(folder, modules):
    """The module a folder of src/ belongs to: itself, or the nearest above it."""
    while folder not in modules and "/" in folder:
        folder = folder.rsplit("/", 1)[0]
    return folder


def main(root):
    src, problems, deps = root / "src", [], {}
    for build in sorted(src.rglob("CMakeLists.txt")):
        name = str(build.parent.relative_to(src))
        named = re.search(r"DEPS ([^)]*)", build.read_text())
        words = re.split(r"PROGRAM|LINKS", named.group(1))[0].split() if named else []
        deps[name] = ISLANDS.get(name, set(words))
        if name not in ISLANDS and row(name) is None:
            problems.append(f"{build}: {name} has no row in tools/check_layers.py")
        for dep in words if name not in ISLANDS else []:
            if row(dep) is None or row(dep) >= row(name):
                problems.append(f"{build}: {name} may not depend on {dep}")
    for file in sorted(p for p in src.rglob("*") if p.suffix in (".h", ".cc")):
        module = module_of(str(file.parent.relative_to(src)), deps)
        for number, line in enumerate(file.read_text().splitlines(), 1):
            found = re.match(r'\s*#include "(.*)/[^/]*"', line)
            if not found or found.group(1) == "lowtide":
                continue
            target = module_of(found.group(1), deps)
            if module not in deps or target not in {module} | deps[module]:
                problems.append(f"{file}:{number}: {module} may not include {target}/")
    print("\n".join(problems + [f"layers: {len(deps)} modules, {len(problems)} problems"]))
    return bool(problems)


sys.exit(main(pathlib.Path(sys.argv[1])))
