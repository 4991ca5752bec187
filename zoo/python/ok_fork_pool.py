# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | levelling-off | retained-by-allocator | undecided
# repeat: 6
# Forked workers read a table of the parent; each reference counted copies a page, nothing is kept.
import multiprocessing
import os
import time

table = []


def total(start):
    return sum(len(text) for text in table[start:start + 2000])


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    table.extend("entry number %d" % i for i in range(150000))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        start = 0
        while time.monotonic() < end:
            pool.map(total, [start % 150000, (start + 75000) % 150000])
            start += 2000
            time.sleep(0.03)


if __name__ == "__main__":
    main()
