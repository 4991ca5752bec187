# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: ndarray
# holder: thumbnails
# needs: numpy
# A thumbnail is a corner of the picture, 4 KB, and as a view it keeps the picture of 300 KB alive.
import os
import time

import numpy as np


class Gallery:
    def __init__(self):
        self.thumbnails = {}

    def add(self, name, picture):
        self.thumbnails[name] = picture[:64, :64]


def take_picture(number):
    return np.full((640, 480), number % 256, dtype=np.uint8)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    gallery = Gallery()
    number = 0
    while time.monotonic() < end:
        gallery.add("picture %d" % number, take_picture(number))
        number += 1
        print("pictures:", number, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
