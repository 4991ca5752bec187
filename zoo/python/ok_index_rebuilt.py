# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | retained-by-allocator | levelling-off | burst | undecided
# repeat: 6
# The index fills for 25 rounds and is then built anew: a slow saw of live objects.
import os
import time


class Entry:
    def __init__(self, number):
        self.number = number
        self.text = "entry %d " % number * 1500


class Index:
    def __init__(self):
        self.entries = []

    def add(self, number):
        if len(self.entries) >= 250:
            self.entries = []
        self.entries.append(Entry(number))


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    index = Index()
    number = 0
    while time.monotonic() < end:
        for _ in range(10):
            index.add(number)
            number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
