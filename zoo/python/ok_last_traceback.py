# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | burst | retained-by-allocator | levelling-off | undecided
# repeat: 6
# The shell keeps its last traceback, and so the 20 MB its frames hold: once, the next replaces it.
import os
import sys
import time


class Shell:
    def __init__(self):
        self.failed = 0

    def execute(self, command):
        try:
            command()
        except ValueError:
            self.failed += 1
            self.last_traceback = sys.exc_info()[2]


def failing_command():
    data = bytearray(20 * 1024 * 1024)
    raise ValueError(len(data))


def good_command():
    return sorted(range(2000), key=lambda number: -number)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    shell = Shell()
    number = 0
    while time.monotonic() < end:
        shell.execute(failing_command if number % 60 == 15 else good_command)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
