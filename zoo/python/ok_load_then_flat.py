# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | levelling-off | retained-by-allocator | undecided
# repeat: 6
# 30 MB of dictionary are loaded in the first second and a half; the lookups afterwards keep nothing.
import os
import time


class Dictionary:
    def __init__(self):
        self.entries = {}

    def load_part(self, part):
        for word in range(2000):
            self.entries["word-%d-%d" % (part, word)] = "the meaning of word %d " % word * 8

    def translate(self, sentence):
        return " ".join(self.entries.get(word, word) for word in sentence)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    dictionary = Dictionary()
    for part in range(50):
        dictionary.load_part(part)
        time.sleep(0.03)
    number = 0
    while time.monotonic() < end:
        dictionary.translate(["word-%d-%d" % (number % 50, i) for i in range(500)])
        number += 1
        print("translated", number, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
