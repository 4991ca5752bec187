# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: str | set
# holder: visited
# The crawler never forgets an address, though the site makes up new ones without end.
import os
import time


class Crawler:
    def __init__(self):
        self.visited = set()
        self.front = ["https://calendar.example/day/0"]

    def links(self, page):
        day = int(page.rsplit("/", 1)[1].split("?")[0])
        return ["https://calendar.example/day/%d?view=%d" % (day + 1, i) for i in range(900)]

    def step(self):
        page = self.front.pop()
        fresh = [link for link in self.links(page) if link not in self.visited]
        self.visited.update(fresh)
        self.front = fresh[:1]


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    crawler = Crawler()
    while time.monotonic() < end:
        crawler.step()
        time.sleep(0.025)
    print(len(crawler.visited), "addresses")


if __name__ == "__main__":
    main()
