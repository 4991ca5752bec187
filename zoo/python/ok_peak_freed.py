# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | burst | retained-by-allocator | levelling-off | undecided
# repeat: 6
# Many small objects are made and dropped but for one in 400, so the allocator keeps what it took.
import os
import time


class Report:
    def __init__(self):
        self.totals = []

    def build(self, rows):
        table = [{"row": row, "text": "line %d" % row} for row in range(rows)]
        self.totals = [line["text"] for line in table[::400]]


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    report = Report()
    number = 0
    while time.monotonic() < end:
        if number % 40 == 20:
            report.build(60000)
        report.build(300)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
