# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | cache-at-cap | levelling-off | undecided
# repeat: 6
# The dict cache holds 100 documents and drops the oldest for each new one.
import os
import time


class Document:
    def __init__(self, ident):
        self.ident = ident
        self.words = ["w%d-%d" % (ident, i) for i in range(1000)]


class Store:
    def __init__(self, most):
        self.most = most
        self.documents = {}

    def get(self, ident):
        if ident not in self.documents:
            while len(self.documents) >= self.most:
                del self.documents[next(iter(self.documents))]
            self.documents[ident] = Document(ident)
        return self.documents[ident]


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    store = Store(100)
    number = 0
    while time.monotonic() < end:
        for ident in (number, number // 2, number // 3):
            store.get(ident)
        number += 1
        time.sleep(0.025)


if __name__ == "__main__":
    main()
