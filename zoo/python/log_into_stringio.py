# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: StringIO | str
# holder: stream
# The log handler writes into a StringIO which no one reads or empties.
import io
import logging
import os
import time

log = logging.getLogger("orders")


def set_up():
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(logging.StreamHandler(io.StringIO()))


def take_order(number):
    for line in range(40):
        log.info("order %d, line %d: %s", number, line, "x" * 2500)


def main():
    set_up()
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        take_order(number)
        number += 1
        time.sleep(0.025)


if __name__ == "__main__":
    main()
