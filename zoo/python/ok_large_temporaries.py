# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | retained-by-allocator | levelling-off | undecided
# repeat: 6
# Each round makes lists of 5 MB, sorts them, and lets them go.
import os
import random
import time


def deal(draw):
    return [draw.random() for _ in range(3000)]


class Simulation:
    def __init__(self):
        self.best = 0.0
        self.draw = random.Random(11)

    def round(self):
        blocks = [bytearray(1 << 20) for _ in range(4)]
        hands = sorted(deal(self.draw))
        self.best = max(self.best, hands[-1])
        return len(blocks)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    simulation = Simulation()
    rounds = 0
    while time.monotonic() < end:
        simulation.round()
        rounds += 1
        if rounds % 30 == 0:
            print("best so far %.6f" % simulation.best, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
