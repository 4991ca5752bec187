# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Child | Labels
# holder: children
# The user's id is a label of the counter: a child per user and endpoint, none ever dropped.
import dataclasses
import os
import time


@dataclasses.dataclass(frozen=True)
class Labels:
    user: str
    endpoint: str


@dataclasses.dataclass
class Child:
    count: int = 0
    buckets: list = dataclasses.field(default_factory=lambda: [0] * 12)


class Counter:
    def __init__(self, name):
        self.name = name
        self.children = {}

    def labels(self, user, endpoint):
        return self.children.setdefault(Labels(user, endpoint), Child())


requests = Counter("http_requests")


def serve(user):
    for endpoint in ("/login", "/cart", "/pay"):
        child = requests.labels("user-%d" % user, endpoint)
        child.count += 1
        child.buckets[user % 12] += 1


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    user = 0
    while time.monotonic() < end:
        for _ in range(60):
            serve(user)
            user += 1
        time.sleep(0.025)


if __name__ == "__main__":
    main()
