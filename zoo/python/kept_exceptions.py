# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: BadRow | Table
# holder: failures
# Failed rows are kept as exceptions; their tracebacks hold the frames, and these the whole table.
import os
import time


class BadRow(Exception):
    pass


class Table:
    def __init__(self, number):
        self.number = number
        self.cells = ["%d/%d" % (number, i) for i in range(2500)]


def load(number):
    table = Table(number)
    for index, cell in enumerate(table.cells):
        if index == 100:
            raise BadRow(cell)


class Importer:
    def __init__(self):
        self.failures = []

    def run(self, number):
        try:
            load(number)
        except BadRow as failure:
            self.failures.append(failure)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    importer = Importer()
    number = 0
    while time.monotonic() < end:
        importer.run(number)
        number += 1
        if number % 40 == 0:
            print(len(importer.failures), "bad rows so far", flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
