# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: DataFrame | Report
# holder: _reports
# needs: pandas
# Each round's report keeps the table it was made of.
import os
import time

import pandas as pd

_reports = []


class Report:
    def __init__(self, title, table):
        self.title = title
        self.table = table


def summarize(day):
    table = pd.DataFrame({"day": [day] * 6000, "sold": range(6000), "price": [1.5] * 6000})
    _reports.append(Report("day %d" % day, table))
    return float((table["sold"] * table["price"]).sum())


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    day = 0
    while time.monotonic() < end:
        summarize(day)
        day += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
