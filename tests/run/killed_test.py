#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills at random moments, files cut short, disks that are full. usage: killed_test.py lowtide"""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

from lowtide_run import LOWTIDE, RunTest, main

GROWING = """
import sys, time
kept = []
for i in range(100000):
    kept.append(bytearray(100000))
    print('step', i, flush=True)
    time.sleep(0.02)
"""


class Killed(RunTest):
    def target_of(self, process):
        end = time.time() + 10
        while time.time() < end:
            with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
                children = file.read().split()
            if children:
                return int(children[0])
            time.sleep(0.002)
        self.fail("no target")

    def opens(self, recording):
        done = self.report(recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("lowtide: ", done.stdout)
        return done.stdout

    def test_the_recorder_killed_leaves_the_program_unharmed(self):
        process = self.start(["sh", "-c", "echo a; sleep 2; python3 -c 'print(\"b\")'; echo c; exit 3"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        target = self.target_of(process)
        time.sleep(0.5)
        process.kill()
        process.wait()
        self.assertTrue(os.path.exists(f"/proc/{target}"))
        with process.stdout:
            self.assertEqual(process.stdout.read(), "a\nb\nc\n")
        said = self.opens(self.recordings()[0])
        self.assertIn("the recorder ended before the program did", said)

    def test_kills_at_random_moments(self):
        chance = random.Random(20)
        script = self.write("grow.py", GROWING)
        for turn in range(30):
            who = ("target", "recorder", "both")[turn % 3]
            process = self.start([sys.executable, script], ("-q", "-o", "x.tide"),
                                 stdout=subprocess.DEVNULL)
            target = self.target_of(process)
            time.sleep(chance.uniform(0, 1.5))
            if who != "target":
                process.kill()
            if who != "recorder":
                os.kill(target, signal.SIGKILL)
            status = process.wait(60)
            if who == "target":
                self.assertEqual(status, 137)
            else:
                try:
                    os.kill(target, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            with self.subTest(turn=turn, who=who):
                said = self.opens(self.path("x.tide"))
                self.assertNotIn("cannot", said)
        time.sleep(2.5)
        self.lowtide(["true"])
        self.assertEqual(self.leftovers(), [])

    def test_folders_of_the_living_stay(self):
        process = self.start(["sleep", "5"])
        self.target_of(process)
        time.sleep(2.5)
        before = [name for name in self.leftovers() if name.startswith("lowtide-run-")]
        os.mkdir(os.path.join(self.temporary, "lowtide-run-0-somebody"))
        self.lowtide(["true"])
        self.assertTrue(set(before) <= set(self.leftovers()))
        self.assertEqual(len(before), 1)
        process.kill()
        process.wait()

    def test_a_file_cut_anywhere_or_from_the_future_says_so(self):
        self.lowtide([sys.executable, "-c", "import time\nx=[]\nfor i in range(30): "
                      "x.append(bytearray(300000)); print(i, flush=True); time.sleep(0.05)"],
                     ("-q", "-o", "x.tide"))
        with open(self.path("x.tide"), "rb") as file:
            whole = file.read()
        step = max(4096, len(whole) // 4096 // 40 * 4096)
        for length in range(0, len(whole), step):
            with open(self.path("cut.tide"), "wb") as file:
                file.write(whole[:length])
            for command in ("report", "heap", "plot"):
                done = self.bare([LOWTIDE, command, "cut.tide"])
                with self.subTest(length=length, command=command):
                    self.assertIn(done.returncode, (0, 3), done.stderr)
                    if done.returncode == 3:
                        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                        self.assertIn("cut.tide", done.stderr)
        shutil.copy(self.path("x.tide"), self.path("new.tide"))
        database = sqlite3.connect(self.path("new.tide"))
        database.execute("pragma user_version = 99")
        database.commit()
        database.close()
        done = self.report("new.tide")
        self.assertEqual(done.returncode, 3)
        self.assertIn("newer", done.stderr)


class Places(RunTest):
    def mount(self, name, options):
        folder = self.path(name)
        os.mkdir(folder)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder],
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("mounting needs root")
        self.addCleanup(subprocess.run, ["umount", "-l", folder])
        return folder

    def test_a_full_disk_to_write_to(self):
        folder = self.mount("small", "size=1m")
        noisy = [sys.executable, "-c", "import time\nx=[]\nfor i in range(60):\n x.append([str(j) for j in "
                 "range(9999)]); print(i, flush=True); time.sleep(0.03)\nraise SystemExit(6)"]
        done, found = self.found(noisy, ("-o", os.path.join(folder, "x.tide")))
        self.assertEqual(done.returncode, 6)
        self.assertEqual(done.stdout, "".join(f"{i}\n" for i in range(60)))
        self.assertEqual(self.report(os.path.join(folder, "x.tide")).returncode, 0)
        self.assertIn("the disk is full", done.stderr)
        full = self.path("small/filler")
        with open(full, "wb") as file:
            try:
                file.write(b"x" * (2 << 20))
            except OSError:
                pass
        done = self.bare([LOWTIDE, "run", "-q", "-o", os.path.join(folder, "y.tide"), "--", "true"])
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(os.path.exists(os.path.join(folder, "y.tide")), False)

    def test_a_full_temporary_folder(self):
        folder = self.mount("temporary", "size=64k")
        done = self.lowtide(["sh", "-c", "exit 4"], (), env={**os.environ, "TMPDIR": folder})
        self.assertEqual(done.returncode, 4)
        self.assertIn("no heap", done.stderr.replace("\n         ", " "))
        self.assertEqual(os.listdir(folder), [])

    def test_a_folder_that_cannot_be_written(self):
        folder = self.mount("readonly", "ro")
        done = subprocess.run([LOWTIDE, "run", "-q", "--", "sh", "-c", "pwd; exit 4"], cwd=folder,
                              env=self.environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (4, folder + "\n"))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(self.temporary, done.stderr)
        self.assertEqual(len([n for n in self.leftovers() if n.endswith(".tide")]), 1)

    def test_two_runs_at_once(self):
        started = [self.start(["sleep", "0.3"]) for _ in range(6)]
        self.assertEqual([process.wait(60) for process in started], [0] * 6)
        self.assertEqual(len(self.recordings()), 6)
        for recording in self.recordings():
            self.assertEqual(self.report(recording).returncode, 0)
        first = self.start(["sleep", "1"], ("-q", "-o", "one.tide"))
        time.sleep(0.4)
        second = self.lowtide(["true"], ("-q", "-o", "one.tide"))
        self.assertEqual(second.returncode, 3)
        self.assertIn("is writing", second.stderr)
        self.assertEqual(first.wait(30), 0)
        self.assertEqual(self.report(self.path("one.tide")).returncode, 0)

    def test_other_peoples_files_are_never_overwritten(self):
        mine = self.write("train.py", "precious")
        for path in (mine, "/dev/null", self.folder, self.path("no/such/folder/x")):
            done = self.lowtide(["touch", "ran"], ("-o", path))
            with self.subTest(path):
                self.assertEqual(done.returncode, 3)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertFalse(os.path.exists(self.path("ran")))
        self.assertEqual(self.read("train.py"), "precious")
        done = self.lowtide(["touch", "ran"], ("--json", self.path("no/such/x")))
        self.assertEqual((done.returncode, os.path.exists(self.path("ran"))), (3, False))
        self.assertEqual(self.recordings(), [])

    def test_what_cannot_start_leaves_nothing(self):
        self.write("bad", "#!/no/such/interpreter\n", 0o755)
        done = self.lowtide(["./bad"], ("--json", self.path("out.json")))
        self.assertEqual(done.returncode, 127)
        self.assertIn("/no/such/interpreter", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["bad", "tmp"])
        self.assertEqual(self.leftovers(), [])


if __name__ == "__main__":
    main()
