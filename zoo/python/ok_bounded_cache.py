# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | cache-at-cap | levelling-off | retained-by-allocator | undecided
# repeat: 6
# An lru_cache of 128 tiles fills in the first second, and from then on it is full.
import functools
import os
import time


class Tile:
    def __init__(self, place):
        self.place = place
        self.pixels = bytearray(80000)


@functools.lru_cache(maxsize=128)
def tile(place):
    return Tile(place)


def draw(view):
    return sum(len(tile(view * 6 + i).pixels) for i in range(6))


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    view = 0
    while time.monotonic() < end:
        draw(view)
        view += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
