#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recording a process tree: `lowtide run` beside mprof (memory_profiler).

    bench/recorder.py [--lowtide build/release/bin/lowtide] [--seconds 8] [--only lowtide,mprof]

One program is watched by each. It has N idle children, and writes to a page of its own every
millisecond or two, so that each reading of it differs from the last and can be counted in what
the recorder left. The recorder's processor time is the kernel's, taken while the program runs.
"""
import argparse
import os
import sqlite3
import subprocess
import sys
import time

import bench

# argv: folder, children
IDLE = """
import mmap, os, pathlib, signal, sys, time
folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
environment = dict(os.environ)
children = [os.posix_spawn('/bin/sleep', ['sleep', '3600'], environment) for _ in range(count)]
area, page = mmap.mmap(-1, 32 << 20), 0
(folder / 'ready').write_text(str(os.getpid()))
while not (folder / 'stop').exists():
    for _ in range(50):
        area[page * 4096] = 1
        page += 1
        if page == 8192:
            area.madvise(mmap.MADV_DONTNEED)
            page = 0
        time.sleep(0.001)
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""

# argv: folder, children, one after another
SHORT = """
import os, pathlib, sys, time
folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
environment = dict(os.environ)
began = time.monotonic()
for _ in range(count):
    os.waitpid(os.posix_spawn('/bin/true', ['true'], environment), 0)
took = time.monotonic() - began
(folder / 'ready.new').write_text(str(took))
(folder / 'ready.new').rename(folder / 'ready')
while not (folder / 'stop').exists():
    time.sleep(0.01)
"""


class Mprof:
    name = "mprof"

    def __init__(self, python):
        self.python = python

    def command(self, folder, hertz, program):
        return [self.python, "-m", "mprof", "run", "--include-children", "--interval",
                str(1 / hertz), "--output", str(folder / "x.dat"), *program]

    def times(self, folder):
        lines = (folder / "x.dat").read_text().splitlines()
        return [float(line.split()[2]) for line in lines if line.startswith("MEM")]

    def children(self, folder):
        return "not told"


class Lowtide:
    name = "lowtide"

    def __init__(self, program):
        self.program = program

    def command(self, folder, hertz, program):
        return [self.program, "run", "--quiet", "--heap", "off", "--interval",
                f"{1000 / hertz:g}ms", "--out", str(folder / "x.tide"), "--", *program]

    def query(self, folder, sql):
        return sqlite3.connect(folder / "x.tide").execute(sql).fetchall()

    def times(self, folder):
        # The command is the process without a parent.
        return [t for (t,) in self.query(folder, "select seconds from samples where process = ("
                "select min(id) from processes where parent = 0) order by seconds")]

    def children(self, folder):
        return f"{self.query(folder, 'select count(*) from processes')[0][0] - 1:,}"


def run(tool, folder, hertz, program):
    log = open(folder / "log", "w")
    command = tool.command(folder, hertz, program) if tool else program
    return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder.path)


def finish(process, folder):
    folder.tell("stop")
    if process.wait(timeout=300) != 0:
        bench.say((folder / "log").read_text()[-2000:])
        raise RuntimeError(f"the recorder ended with {process.returncode}")


def idle(tool, hertz, children, seconds):
    with bench.Folder() as folder:
        process = run(tool, folder, hertz, [sys.executable, "-c", IDLE, str(folder.path), str(children)])
        folder.hear("ready", process)
        time.sleep(1)
        began, before = time.monotonic(), bench.cpu_seconds(process.pid)
        time.sleep(seconds)
        share = (bench.cpu_seconds(process.pid) - before) / (time.monotonic() - began)
        resident = bench.status_bytes(process.pid, "VmHWM")
        finish(process, folder)
        times = [t for t in tool.times(folder)]
        # Without its beginning and its end, where processes come and go.
        times = [t for t in times if times[-1] - seconds <= t <= times[-1] - 0.3]
        gaps = [b - a for a, b in zip(times, times[1:])]
        return [f"{children} idle children, {hertz} Hz", tool.name, f"{100 * share:.2f} %",
                f"{len(gaps) / (times[-1] - times[0]):.1f}", bench.milliseconds(max(gaps)),
                bench.mib(resident), "", ""]


def short_lived(tool, count, alone):
    with bench.Folder() as folder:
        process = run(tool, folder, 10, [sys.executable, "-c", SHORT, str(folder.path), str(count)])
        took = float(folder.hear("ready", process, limit=1200))
        cpu = bench.cpu_seconds(process.pid)
        resident = bench.status_bytes(process.pid, "VmHWM")
        finish(process, folder)
        if tool is None:
            return took
        return [f"{count:,} short-lived children, 10 Hz", tool.name, f"{100 * cpu / took:.2f} %", "", "",
                bench.mib(resident), f"×{took / alone:.2f}", tool.children(folder)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--lowtide", help="the program to measure")
    arguments.add_argument("--seconds", type=float, default=8)
    arguments.add_argument("--only", default="lowtide,mprof")
    arguments.add_argument("--short", type=int, default=10_000, help="short-lived children")
    options = arguments.parse_args()
    tools = []
    for name in options.only.split(","):
        tools.append(Lowtide(bench.lowtide(options.lowtide)) if name == "lowtide"
                     else Mprof(bench.peers("memory_profiler==0.61.0")))
    rows = []
    for hertz, counts in ((10, (1, 20, 100, 500)), (100, (1, 20, 100))):
        for children in counts:
            for tool in tools:
                bench.say(f"{tool.name}: {children} children at {hertz} Hz")
                rows.append(idle(tool, hertz, children, options.seconds))
    for tool in tools:
        bench.say(f"{tool.name}: {options.short} short-lived children")
        alone = short_lived(None, options.short, 0)  # anew each time: the machine changes
        rows.append(short_lived(tool, options.short, alone))
    bench.table("### Recording a process tree",
                ["work", "recorder", "of a core", "readings/s", "widest gap", "its memory",
                 "program's time", "children seen"], rows)


if __name__ == "__main__":
    main()
