# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Compiled
# holder: _programs
# The dict is an attribute of the class, shared by all instances: every distinct query stays compiled.
import os
import time


class Compiled:
    def __init__(self, query):
        self.query = query
        self.code = bytearray(120 * 1024)


class Engine:
    _programs = {}

    def execute(self, query):
        program = self._programs.get(query)
        if program is None:
            program = self._programs[query] = Compiled(query)
        return len(program.code)


def request(ident):
    engine = Engine()
    return engine.execute("SELECT name FROM users WHERE id = %d" % ident)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    ident = 0
    while time.monotonic() < end:
        request(ident)
        ident += 1
        time.sleep(0.025)


if __name__ == "__main__":
    main()
