# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: RepoClient
# holder: read_file
# python: 3.9
# Each evaluation makes its own client; functools.cache on read_file remembers (client, path) for ever.
import functools
import os
import time


class RepoClient:
    def __init__(self, run):
        self.run = run
        self.files = {"src/file_%d.c" % i: ("%d:" % (run + i)) * 4000 for i in range(10)}


@functools.cache
def read_file(client, path):
    return client.files[path]


def evaluate(run):
    client = RepoClient(run)
    return sum(read_file(client, path).count("7") for path in list(client.files)[:4])


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    run = 0
    while time.monotonic() < end:
        score = evaluate(run)
        print("run %d score %d" % (run, score), flush=True)
        run += 1
        time.sleep(0.035)


if __name__ == "__main__":
    main()
