#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program at a terminal: Ctrl-C, Ctrl-Z, fg, the background. usage: terminal_test.py lowtide"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

from lowtide_run import RunTest, main

COUNTING = """
import os, signal, sys, time
n = 0
def note(*a):
    global n
    n += 1
signal.signal(signal.SIGINT, note)
print('ready', flush=True)
end = time.time() + 20
while n == 0 and time.time() < end:
    time.sleep(0.05)
time.sleep(0.5)
print('interrupts', n, flush=True)
"""


class Terminal(RunTest):
    def setUp(self):
        super().setUp()
        self.shell, self.master = pty.fork()
        if self.shell == 0:
            os.chdir(self.folder)
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"],
                      {**self.environment, "PS1": "P> ", "TERM": "dumb", "HISTFILE": "/dev/null"})
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 37, 91, 0, 0))
        self.output = ""
        self.wait_for("P> ")

    def tearDown(self):
        os.kill(self.shell, signal.SIGKILL)
        os.close(self.master)
        os.waitpid(self.shell, 0)
        super().tearDown()

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, pattern, seconds=20):
        """Reads until the pattern is there; forgets all up to it."""
        end = time.time() + seconds
        while True:
            found = re.search(pattern, self.output)
            if found:
                self.output = self.output[found.end():]
                return found
            left = end - time.time()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                raise AssertionError(f"no {pattern!r} in {self.output!r}")
            self.output += os.read(self.master, 65536).decode(errors="replace")

    def run_line(self, inner):
        return " ".join(self.command([inner])) + "\n"

    def test_is_a_terminal_of_the_same_size(self):
        show = ("import os,sys; print([os.isatty(n) for n in range(3)], os.get_terminal_size(), "
                "os.tcgetpgrp(0) == os.getpgrp(), os.ttyname(0) == os.ttyname(1), 'shown')")
        script = self.write("show.py", show)
        self.type(self.run_line(f"python3 {script}"))
        self.wait_for(r"\[True, True, True\] os.terminal_size\(columns=91, lines=37\) True True shown")
        self.wait_for("P> ")

    def test_control_c_comes_once_and_the_status_is_the_programs(self):
        script = self.write("count.py", COUNTING)
        self.type(self.run_line(f"python3 {script}"))
        self.wait_for("ready")
        self.type("\x03")
        self.wait_for("interrupts 1")
        self.wait_for("P> ")
        self.type(self.run_line("sleep 20"))
        time.sleep(0.6)
        self.type("\x03")
        self.wait_for("P> ")
        self.type("echo status $?\n")
        self.wait_for(r"status 130")

    def test_control_z_stops_the_job_and_fg_goes_on(self):
        # Nothing is started after "up": a child stopped between vfork and exec keeps its parent from
        # being stopped, with and without lowtide.
        self.type(self.run_line("sh -c 'echo up; read line; echo got $line'"))
        self.wait_for(r"up\r")
        self.type("\x1a")
        self.wait_for("Stopped")
        self.wait_for("P> ")
        self.type("fg\n")
        time.sleep(0.5)
        self.type("word\n")
        self.wait_for("got word")
        self.wait_for("P> ")
        self.type("echo status $?\n")
        self.wait_for("status 0")

    def test_a_program_that_keeps_control_z_for_itself_runs_on(self):
        self.type(self.run_line("sh -c 'trap \"echo kept\" TSTP; echo up; sleep 1; sleep 1; echo end'"))
        self.wait_for(r"up\r")
        script = self.write("keep.py", "import signal,time\nsignal.signal(signal.SIGTSTP, lambda *a: "
                            "print('kept', flush=True))\nprint('upp', flush=True)\n"
                            "time.sleep(1)\nprint('end', flush=True)\n")
        self.wait_for(r"end\r")
        self.wait_for("P> ")
        self.type(self.run_line(f"python3 {script}"))
        self.wait_for("upp")
        self.type("\x1a")
        self.wait_for("kept")
        self.wait_for(r"end\r")
        self.wait_for("P> ")

    def test_reading_in_the_background_stops_the_job(self):
        self.type(self.run_line("sh -c 'echo up; read line; echo got $line'").strip() + " &\n")
        self.wait_for(r"up\r")
        time.sleep(1)
        self.type("\n")
        self.wait_for("Stopped")
        self.type("fg\n")
        time.sleep(0.5)
        self.type("word\n")
        self.wait_for("got word")

    def test_the_program_alone_stopped_and_woken_holds_nobody_up(self):
        self.type(self.run_line("sh -c 'echo up; kill -STOP $$ & exec sleep 1'").replace(
            "kill -STOP $$", "(kill -STOP $$; sleep 0.5; kill -CONT $$ $PPID)"))
        self.wait_for(r"up\r")
        time.sleep(2.5)
        self.type("fg 2>/dev/null; echo status $?\n")
        self.wait_for("status")

    def test_hanging_up_ends_the_program(self):
        self.type(self.run_line("sh -c 'echo $$ > pid; echo up; exec sleep 30'"))
        self.wait_for(r"up\r")
        pid = int(self.read("pid"))
        os.kill(self.shell, signal.SIGHUP)
        end = time.time() + 10
        while os.path.exists(f"/proc/{pid}") and time.time() < end:
            time.sleep(0.05)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))


if __name__ == "__main__":
    main()
