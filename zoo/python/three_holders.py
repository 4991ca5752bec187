# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Order
# holder: orders
# holder: by_customer
# holder: _undo
# Each order is in the shop's list, in the index by customer, and in the stack for undo.
import os
import time

_undo = []


class Order:
    def __init__(self, number, customer):
        self.number = number
        self.customer = customer
        self.document = b"%07d" % number * 17000


class Shop:
    def __init__(self):
        self.orders = []
        self.by_customer = {}

    def place(self, number):
        order = Order(number, "customer %d" % (number % 20))
        self.orders.append(order)
        self.by_customer.setdefault(order.customer, []).append(order)
        _undo.append(order)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    shop = Shop()
    number = 0
    while time.monotonic() < end:
        shop.place(number)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
