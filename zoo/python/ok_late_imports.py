# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | levelling-off | retained-by-allocator | burst | undecided | page-cache
# repeat: 6
# A third into the run the first request of its kind imports a dozen modules.
import importlib
import os
import time

NEEDED = ("email.mime.text", "xml.dom.minidom", "http.client", "sqlite3", "unittest", "decimal",
          "asyncio", "urllib.request", "ctypes", "multiprocessing.pool", "pydoc", "statistics")


class Service:
    def __init__(self):
        self.parts = {}

    def plain(self, number):
        return "".join(str(number + i) for i in range(2000))

    def special(self):
        for name in NEEDED:
            self.parts[name] = importlib.import_module(name)
        return len(self.parts)


def main():
    start = time.monotonic()
    seconds = float(os.environ.get("ZOO_SECONDS", "6"))
    service = Service()
    number = 0
    while time.monotonic() < start + seconds:
        service.plain(number)
        number += 1
        if time.monotonic() > start + seconds / 3 and number % 20 == 0:
            service.special()
        time.sleep(0.03)


if __name__ == "__main__":
    main()
