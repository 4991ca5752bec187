#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are asked for their heap go on as if nothing had been asked.

usage: asked_test.py lowtide_ask liblowtide_probe.so folder-of-programs [NAME...]
"""
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ASK, PROBE, PROGRAMS = sys.argv[1:4]
ONLY = sys.argv[4:]

# What a program can notice of a copy: threads, descriptors, children, warnings about threads.
WORK = """
import os, sys, time, threading, subprocess
def look():
    return (len(os.listdir("/proc/self/task")), sorted(os.listdir("/proc/self/fd"), key=int),
            threading.active_count())
before = look()
keep, end = [], time.time() + 3
while time.time() < end:
    keep.append(["x" * 1000 for _ in range(10)])
    time.sleep(0.001)
while len(os.listdir("/proc/self/task")) > before[0] and time.time() < end + 5: time.sleep(0.01)
print(look() == before)
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("no children")
pid = os.fork()
if pid == 0:
    os._exit(4)
print(os.waitpid(pid, 0)[1])
print(subprocess.run(["unshare", "-U", "true"]).returncode)
"""
SEEN = "True\nno children\n1024\n0\n"

STORM = """
import os, threading, subprocess, time
end = time.time() + 4
def threads():
    while time.time() < end:
        made = [threading.Thread(target=lambda: [0] * 10000) for _ in range(8)]
        for t in made: t.start()
        for t in made: t.join()
def children():
    while time.time() < end:
        subprocess.run(["true"], check=True)
def forks():
    while time.time() < end:
        pid = os.fork()
        if pid == 0:
            os._exit(len([1] * 5000) % 7)
        assert os.waitpid(pid, 0)[1] == 5000 % 7 << 8
workers = [threading.Thread(target=f) for f in (threads, children, forks)]
for w in workers: w.start()
for w in workers: w.join()
print("done")
"""

# Other threads wake meanwhile; one takes the request, whose answer then waits for the lock.
HELD = """
import ctypes, os, threading, time
for i in range(30): threading.Thread(target=time.sleep, args=(0.3 + i * 0.05,)).start()
libc = ctypes.PyDLL(None)  # Its calls keep the interpreter's lock.
time.sleep(0.3)
print(libc.usleep(1500000))
time.sleep(1)
print(len(os.listdir("/proc/self/task")))
"""

WAITS = """
import select, time
end = time.time() + 3
while time.time() < end:
    select.select([], [], [], 0.02)
print("woke")
"""


def ask(command, *options):
    """The command's result, and what lowtide_ask said of each request."""
    with tempfile.TemporaryFile("w+") as report:
        done = subprocess.run([ASK, "--probe", PROBE, "--report", str(report.fileno()), *options,
                               "--", *command], pass_fds=[report.fileno()], timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        report.seek(0)
        return done, report.read()


def expect(done, report, stdout, answers, status=0):
    problems = []
    if done.stdout != stdout or done.returncode != status or done.stderr:
        problems.append(f"status {done.returncode} stdout {done.stdout!r} stderr {done.stderr!r}")
    if answers is not None and len(re.findall("answer 2 ", report)) != answers:
        problems.append(f"wanted {answers} copies: {report}")
    return problems


def pythons():
    found = {"": "/usr/bin/python3"}
    for path in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))):
        minor = int(path.split("/")[-3].split(".")[1])
        if 8 <= minor <= 14:
            found[f"3.{minor}"] = path
    return {name: path for name, path in found.items() if os.path.exists(path)}


def test_a_copy_leaves_no_trace():
    problems = []
    for name, path in pythons().items():
        done, report = ask([path, "-W", "error", "-c", WORK], "--after", "500", "--times", "3")
        problems += [f"{name}: {text}" for text in expect(done, report, SEEN, 3)]
    return problems


def test_storms_of_threads_and_children():
    done, report = ask(["/usr/bin/python3", "-c", STORM], "--after", "150", "--times", "12")
    return expect(done, report, "done\n", 12)


def test_a_lock_that_is_held_is_given_up():
    done, report = ask(["/usr/bin/python3", "-c", HELD], "--after", "700", "--patience", "300")
    problems = expect(done, report, "0\n1\n", 0)
    return problems + ([] if "answer 1 " in report else [f"was never taken: {report}"])


def test_a_program_that_only_waits_is_heard():
    done, report = ask(["/usr/bin/python3", "-c", WAITS], "--after", "800")
    return expect(done, report, "woke\n", 1)


def test_a_program_without_an_interpreter_says_so():
    done, report = ask(["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; echo end"],
                       "--after", "300")
    problems = expect(done, report, "end\n", 0)
    return problems + ([] if "no Python interpreter" in report else [report])


def test_lines_and_rounds_are_counted():
    code = "import sys\nfor i in range(7): print('step', i, 'loss', 1 / (i + 1)); sys.stdout.flush()"
    done, report = ask(["/usr/bin/python3", "-c", code], "--lines", "--round", "step")
    shapes = set(re.findall(r"shape (\w+) matched 1", report))
    if len(re.findall("matched 1", report)) != 7 or len(shapes) != 1 or "rounds 7" not in report:
        return [report]
    return []


def test_a_table_that_is_none_puts_the_probe_to_sleep():
    environment = {"PATH": "/usr/bin:/bin", "A": "1"}
    command = ["sh", "-c", "env; /usr/bin/python3 -c 'print(len([bytearray(9999)] * 9))'"]
    plain = subprocess.run(command, env=environment, stdout=subprocess.PIPE).stdout
    problems = []
    with tempfile.TemporaryDirectory() as parent:
        def folder(name, make):
            path = os.path.join(parent, name)
            os.mkdir(path)
            make(os.path.join(path, "table"))
            return path
        def write(data):
            return lambda path: open(path, "wb").write(data)
        folders = [folder("none", lambda path: None), folder("empty", write(b"")),
                   folder("zeros", write(bytes(4 << 20))), folder("fifo", os.mkfifo),
                   folder("folder", os.mkdir), folder("loop", lambda path: os.symlink(path, path)),
                   parent + "/missing", "relative", "", "/" + "x" * 5000]
        for run in folders:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20,
                                  env={**environment, "LD_PRELOAD": PROBE, "LOWTIDE_RUN": run})
            if done.stdout != plain or done.stderr or done.returncode:
                problems.append(f"{run[:60]}: {done}")
    return problems


def test_the_copy_ends_with_its_asker():
    """The recorder is killed while a heap comes: target and nothing else lives on."""
    code = "keep = [[i] for i in range(1500000)]\nimport time\nprint('ready', flush=True)\n" \
           "end = time.time() + 4\nwhile time.time() < end: keep.append(bytearray(9999)); time.sleep(0.01)\n" \
           "print('lived', flush=True)"
    asker = subprocess.Popen([ASK, "--probe", PROBE, "--after", "1000", "--times", "5", "--",
                              "/usr/bin/python3", "-c", code], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    asker.stdout.readline()
    time.sleep(0.9)
    asker.send_signal(signal.SIGKILL)
    rest = asker.stdout.read()  # Ends only when neither target nor copy holds the pipe.
    asker.wait()
    return [] if rest == "lived\n" else [repr(rest)]


def main():
    failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (ONLY and name not in ONLY):
            continue
        problems = test()
        print(("FAILED " if problems else "ok     ") + name[5:].replace("_", " "))
        for problem in problems:
            print("  " + problem)
        failed += bool(problems)
    return 1 if failed else 0


sys.exit(main())
