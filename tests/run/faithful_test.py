#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program finds everything as it would without lowtide. usage: faithful_test.py lowtide [TEST]"""
import os
import resource
import signal
import subprocess
import sys
import time

from lowtide_run import RunTest, main

SHOW = """
import os, resource, signal, sys
print('group', os.getpgid(0) == int(sys.argv[1]), 'session', os.getsid(0))
print('mask', signal.pthread_sigmask(signal.SIG_BLOCK, []))
print(open('/proc/self/status').read().split('SigIgn:')[1].split()[0])
print('umask', oct(os.umask(0)), 'nice', os.nice(0), 'folder', os.getcwd())
print([resource.getrlimit(n) for n in range(16)])
print(sorted(os.environb.items()))
print(sys.argv[2:], os.path.basename(sys.executable))
print(sorted(os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd')[:-1]))
"""


class Inherited(RunTest):
    def shown(self, lowtide, **how):
        script = self.write("show.py", SHOW)
        inner = [sys.executable, script]
        command = self.command(inner) if lowtide else inner
        # A shell makes a group as a job has, so both can be asked for the same one.
        process = subprocess.Popen(
            ["setsid", "sh", "-c", 'exec "$0" "$@"', *command, "0", "-x", "--json", "--"],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
        out = process.communicate(timeout=60)[0]
        return [line for line in out.splitlines() if not line.startswith(("group", "["))] + [
            line for line in out.splitlines() if line.startswith("[") and "pipe:" not in line], out

    def test_limits_masks_and_environment(self):
        def odd():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGRTMIN + 3])
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            os.umask(0o027)
            os.nice(3)
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 4096))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        self.assertEqual(self.shown(True, preexec_fn=odd, restore_signals=False)[0],
                         self.shown(False, preexec_fn=odd, restore_signals=False)[0])

    def test_process_group_and_session(self):
        probe = "import os; print(os.getpgid(0) == os.getpgid(os.getppid()), os.getsid(0) == os.getsid(os.getppid()))"
        self.assertEqual(self.same([sys.executable, "-c", probe]).stdout, "True True\n")

    def test_closed_standard_descriptors_stay_closed(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            script = f'exec "$@" {closed}'
            fds = ("import os\nlines=[]\nfor n in range(3):\n  try: os.fstat(n); lines.append(n)\n"
                   "  except OSError: pass\nopen('fds','w').write(str(lines))")
            with self.subTest(closed):
                seen = []
                for command in ([sys.executable, "-c", fds],
                                self.command([sys.executable, "-c", fds])):
                    self.bare(["sh", "-c", script, "sh", *command])
                    seen.append(self.read("fds"))
                self.assertEqual(seen[0], seen[1])

    def test_an_odd_environment(self):
        for extra in ({"LD_PRELOAD": ""}, {"LD_PRELOAD": "libm.so.6"}):
            environment = {**self.environment, **extra}
            with self.subTest(extra):
                self.same(["/usr/bin/env"], env=environment)
        self.same(["/usr/bin/env"], env={})
        self.same(["sh", "-c", "env -i /usr/bin/env; env"])


class Files(RunTest):
    def contents(self, script, mode):
        results = []
        for watched in (False, True):
            path = self.write("stream", "abcdefghij\n" * 10)
            with open(path, mode) as file:
                if mode == "r+":
                    file.seek(5)
                inner = ["sh", "-c", script]
                command = self.command(inner) if watched else inner
                subprocess.run(command, cwd=self.folder, stdin=file, stdout=file, stderr=file,
                               env=self.environment, timeout=60)
                offset = os.lseek(file.fileno(), 0, os.SEEK_CUR)
            results.append((self.read("stream"), offset))
        self.assertEqual(results[0], results[1])

    def test_offsets_and_appending(self):
        self.contents("head -c 3 >/dev/null; echo new; exit 3", "r+")
        self.contents("echo out; echo err >&2", "a")
        self.contents("echo out; : > stream; echo again", "a")

    def test_a_reader_that_leaves(self):
        self.same(["sh", "-c", "yes | head -n 3; yes 2>&1 | head -c 5"])
        script = '"$@" | head -n 1; echo ${PIPESTATUS[0]}'
        for inner in (["yes"], ["sh", "-c", "trap '' PIPE; yes 2>/dev/null; echo $? >&2"]):
            alone = self.bare(["bash", "-c", script, "bash", *inner])
            watched = self.bare(["bash", "-c", script, "bash", *self.command(inner)])
            self.assertEqual((alone.stdout, alone.stderr), (watched.stdout, watched.stderr))

    def test_pipes_end_when_the_program_closes_them(self):
        reading, writing = os.pipe()
        process = self.start(["sh", "-c", "exec >&- 7>&-; sleep 30"], stdout=writing)
        os.close(writing)
        self.assertEqual(os.read(reading, 1), b"")
        self.assertIsNone(process.poll())
        process.terminate()
        process.wait(30)
        os.close(reading)
        reading, writing = os.pipe()
        process = self.start(["sh", "-c", "exec <&-; sleep 30"], stdin=reading)
        os.close(reading)
        with self.assertRaises(BrokenPipeError):
            while True:
                os.write(writing, b"x" * 4096)
        os.close(writing)
        process.terminate()
        process.wait(30)

    def test_other_descriptors_are_handed_down_and_let_go(self):
        reading, writing = os.pipe()
        process = self.start(["sh", "-c", f"echo down >&{writing}; exec {writing}>&-; sleep 30"],
                             pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading) as file:
            self.assertEqual(file.read(), "down\n")
        process.terminate()
        process.wait(30)

    def test_a_file_size_limit(self):
        limited = "ulimit -f 150; trap '' XFSZ; \"$@\""
        done = self.bare(["bash", "-c", limited, "bash", *self.command(["sh", "-c", "exit 5"])])
        self.assertEqual(done.returncode, 5, done.stderr)


class Endings(RunTest):
    def test_every_exit_status(self):
        for status in (0, 1, 2, 3, 42, 126, 127, 128, 137, 200, 255):
            self.assertEqual(self.lowtide(["sh", "-c", f"exit {status}"]).returncode, status)

    def test_every_signal_is_128_and_its_number(self):
        for number in sorted(signal.valid_signals()):
            if number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU,
                          signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH):
                continue
            script = f"import os,resource; resource.setrlimit(4,(0,0)); os.kill(os.getpid(), {int(number)})"
            code = ["sh", "-c", f"ulimit -c 0; kill -{int(number)} $$"] if number < 32 else \
                [sys.executable, "-c", "import signal\n" + script]
            with self.subTest(number):
                self.assertEqual(self.lowtide(code).returncode, 128 + number)

    def test_signals_sent_to_lowtide_alone_reach_the_program_once(self):
        script = self.write("count.py", """
import collections, os, signal, sys, time
seen = collections.Counter()
def note(number, frame):
    seen[number] += 1
for number in signal.valid_signals():
    if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGCONT):
        signal.signal(number, note)
print('ready', flush=True)
sys.stdin.readline()
time.sleep(0.3)
print(sorted((int(n), c) for n, c in seen.items()), flush=True)
""")
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                   signal.SIGUSR2, signal.SIGALRM, signal.SIGWINCH, signal.SIGTTIN, signal.SIGTTOU,
                   signal.SIGTSTP, signal.SIGABRT, signal.SIGURG, signal.SIGRTMIN + 1]
        process = self.start([sys.executable, script], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        for number in numbers:
            process.send_signal(number)
        time.sleep(0.3)
        process.stdin.write("\n")
        process.stdin.close()
        self.assertEqual(process.stdout.readline(), f"{sorted((int(n), 1) for n in numbers)}\n")
        self.assertEqual(process.wait(30), 0)
        process.stdout.close()

    def test_judging_can_be_interrupted(self):
        reading, writing = os.pipe()
        fill = ("import os\nos.set_blocking(2, False)\ntry:\n  while True: os.write(2, b'x' * 4096)\n"
                "except BlockingIOError: pass\nos.set_blocking(2, True); os._exit(6)")
        process = self.start([sys.executable, "-c", fill], ("-o", "x.tide"), stderr=writing)
        os.close(writing)
        time.sleep(1.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), 6)
        os.close(reading)
        self.assertEqual(self.report(self.path("x.tide")).returncode, 0)

    def test_timeout_nohup_and_the_background(self):
        self.same(["timeout", "0.5", "sleep", "20"])
        done = self.bare(["timeout", "1", *self.command(["sleep", "20"])])
        self.assertEqual(done.returncode, 124)
        self.same(["nohup", "sh", "-c", "kill -HUP $$; echo survived"])
        done = self.bare(["nohup", *self.command(["sh", "-c", "kill -HUP $PPID; sleep 0.2; echo on"])])
        self.assertEqual(done.stdout, "on\n")
        both = 'sh -c \'"$@" & sleep 0.2; echo second; wait\' sh "$@"'
        done = self.bare(["sh", "-c", both, "sh", *self.command(["sh", "-c", "echo first; kill -INT $$; echo on"])])
        self.assertEqual(sorted(done.stdout.split()), ["first", "on", "second"])

    def test_a_program_that_signals_its_group_is_met_once(self):
        script = ("import os, signal, time\nn = 0\ndef f(*a):\n  global n; n += 1\n"
                  "signal.signal(15, f); time.sleep(0.3); os.kill(0, 15); time.sleep(0.4); print(n)")
        done = self.bare(["setsid", "--wait", *self.command([sys.executable, "-c", script])])
        self.assertEqual((done.stdout, done.returncode), ("1\n", 0))


if __name__ == "__main__":
    main()
