# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Span
# holder: open_spans
# A span leaves the map when it ends; where a tool fails the early return ends no span.
import os
import time


class Span:
    def __init__(self, name, prompt):
        self.name = name
        self.prompt = prompt


class Tracer:
    def __init__(self):
        self.open_spans = {}
        self.serial = 0

    def start(self, name, prompt):
        self.serial += 1
        self.open_spans[self.serial] = Span(name, prompt)
        return self.serial

    def end(self, serial):
        return self.open_spans.pop(serial).name


def call_tool(tracer, turn):
    span = tracer.start("tool", "turn %06d; " % turn * 12000)
    if turn % 3:
        return None
    return tracer.end(span)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    tracer = Tracer()
    turn = 0
    while time.monotonic() < end:
        call_tool(tracer, turn)
        turn += 1
        time.sleep(0.025)


if __name__ == "__main__":
    main()
