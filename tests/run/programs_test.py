#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of every kind, and the options. usage: programs_test.py lowtide"""
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time

from lowtide_run import LOWTIDE, RunTest, main


class Programs(RunTest):
    def build(self, name, *flags, compiler="gcc", source="int main(void) { puts(\"hello\"); return 7; }"):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        text = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n" + source
        source_file = self.write(name + ".c", text)
        if subprocess.run([compiler, "-w", *flags, "-o", self.path(name), source_file],
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest(f"{compiler} {flags} does not build here")
        return self.path(name)

    def test_what_cannot_be_run(self):
        script = self.write("noexec.sh", "echo no")
        for command, status, word in ((["no-such-command"], 127, "no such command"),
                                      (["./no-such-file"], 127, "no such file"),
                                      ([self.folder], 126, "directory"),
                                      ([script], 126, "permission denied"),
                                      ([""], 127, "without a name")):
            done = self.lowtide(command)
            with self.subTest(command):
                self.assertEqual(done.returncode, status)
                self.assertEqual(len(done.stderr.splitlines()), 1)
                self.assertIn(word, done.stderr)
        self.assertEqual(self.recordings(), [])

    def test_scripts(self):
        self.same([sys.executable, self.write("bad.py", "def f(:\n")])
        self.same(["env", self.write("plain", "echo $0 $1\nexit 4\n", 0o755), "x"])
        self.assertEqual(self.lowtide([self.path("plain"), "x"]).returncode, 4)
        self.same([self.write("env.py", "#!/usr/bin/env python3\nprint('hi')\n", 0o755)])
        self.same(["sh", "-c", "exec 2>&-; ls /no/such; exit 3"])
        self.same([sys.executable, "-c", "import os; os.close(1); os.close(2); os._exit(8)"])
        self.same(["/bin/false"])

    def test_kinds_of_program(self):
        self.same([self.build("dynamic")])
        self.same([self.build("static", "-static")])
        self.same([self.build("pie", "-static-pie")])

    def test_musl(self):
        self.same([self.build("musl", compiler="musl-gcc")])
        self.same(["sh", "-c", self.build("musl", compiler="musl-gcc") + "; echo $?"])

    def test_32_bit(self):
        self.same([self.build("narrow", "-m32")])

    def test_sanitizers(self):
        bad = "int main(void) { char *p = malloc(8); p[0] = 'x'; puts(p[0] == 'x' ? \"ok\" : \"no\"); free(p); return 7; }"
        program = self.build("asan", "-fsanitize=address", source=bad)
        self.same([program])
        self.same(["sh", "-c", f"{program}; echo $?"])
        done = self.lowtide([program], ())
        self.assertIn("sanitizer", done.stderr)

    def test_other_privileges(self):
        self.same(["sh", "-c", "su -s /bin/sh nobody -c 'id -u; exit 3'"])

    def test_cleared_environments_and_roots(self):
        self.same(["env", "-i", "/bin/sh", "-c", "/usr/bin/env; echo done"])
        self.same(["sh", "-c", "unset LD_PRELOAD; env -i sh -c 'ls / >/dev/null; echo $?'"])
        if os.getuid() == 0:
            root = self.path("root")
            os.makedirs(root)
            program = self.build("static", "-static")
            shutil.copy(program, root)
            self.same(["chroot", root, "/static"])
            self.same(["sh", "-c", f"chroot {root} /static; echo $?"])

    def test_a_preload_of_their_own(self):
        library = self.build("own.so", "-shared", "-fPIC",
                             source="int puts(const char* s) { return fprintf(stdout, \"mine: %s\\n\", s); }")
        program = self.build("dynamic", "-fno-builtin")
        self.same([program], env={**self.environment, "LD_PRELOAD": library})
        self.same(["sh", "-c", f"LD_PRELOAD={library} {program}; echo $?"])

    def test_one_that_dies_at_once(self):
        for script in ("kill -SEGV $$", "kill -KILL $$", "exit 1"):
            done = self.lowtide(["sh", "-c", "ulimit -c 0; " + script], ())
            with self.subTest(script):
                self.assertIn("lowtide: sh", done.stderr)
                self.assertGreater(done.returncode, 0)


class Options(RunTest):
    def test_words_after_the_command_are_its_own(self):
        for lead in (("--",), ()):
            done = self.bare([LOWTIDE, "run", "-q", *lead, "echo", "-x", "--json", "y", "--", "-h"])
            self.assertEqual((done.stdout, done.returncode), ("-x --json y -- -h\n", 0))
        self.assertFalse(os.path.exists(self.path("y")))

    def test_what_makes_no_sense_is_refused(self):
        for options in (["--bogus"], ["--interval", "0"], ["--interval", "soon"], ["--heap", "x"],
                        ["--heap", "-1"], ["--round", "("], ["--json"], ["--out"], []):
            done = self.bare([LOWTIDE, "run", *options, *(["--", "touch", "ran"] if options else [])])
            with self.subTest(options):
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertFalse(os.path.exists(self.path("ran")))

    def test_help_fits_a_screen(self):
        for command in ((), ("run",), ("report",), ("plot",), ("heap",), ("holders",), ("diff",)):
            done = self.bare([LOWTIDE, *command, "-h"])
            with self.subTest(command):
                self.assertEqual(done.returncode, 0)
                self.assertLessEqual(len(done.stdout.splitlines()), 40)
                self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)
                self.assertGreaterEqual(done.stdout.split("Examples:")[1].count("  lowtide "), 2)

    def test_rounds_of_python_and_c_to_pipes_files_and_terminals(self):
        python = [sys.executable, "-c",
                  "import time\nfor i in range(12): print('epoch', i); time.sleep(0.05)"]
        source = self.write("rounds.c", "#include <stdio.h>\n#include <unistd.h>\nint main(void) { for (int i = 0;"
                            " i < 12; ++i) { printf(\"epoch %d\\n\", i); usleep(50000); } return 0; }")
        programs = [python]
        if subprocess.run(["gcc", "-w", "-o", self.path("rounds"), source]).returncode == 0:
            programs.append([self.path("rounds")])
        for program in programs:
            for kind in ("pipe", "file", "terminal"):
                master = None
                how = {}
                if kind == "file":
                    how["stdout"] = open(self.path("stdout"), "w")
                if kind == "terminal":
                    master, slave = pty.openpty()
                    how["stdout"] = slave
                done, found = self.found(program, ("--round", "^epoch [0-9]+"), **how)
                with self.subTest(program=program[0], kind=kind):
                    self.assertEqual(found["verdict"]["rounds"], 12, found["verdict"])
                if master is not None:
                    os.close(slave)
                    os.close(master)
        done = self.lowtide(python, ("--round", "^nothing"))
        self.assertIn("no line of output matched", done.stderr.replace("\n         ", " "))

    def test_quiet_heap_and_probe(self):
        program = [sys.executable, "-c", "import time\nx = []\nfor i in range(40):\n"
                   "  x.append([str(j) for j in range(999)]); time.sleep(0.05)"]
        done = self.lowtide(program, ("-q", "-o", "a.tide"))
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        for option, heaps in ((("--heap", "off"), 0), (("--heap", "1"), 1), (("--no-probe",), 0)):
            done = self.lowtide(program, ("-q", "-o", "b.tide", *option))
            rows = self.bare(["sqlite3", "b.tide", "select count(*) from heaps"])
            with self.subTest(option):
                self.assertEqual(done.returncode, 0)
                if shutil.which("sqlite3") and rows.returncode == 0:
                    self.assertEqual(rows.stdout.strip(), str(heaps))
        secret = [sys.executable, "-c", "import time\nx = ['sec' + 'ret%d' % i for i in range(99)]\n"
                  "for i in range(40): [str(j) for j in range(999)]; time.sleep(0.05)"]
        self.lowtide(secret, ("-q", "-o", "c.tide"))
        with open(self.path("c.tide"), "rb") as file:
            self.assertNotIn(b"secret42", file.read())

    def test_the_interval_is_kept(self):
        self.lowtide(["sleep", "1"], ("-q", "--interval", "50ms", "-o", "a.tide"))
        done = self.bare([LOWTIDE, "report", "--json", "a.tide"])
        self.assertEqual(json.loads(done.stdout)["exit"]["status"], 0)

    def test_reports_survive_a_closed_reader(self):
        self.lowtide(["true"], ("-q", "-o", "a.tide"))
        done = self.bare(["bash", "-c", f"{LOWTIDE} report a.tide | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"])
        self.assertIn(done.stdout.strip(), ("0", "141"))


if __name__ == "__main__":
    main()
