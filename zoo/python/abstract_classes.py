# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: ABCMeta
# holder: _variants
# Abstract variants are made per call and kept; each also fills the caches of its abstract base.
import abc
import os
import time

_variants = {}


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self):
        """The area in square metres."""


def variant(kind, index):
    def area(self):
        return self.width * index

    made = abc.ABCMeta("Shape_%d_%d" % (kind, index), (Shape,), {"area": area, "width": kind})
    _variants[kind, index] = made
    return made


def draw(kind):
    painted = 0.0
    for index in range(30):
        shape = variant(kind, index)()
        if isinstance(shape, Shape):
            painted += shape.area()
    return painted


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    kind = 0
    while time.monotonic() < end:
        draw(kind)
        kind += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
