# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Image
# holder: originals
# needs: PIL
# The resizer keeps each original picture, for an undo that nobody calls.
import os
import time

from PIL import Image


class Resizer:
    def __init__(self):
        self.originals = []

    def shrink(self, picture):
        self.originals.append(picture)
        return picture.resize((64, 64))


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    resizer = Resizer()
    number = 0
    while time.monotonic() < end:
        resizer.shrink(Image.new("RGB", (300, 300), (number % 256, 10, 20)))
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
