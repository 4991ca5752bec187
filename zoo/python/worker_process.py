# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Batch
# holder: done
# The parent is steady; the worker process it feeds keeps every batch it has done.
import multiprocessing
import os
import time


class Batch:
    def __init__(self, number):
        self.number = number
        self.pixels = bytearray(130000)


class Worker:
    def __init__(self):
        self.done = []

    def loop(self, jobs):
        for number in iter(jobs.get, None):
            batch = Batch(number)
            batch.pixels[number % 1000] = 1
            self.done.append(batch)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    fork = multiprocessing.get_context("fork")
    jobs = fork.SimpleQueue()
    process = fork.Process(target=Worker().loop, args=(jobs,))
    process.start()
    number = 0
    while time.monotonic() < end:
        jobs.put(number)
        number += 1
        time.sleep(0.03)
    jobs.put(None)
    process.join()


if __name__ == "__main__":
    main()
