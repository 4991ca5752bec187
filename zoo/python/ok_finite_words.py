# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | cache-at-cap | levelling-off | undecided
# repeat: 6
# The set of all words seen grows ever more slowly: there are only 12000 words to see.
import os
import random
import time


class Vocabulary:
    def __init__(self):
        self.known = {}

    def learn(self, text):
        for word in text:
            if word not in self.known:
                self.known[word] = ["feature %d of %s" % (i, word) for i in range(4)]


def article(draw):
    return ["word%d" % int(draw.random() * 12000) for _ in range(400)]


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    draw = random.Random(3)
    vocabulary = Vocabulary()
    while time.monotonic() < end:
        vocabulary.learn(article(draw))
        time.sleep(0.02)
    print(len(vocabulary.known), "words")


if __name__ == "__main__":
    main()
