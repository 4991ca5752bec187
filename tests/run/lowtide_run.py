# SPDX-License-Identifier: Apache-2.0
"""Running programs with and without lowtide. Each test file is started with the path of lowtide."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

LOWTIDE = os.path.abspath(sys.argv[1])


class RunTest(unittest.TestCase):
    """A test has a folder of its own, which is also the current one and $TMPDIR's parent."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="run-test-")
        self.temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.temporary)
        self.environment = {**os.environ, "TMPDIR": self.temporary}

    def tearDown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def command(self, command, options=("-q",)):
        return [LOWTIDE, "run", *options, "--", *command]

    def start(self, command, options=("-q",), **how):
        how.setdefault("env", self.environment)
        return subprocess.Popen(self.command(command, options), cwd=self.folder, **how)

    def lowtide(self, command, options=("-q",), **how):
        return self.bare(self.command(command, options), **how)

    def bare(self, command, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        how.setdefault("env", self.environment)
        return subprocess.run(command, cwd=self.folder, timeout=120, text=True, **how)

    def found(self, command, options=(), **how):
        """Runs it and returns (the finished process, what --json says)."""
        path = self.path("found.json")
        done = self.lowtide(command, ("--json", path, *options), **how)
        with open(path) as file:
            return done, json.load(file)

    def same(self, command, **how):
        """Out, err and status are those of the command alone."""
        alone, watched = self.bare(command, **how), self.lowtide(command, **how)
        expected = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
        self.assertEqual((watched.stdout, watched.stderr, watched.returncode),
                         (alone.stdout, alone.stderr, expected))
        return watched

    def report(self, recording):
        return self.bare([LOWTIDE, "report", recording])

    def recordings(self):
        return [self.path(name) for name in os.listdir(self.folder) if name.endswith(".tide")]

    def leftovers(self):
        return os.listdir(self.temporary)


def main():
    del sys.argv[1]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main(verbosity=1)
