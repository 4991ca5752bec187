# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | cache-at-cap | levelling-off | undecided
# repeat: 6
# Column names are interned; there are 5000 of them, all seen within the first third of the run.
import os
import sys
import time


class Parser:
    def __init__(self):
        self.names = {}

    def row(self, number):
        row = {}
        for column in range(number, number + 100):
            name = sys.intern("a rather long name of column %d" % (column % 5000))
            self.names[name] = column % 5000
            row[name] = column
        return row


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    parser = Parser()
    number = 0
    while time.monotonic() < end:
        parser.row(number)
        number += 100
        print("row", number, flush=True)
        time.sleep(0.025)


if __name__ == "__main__":
    main()
