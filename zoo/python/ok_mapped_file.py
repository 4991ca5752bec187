# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | page-cache | levelling-off | retained-by-allocator | undecided
# repeat: 6
# A mapped file of 40 MB is read page by page: resident memory rises, but it is the page cache's.
import mmap
import os
import tempfile
import time


class Volume:
    def __init__(self, size):
        self.file = tempfile.TemporaryFile()
        for _ in range(size >> 20):
            self.file.write(b"0123456789abcdef" * 65536)
        self.file.flush()
        self.bytes = mmap.mmap(self.file.fileno(), 0, prot=mmap.PROT_READ)

    def check(self, start, length):
        return sum(self.bytes[place] for place in range(start, start + length, 4096))


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    volume = Volume(40 << 20)
    start = 0
    while time.monotonic() < end:
        volume.check(start % len(volume.bytes), 1 << 17)
        start += 1 << 17
        time.sleep(0.02)


if __name__ == "__main__":
    main()
