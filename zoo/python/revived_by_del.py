# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Channel
# holder: unflushed
# Channels are cycles with a __del__ that revives them: it puts them into a list nobody empties.
import os
import time


class Channel:
    unflushed = []

    def __init__(self, number):
        self.number = number
        self.pending = b"%04d" % number * 600
        self.sender = Endpoint(self)

    def __del__(self):
        Channel.unflushed.append(self)


class Endpoint:
    def __init__(self, channel):
        self.channel = channel
        self.acknowledged = []


def exchange(number):
    for _ in range(60):
        channel = Channel(number)
        channel.sender.acknowledged.append(number)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        exchange(number)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
