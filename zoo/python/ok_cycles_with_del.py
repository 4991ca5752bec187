# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | retained-by-allocator | levelling-off | undecided
# repeat: 6
# Cycles of objects with a __del__ are collected like others, a few rounds late.
import os
import time


class Channel:
    closed = 0

    def __init__(self, number):
        self.number = number
        self.window = bytearray(2000)
        self.peer = Peer(self)

    def __del__(self):
        Channel.closed += 1


class Peer:
    def __init__(self, channel):
        self.channel = channel


def exchange(number):
    channels = [Channel(number + i) for i in range(80)]
    return sum(len(channel.window) for channel in channels)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        exchange(number)
        number += 80
        time.sleep(0.03)
    print(Channel.closed, "of", number, "closed")


if __name__ == "__main__":
    main()
