# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | cache-at-cap | levelling-off | undecided
# repeat: 6
# The last 60 measurements are kept in a deque with a maxlen.
import collections
import os
import time


class Measurement:
    def __init__(self, at):
        self.at = at
        self.curve = [at + i / 7 for i in range(3000)]


class Monitor:
    def __init__(self):
        self.recent = collections.deque(maxlen=60)

    def measure(self, at):
        self.recent.append(Measurement(at))
        return max(point.curve[0] for point in self.recent)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    monitor = Monitor()
    at = 0
    while time.monotonic() < end:
        monitor.measure(at)
        at += 1
        print("measured", at, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
