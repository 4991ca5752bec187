# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Element
# The collector is switched off for speed, and every parsed tree is a cycle: parent and child.
import gc
import os
import time


class Element:
    def __init__(self, tag, parent):
        self.tag = tag
        self.parent = parent
        self.children = []
        self.text = "text of %s " % tag * 20
        if parent is not None:
            parent.children.append(self)


def parse(number):
    root = Element("page%d" % number, None)
    for row in range(20):
        line = Element("row%d" % row, root)
        for cell in range(10):
            Element("cell%d" % cell, line)
    return len(root.children)


def main():
    gc.disable()
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        parse(number)
        number += 1
        print("parsed", number, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
