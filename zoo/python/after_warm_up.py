# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Suggestion
# holder: log
# 30 MB of index are loaded first; then every round frees 5 MB and forgets to drop 100 KB.
import os
import time


class Suggestion:
    def __init__(self, word, score):
        self.word = word
        self.score = score
        self.context = word * 1000


class Completer:
    def __init__(self):
        self.index = {}
        self.log = []

    def load(self):
        for number in range(30):
            self.index[number] = bytearray(os.urandom(1024)) * 1024

    def complete(self, number):
        scores = bytearray(self.index[number % 30]) * 5
        for place in range(12):
            self.log.append(Suggestion("word%d" % number, scores[place]))
        return len(scores)


def main():
    completer = Completer()
    completer.load()
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        completer.complete(number)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
