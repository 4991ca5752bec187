# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Invoice
# holder: line_totals
# The lru_cache sits on a method, so its keys hold `self`: no invoice that was ever totalled dies.
import functools
import os
import random
import time


class Invoice:
    def __init__(self, number):
        self.number = number
        self.lines = [(random.random(), "item %d of invoice %d" % (i, number)) for i in range(1000)]

    @functools.lru_cache(maxsize=None)
    def line_totals(self, tax):
        return sum(price for price, _ in self.lines) * (1 + tax)


def bill(number):
    invoice = Invoice(number)
    return invoice.line_totals(0.07)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number, total = 0, 0.0
    while time.monotonic() < end:
        number += 1
        total += bill(number)
        time.sleep(0.03)
    print("billed %d invoices, %.2f in all" % (number, total))


if __name__ == "__main__":
    main()
