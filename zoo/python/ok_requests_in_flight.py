# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | retained-by-allocator | levelling-off | undecided
# repeat: 6
# Requests of random size are in flight for a random time; their number goes up and down.
import heapq
import os
import random
import time


class Request:
    def __init__(self, size):
        self.body = bytearray(size)


class Server:
    def __init__(self):
        self.in_flight = []
        self.serial = 0

    def start(self, now, draw):
        for _ in range(draw.randrange(4)):
            self.serial += 1
            done = now + draw.uniform(0.05, 0.8)
            heapq.heappush(self.in_flight, (done, self.serial, Request(draw.randrange(20000, 400000))))

    def finish(self, now):
        while self.in_flight and self.in_flight[0][0] < now:
            heapq.heappop(self.in_flight)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    server, draw = Server(), random.Random()
    while time.monotonic() < end:
        server.start(time.monotonic(), draw)
        server.finish(time.monotonic())
        time.sleep(0.02)


if __name__ == "__main__":
    main()
