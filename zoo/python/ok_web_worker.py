# SPDX-License-Identifier: Apache-2.0
# verdict: steady | warming-up | retained-by-allocator | levelling-off | undecided
# repeat: 6
# A worker parses, renders and forgets; a line is printed for each request.
import json
import os
import time


class Handler:
    def __init__(self):
        self.served = 0

    def parse(self, body):
        return json.loads(body)

    def render(self, data):
        rows = ("<tr><td>%s</td></tr>" % row for row in data["rows"])
        return "<table>" + "".join(rows) + "</table>"

    def handle(self, body):
        self.served += 1
        return len(self.render(self.parse(body)))


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    handler = Handler()
    while time.monotonic() < end:
        body = json.dumps({"rows": list(range(handler.served, handler.served + 4000))})
        size = handler.handle(body)
        print("200 /table %d bytes" % size, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
