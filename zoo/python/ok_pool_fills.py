# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | cache-at-cap | levelling-off | undecided
# repeat: 6
# The pool makes a connection only when all of its own are busy: it grows to 40 and no further.
import os
import time


class Connection:
    def __init__(self, number):
        self.number = number
        self.buffer = bytearray(200000)


def wanted(number):
    return 1 + min(number % 80, 79 - number % 80)


class Pool:
    def __init__(self):
        self.free = []
        self.made = 0

    def take(self):
        if self.free:
            return self.free.pop()
        self.made += 1
        return Connection(self.made)

    def give(self, connection):
        self.free.append(connection)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    pool = Pool()
    number = 0
    while time.monotonic() < end:
        taken = [pool.take() for _ in range(wanted(number))]
        for connection in taken:
            pool.give(connection)
        number += 1
        time.sleep(0.025)


if __name__ == "__main__":
    main()
