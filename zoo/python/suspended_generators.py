# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: generator | bytearray
# holder: readers
# Generators that were read up to the first hit are kept, suspended, with their buffers as locals.
import os
import time


def blocks(number):
    buffer = bytearray(160000)
    for position in range(0, len(buffer), 4096):
        buffer[position] = number % 256
        yield position


class Scanner:
    def __init__(self):
        self.readers = []

    def first_hit(self, number):
        reader = blocks(number)
        self.readers.append(reader)
        for position in reader:
            if position >= 8192:
                return position


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    scanner = Scanner()
    number = 0
    while time.monotonic() < end:
        scanner.first_hit(number)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
