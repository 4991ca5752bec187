# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Span
# holder: recent
# The deque of `recent` spans was made without its maxlen.
import collections
import os
import time


class Span:
    def __init__(self, serial):
        self.serial = serial
        self.tags = {"tag%d" % i: "value %d of %d" % (i, serial) for i in range(30)}


class Tracer:
    def __init__(self):
        self.recent = collections.deque()

    def record(self, serial):
        self.recent.append(Span(serial))


def handle(tracer, serial):
    for _ in range(30):
        tracer.record(serial)
        serial += 1
    return serial


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    tracer = Tracer()
    serial = 0
    while time.monotonic() < end:
        serial = handle(tracer, serial)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
