# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | retained-by-allocator | levelling-off | burst | undecided
# repeat: 6
# One buffer is made anew each round, a little larger or smaller than the last: a random walk.
import os
import random
import time


class Mixer:
    def __init__(self):
        self.size = 3000000
        self.buffer = bytearray(self.size)

    def mix(self, draw):
        self.size = min(6000000, max(1000000, self.size + draw.randrange(-200000, 200001)))
        self.buffer = bytearray(self.size)
        return self.buffer.count(1)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    mixer, draw = Mixer(), random.Random()
    while time.monotonic() < end:
        mixer.mix(draw)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
