# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Workspace
# holder: atexit
# Each workspace registers its clean_up with atexit, which keeps it until the program ends.
import atexit
import os
import time


class Workspace:
    def __init__(self, number):
        self.number = number
        self.tables = {"table%d" % i: bytearray(15000) for i in range(10)}
        atexit.register(self.clean_up)

    def clean_up(self):
        self.tables.clear()

    def convert(self):
        return sum(len(table) for table in self.tables.values())


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = converted = 0
    while time.monotonic() < end:
        converted += Workspace(number).convert()
        number += 1
        time.sleep(0.03)
    print("converted", converted, "bytes")


if __name__ == "__main__":
    main()
