#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole trees of processes, limits and the OOM killer. usage: tree_test.py lowtide"""
import os
import resource
import signal
import subprocess
import sys
import time

from lowtide_run import LOWTIDE, RunTest, main

MEMORY = "/sys/fs/cgroup/memory"


class Tree(RunTest):
    def test_children_of_threads_daemons_and_chains(self):
        script = self.write("tree.py", """
import os, subprocess, sys, threading, time
def child():
    subprocess.run([sys.executable, '-c', 'import time; x = bytearray(60 << 20); time.sleep(0.8)'])
thread = threading.Thread(target=child); thread.start()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        x = bytearray(40 << 20)
        time.sleep(0.9)
        os._exit(0)
    os._exit(0)
os.wait()
thread.join()
time.sleep(0.3)
os.execvp('sh', ['sh', '-c', 'exec sh -c "exec sleep 0.3"'])
""")
        done, found = self.found([sys.executable, script], ("--heap", "off"))
        self.assertEqual(done.returncode, 0)
        self.assertGreater(found["peak_bytes"], 105 << 20)
        self.assertIn(found["processes"], (3, 4))

    def test_thousands_of_short_ones_are_counted(self):
        loop = "i=0; while [ $i -lt 2000 ]; do /bin/true; i=$((i+1)); done"
        done, found = self.found(["sh", "-c", loop])
        self.assertEqual(done.returncode, 0)
        self.assertGreater(found["processes"] + sum(
            int(note.split()[0]) for note in found.get("notes", []) if "between two samples" in note),
            1500)

    def test_one_shorter_than_a_sample_leaves_its_peak(self):
        done, found = self.found([sys.executable, "-c", "x = b'x' * (150 << 20)"], ("--interval", "20s"))
        self.assertGreater(found["peak_bytes"], 150 << 20)

    def test_pools_behave(self):
        for kind in ("fork", "spawn", "forkserver"):
            script = self.write("pool.py", f"""
import multiprocessing as m
def f(x): return x * x
if __name__ == '__main__':
    with m.get_context('{kind}').Pool(3) as pool:
        print(sum(pool.map(f, range(1000))))
""")
            with self.subTest(kind):
                self.same([sys.executable, "-W", "error", script])

    def test_our_copies_are_nobodys_processes(self):
        script = self.write("one.py", "import time\nx=[]\nfor i in range(120):\n"
                            "  x.append([str(j) for j in range(3000)]); time.sleep(0.02)\n")
        for _ in range(3):
            done, found = self.found([sys.executable, script])
            self.assertEqual(found["processes"], 1)
            self.assertNotIn("between two samples", done.stderr)
        self.assertEqual(self.leftovers(), [])

    def test_as_the_first_process_of_a_container(self):
        lead = ["unshare", "-fp", "--mount-proc", "--"]
        if subprocess.run([*lead, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("unshare needs root")
        orphans = "for i in 1 2 3; do (sleep 0.1 & ); done; sleep 0.7; ps -A -o stat= | grep -c Z; exit 9"
        done = self.bare([*lead, *self.command(["sh", "-c", orphans])])
        self.assertEqual((done.stdout, done.returncode), ("0\n", 9))
        process = subprocess.Popen(
            [*lead, *self.command(["sh", "-c", "trap 'echo term; exit 5' TERM; echo up; sleep 20 & wait"])],
            cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True)
        with process.stdout:
            self.assertEqual(process.stdout.readline(), "up\n")
            with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
                os.kill(int(file.read().split()[0]), signal.SIGTERM)
            self.assertEqual(process.stdout.readline(), "term\n")
        self.assertEqual(process.wait(30), 5)

    def test_a_container_inside_the_tree(self):
        inner = ["unshare", "-fp", "--mount-proc", "--", sys.executable, "-c",
                 "import time\nx = bytearray(50 << 20); time.sleep(1); print('in')"]
        done, found = self.found(inner)
        self.assertEqual((done.stdout, done.returncode), ("in\n", 0))
        self.assertEqual(found["processes"], 2)
        self.assertGreater(found["peak_bytes"], 50 << 20)

    def test_the_recorder_is_small(self):
        process = self.start([sys.executable, "-c", "import time\nx=[]\nfor i in range(300): "
                              "x.append(bytearray(10000)); time.sleep(0.02)"])
        time.sleep(4)
        with open(f"/proc/{process.pid}/status") as file:
            peak = int(file.read().split("VmHWM:")[1].split()[0])
        ticks = 0
        with open(f"/proc/{process.pid}/stat") as file:
            ticks = sum(int(n) for n in file.read().split(")")[1].split()[11:13])
        process.wait(60)
        print(f"recorder: {peak / 1024:.1f} MiB, {ticks / os.sysconf('SC_CLK_TCK') / 4:.1%} of a core")
        self.assertLess(peak, 24 << 10)


class Limits(RunTest):
    def group(self, limit):
        folder = f"{MEMORY}/lowtide-test-{os.getpid()}"
        try:
            os.mkdir(folder)
        except OSError:
            self.skipTest("a group of cgroup v1 needs root")
        self.addCleanup(self.remove, folder)
        with open(f"{folder}/memory.limit_in_bytes", "w") as file:
            file.write(str(limit))
        return folder

    def remove(self, folder):
        for _ in range(50):
            try:
                return os.rmdir(folder)
            except OSError:
                time.sleep(0.1)

    def inside(self, folder):
        def enter():
            with open(f"{folder}/cgroup.procs", "w") as file:
                file.write(str(os.getpid()))
        return enter

    def test_the_limit_is_shown_and_reached_in_time(self):
        folder = self.group(400 << 20)
        leak = ("import time\nx=[]\nfor i in range(150):\n x.append(b'x' * 1000000); "
                "print('step', i, flush=True); time.sleep(0.05)")
        done, found = self.found([sys.executable, "-c", leak], ("--round", "^step"),
                                 preexec_fn=self.inside(folder))
        self.assertEqual(found["limit_bytes"], 400 << 20)
        self.assertIn("400 MiB (container limit)", done.stderr.replace("\n", " ").replace("\u00a0", " "))
        self.assertEqual(found["verdict"]["name"], "leak", found["verdict"])
        self.assertGreater(found["verdict"]["seconds_to_limit"], 3)
        self.assertLess(found["verdict"]["seconds_to_limit"], 60)

    def test_an_oom_kill_is_told_from_a_kill(self):
        folder = self.group(120 << 20)
        grow = "import time\nx=[]\nwhile True: x.append(b'x' * 3000000); time.sleep(0.03)"
        done, found = self.found([sys.executable, "-c", grow], preexec_fn=self.inside(folder))
        self.assertEqual((done.returncode, found["exit"]["signal"], found["exit"]["oom"]), (137, 9, True),
                         done.stderr)
        self.assertIn("OOM killer took", done.stderr)
        self.assertIn("120 MiB", done.stderr)
        done, found = self.found(["sh", "-c", "sleep 0.5; kill -9 $$"], preexec_fn=self.inside(folder))
        self.assertEqual((done.returncode, found["exit"]["oom"]), (137, False))
        self.assertNotIn("OOM killer took", done.stderr)

    def test_an_address_space_limit(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
        done, found = self.found(["sh", "-c", "sleep 0.3; ulimit -v"], preexec_fn=limit)
        self.assertEqual((done.returncode, done.stdout), (0, f"{600 << 10}\n"))
        self.assertEqual(found["limit_bytes"], 600 << 20)


if __name__ == "__main__":
    main()
