# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Tokens
# holder: seen
# tokenize() stores what it has parsed in an attribute of itself.
import os
import time


class Tokens:
    def __init__(self, text):
        self.words = text.split()


def tokenize(text):
    found = tokenize.seen.get(text)
    if found is None:
        found = tokenize.seen[text] = Tokens(text)
    return found


tokenize.seen = {}


def article(number):
    return " ".join("word%d-%d" % (number, i) for i in range(1500))


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = words = 0
    while time.monotonic() < end:
        words += len(tokenize(article(number)).words)
        number += 1
        time.sleep(0.03)
    print(words, "words")


if __name__ == "__main__":
    main()
