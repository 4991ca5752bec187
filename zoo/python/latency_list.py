# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: float | list
# holder: latencies
# The median is worked out from all latencies since the start, not from a window.
import os
import random
import time


class Statistics:
    def __init__(self):
        self.latencies = []

    def observe(self, milliseconds):
        self.latencies.append(milliseconds)

    def recent_mean(self):
        window = self.latencies[-100:]
        return sum(window) / len(window)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    draw = random.Random(7)
    statistics = Statistics()
    while time.monotonic() < end:
        for _ in range(5000):
            statistics.observe(draw.random())
        statistics.recent_mean()
        time.sleep(0.03)


if __name__ == "__main__":
    main()
