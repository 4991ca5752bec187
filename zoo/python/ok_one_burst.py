# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | burst | retained-by-allocator | levelling-off | undecided
# repeat: 6
# In the middle of the run one request needs 60 MB for a moment.
import os
import time


def small_request(number):
    return sum(bytearray(b"%d" % number * 2000)) % 7


def export():
    parts = [bytearray(1024 * 1024) for _ in range(60)]
    time.sleep(0.2)
    return len(parts)


def main():
    start = time.monotonic()
    seconds = float(os.environ.get("ZOO_SECONDS", "6"))
    exported = False
    number = 0
    while time.monotonic() < start + seconds:
        small_request(number)
        number += 1
        if not exported and time.monotonic() > start + seconds / 2:
            exported = export()
        time.sleep(0.025)


if __name__ == "__main__":
    main()
