# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | retained-by-allocator | levelling-off | undecided
# needs: pandas
# repeat: 6
# Each round groups a new table and keeps one number of it, in a list cut to 50.
import os
import time

import pandas as pd


class Ledger:
    def __init__(self):
        self.totals = []

    def book(self, day):
        table = pd.DataFrame({"shop": [i % 7 for i in range(6000)], "sold": range(day, day + 6000)})
        self.totals.append(int(table.groupby("shop")["sold"].sum().max()))
        del self.totals[:-50]


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    ledger = Ledger()
    day = 0
    while time.monotonic() < end:
        ledger.book(day)
        day += 1
        print("day", day, ledger.totals[-1], flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
