# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | retained-by-allocator | levelling-off | undecided
# repeat: 6
# Every tree is a cycle and waits for the collector, which comes now and then: a saw.
import os
import time


class Element:
    def __init__(self, tag, parent):
        self.tag = tag
        self.parent = parent
        self.children = []
        self.text = "text of %s " % tag * 40
        if parent is not None:
            parent.children.append(self)


def parse(number):
    root = Element("page%d" % number, None)
    for row in range(12):
        line = Element("row%d" % row, root)
        for cell in range(10):
            Element("cell%d" % cell, line)
    return len(root.children)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        parse(number)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
