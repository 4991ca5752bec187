#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a reviewer should not have to look for.

    check_repo.py FOLDER [--no-compile]

File length, the SPDX line, headers that compile alone, clang-format, paths of somebody's machine, notes to
oneself left behind, pages that link to nothing.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

MOST_LINES = 600
SOURCES = {".h", ".cc", ".py", ".sh", ".cmake"}
BUILT = {"build", ".git", ".venv", "node_modules", "__pycache__"}
SOMEBODYS = re.compile(r"(?<![\w.:/])/(?:home|Users|root|work)/(?!me/|you/)[\w.-]+")
# In the code a reminder names an issue, TODO(#12), or is not there.
REMINDER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\(#\d+\))")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def files_of(root):
    """What git tracks or would; in an unpacked archive, everything that is not built."""
    asked = subprocess.run(["git", "-c", f"safe.directory={root}", "-C", root, "ls-files", "-co",
                            "--exclude-standard"], capture_output=True, text=True, check=False)
    if asked.returncode == 0:
        return [root / name for name in asked.stdout.splitlines() if (root / name).is_file()]
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in BUILT and not f.startswith("build-")]
        found += [pathlib.Path(folder) / name for name in names]
    return found


def is_script(path, text):
    return path.suffix in SOURCES or path.name == "CMakeLists.txt" or text.startswith("#!")


def check_text(root, path, problems):
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return  # a picture
    name = path.relative_to(root)
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if SOMEBODYS.search(line):
            problems.append(f"{name}:{number}: a path of somebody's machine")
        if is_script(path, text) and REMINDER.search(line):
            problems.append(f"{name}:{number}: a reminder without an issue's number")
    if is_script(path, text):
        generated = "Written by tools/" in "".join(lines[:6])
        if len(lines) > MOST_LINES and not generated:
            problems.append(f"{name}: {len(lines)} lines, at most {MOST_LINES}")
        if path.suffix in {".h", ".cc", ".py"} and "SPDX-License-Identifier: Apache-2.0" not in "".join(
                lines[:3]):
            problems.append(f"{name}:1: no SPDX line")
        if path.suffix == ".h" and not re.search(r"^#pragma once$|^#ifndef LOWTIDE_", text, re.M):
            problems.append(f"{name}: no include guard")
    if path.suffix == ".md":
        for target in LINK.findall(text):
            if not (path.parent / target).exists():
                problems.append(f"{name}: links to {target}, which is not there")


def compiles_alone(root, header):
    """C++ for all; what crosses to other processes (wire/) must be plain C too, unless it says C++."""
    compiler = shutil.which("g++") or shutil.which("c++")
    runs = [[compiler, "-fsyntax-only", "-x", "c++", "-std=c++20", "-Wall", "-Wextra",
             f"-I{root}/src", f"-I{root}/include", "-include", str(header), os.devnull]]
    if header.parent == root / "src/wire" and "#pragma once" not in header.read_text():
        runs.append(["cc", "-fsyntax-only", "-x", "c", "-std=gnu11", "-Wall", "-Wextra", f"-I{root}/src",
                     str(header)])
    for run in runs:
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        if done.returncode or "warning:" in done.stderr:
            first = next((l for l in done.stderr.splitlines() if "error" in l or "warning" in l), "?")
            return f"{header.relative_to(root)}: does not compile alone: {first.strip()}"
    return None


def check_format(root, sources, problems):
    program = shutil.which("clang-format-14")
    if not program:
        problems.append("clang-format-14 is not installed")
        return
    for start in range(0, len(sources), 40):
        done = subprocess.run([program, "--dry-run", *map(str, sources[start:start + 40])],
                              capture_output=True, text=True, check=False, cwd=root)
        for file in sorted(set(re.findall(r"^(.*?):\d+:\d+: warning", done.stderr, re.M))):
            problems.append(f"{os.path.relpath(file, root)}: not formatted (tools/format.sh)")


def main(words):
    if not words or len(words) > 2:
        print(__doc__)
        return 2
    root, problems = pathlib.Path(words[0]).resolve(), []
    files = files_of(root)
    for path in sorted(files):
        check_text(root, path, problems)
    sources = sorted(p for p in files if p.suffix in {".h", ".cc"})
    check_format(root, sources, problems)
    headers = [p for p in sources if p.suffix == ".h"]
    if "--no-compile" not in words:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            problems += filter(None, pool.map(lambda h: compiles_alone(root, h), headers))
    print("\n".join(problems + [f"repository: {len(files)} files, {len(problems)} problems"]))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
