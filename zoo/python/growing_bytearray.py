# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: bytearray
# holder: journal
# One bytearray takes all the records and is never cut: a single object grows in place.
import os
import time


class Replica:
    def __init__(self):
        self.journal = bytearray()
        self.position = 0

    def apply(self, record):
        self.journal.extend(record)
        self.position = len(self.journal)


def record_of(number):
    return b"%08d" % number * 16000


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    replica = Replica()
    number = 0
    while time.monotonic() < end:
        replica.apply(record_of(number))
        number += 1
        if number % 25 == 0:
            print("journal at", replica.position, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
