# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Reading
# holder: __defaults__ | collected | batch
# The default list of collect() is made once, so each call appends to the same one.
import os
import time


class Reading:
    __slots__ = ("sensor", "at", "samples")

    def __init__(self, sensor, at):
        self.sensor = sensor
        self.at = at
        self.samples = b"%06d" % at * 3000


def collect(at, batch=[]):
    for sensor in range(8):
        batch.append(Reading(sensor, at))
    return len(batch)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    at = 0
    while time.monotonic() < end:
        collect(at)
        at += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
