#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading a Python heap: lowtide beside pympler, guppy3 and objgraph.

    bench/python_heap.py [--lowtide build/release/bin/lowtide] [--objects 0.1,1,5] [--only ...]

A program holds a number of objects and reads the clock in a tight loop. Each tool is asked once,
in a program of its own, what the heap holds. The pause is the largest gap the loop saw: for a
library that is the call itself, since it runs in the program. `nothing` shows what the machine
does to the loop anyway, `fork` what the kernel takes to copy the process at all.

Memory is the program's peak above what it held, and for lowtide also what its copy of the program
wrote to (by smaps_rollup) and the whole of the process that asks and answers.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import bench

# argv: folder, objects, tool
TARGET = """
import gc, os, pathlib, sys, time
folder, count, tool = pathlib.Path(sys.argv[1]), int(float(sys.argv[2])), sys.argv[3]

def status(field):
    return next(int(l.split()[1]) * 1024 for l in open('/proc/self/status') if l.startswith(field + ':'))

def tell(name, text):
    (folder / (name + '.new')).write_text(text)
    (folder / (name + '.new')).rename(folder / name)

def build(count):
    # Five objects a row: the dict, its str, int, list and tuple.
    return [{'number': 1000 + i, 'name': f'row {i}', 'tags': [i % 100], 'place': (i % 50, -1)}
            for i in range(count // 5)]

def pympler():
    from pympler import muppy, summary
    objects = muppy.get_objects()
    summary.summarize(objects)
    return len(objects)

def guppy3():
    from guppy import hpy
    heap = hpy().heap()
    str(heap)
    return heap.count

def guppy3_path():
    from guppy import hpy
    return str(hpy().iso(rows[0]).shpaths).count('\\n')

def objgraph():
    import objgraph
    objgraph.most_common_types(limit=30)
    return len(gc.get_objects())

def objgraph_path():
    import objgraph
    return len(objgraph.find_backref_chain(rows[0], objgraph.is_proper_module))

def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    return 0  # its end is awaited by nobody, so that only the copying is measured

inline = {'pympler': pympler, 'guppy3': guppy3, 'guppy3 path': guppy3_path, 'objgraph': objgraph,
          'objgraph path': objgraph_path, 'fork': fork}
rows = build(count)
# Imports are no part of the pause.
for module in {'pympler': ['pympler.muppy', 'pympler.summary'], 'guppy3': ['guppy'],
               'objgraph': ['objgraph']}.get(tool.split()[0], []):
    __import__(module)
before = status('VmRSS')
pathlib.Path('/proc/self/clear_refs').write_text('5')  # the peak counts from here
tell('ready', str(os.getpid()))

clock = time.perf_counter
largest, seen = 0.0, 0
if tool in inline:
    began = clock()
    seen = inline[tool]()
    largest = clock() - began
else:
    while not (folder / 'stop').exists():
        last = clock()
        for _ in range(100_000):
            now = clock()
            if now - last > largest:
                largest = now - last
            last = now
tell('result', f'{largest} {status("VmHWM") - before} {before} {seen}')
"""


class CopyWatch(threading.Thread):
    """The largest private memory any other process with the target's program file has had."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.program = os.readlink(f"/proc/{pid}/exe")
        self.known = {p for p in self.processes()}
        self.most, self.stop = 0, threading.Event()

    def processes(self):
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if os.readlink(entry / "exe") == self.program:
                        yield entry.name
                except OSError:
                    pass

    def run(self):
        while not self.stop.wait(0.05):
            for pid in self.processes():
                if pid in self.known:
                    continue
                try:
                    for line in open(f"/proc/{pid}/smaps_rollup"):
                        if line.startswith("Private_Dirty:"):
                            self.most = max(self.most, int(line.split()[1]) * 1024)
                except OSError:
                    pass


def ask_lowtide(program, folder, pid):
    """Objects seen, the time to the answer, and the memory beside the target."""
    watch = CopyWatch(pid)
    watch.start()
    began = time.monotonic()
    command = [program, "heap", str(pid), "--json", "--most", "0"]
    with open(folder / "answer", "w") as answer:
        process = subprocess.Popen(command, stdout=answer, cwd=folder.path)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - began
    watch.stop.set()
    watch.join()
    if process.returncode != 0:
        raise RuntimeError(f"lowtide heap ended with {process.returncode}")
    return json.loads((folder / "answer").read_text()), took, watch.most + usage.ru_maxrss * 1024


def measure(tool, python, program, objects):
    with bench.Folder() as folder:
        # The folder of a virtual environment does not matter to the target.
        target = [python, "-c", TARGET, str(folder.path), str(objects), tool]
        if tool == "lowtide":
            target = [program, "run", "--quiet", "--heap", "off", "--out", str(folder / "x.tide"),
                      "--", *target]
        log = open(folder / "log", "w")
        process = subprocess.Popen(target, stdout=log, stderr=log, cwd=folder.path)
        try:
            pid = int(folder.hear("ready", process))
            beside, seen = 0, None
            if tool == "lowtide":
                answer, took, beside = ask_lowtide(program, folder, pid)
                seen = sum(row["count"] for row in answer["types"])
                folder.tell("stop")
            elif tool == "nothing":
                time.sleep(3)
                folder.tell("stop")
            largest, grown, before, counted = folder.hear("result", process, limit=900).split()
            process.wait(timeout=300)
        except Exception:
            process.kill()
            bench.say((folder / "log").read_text()[-2000:])
            raise
        largest, grown, before = float(largest), int(grown), int(before)
        if tool != "lowtide":
            took = largest
        extra = grown + beside
        return largest, [f"{objects / 1e6:g} M objects, {bench.mib(before)}", tool,
                bench.milliseconds(largest), "" if tool in ("nothing", "fork") else f"{took:.2f} s",
                bench.mib(extra), f"×{extra / before:.2f}",
                f"{seen if seen is not None else int(counted):,}" if tool not in ("nothing", "fork")
                and not tool.endswith("path") else ""]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--lowtide", help="the program to measure")
    arguments.add_argument("--objects", default="0.1,1,5", help="millions")
    arguments.add_argument("--only", default="nothing,fork,lowtide,objgraph,objgraph path,guppy3,"
                           "guppy3 path,pympler")
    options = arguments.parse_args()
    tools = options.only.split(",")
    python = bench.peers("pympler==1.1", "guppy3==3.1.7", "objgraph==3.7.0")
    program = bench.lowtide(options.lowtide) if "lowtide" in tools else ""
    rows = []
    for millions in options.objects.split(","):
        for tool in tools:
            bench.say(f"{tool}: {millions} M objects")
            # Pauses of milliseconds are at the mercy of the scheduler: the middle one of five.
            times = 5 if tool in ("nothing", "fork", "lowtide") else 1
            tries = [measure(tool, python, program, int(float(millions) * 1e6))
                     for _ in range(times)]
            rows.append(sorted(tries)[times // 2][1])
    bench.table("### Reading a Python heap",
                ["program", "tool", "pause", "answer after", "extra memory", "of the program's",
                 "objects seen"], rows)


if __name__ == "__main__":
    main()
