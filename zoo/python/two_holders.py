# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Task
# holder: by_ident
# holder: finished
# Finished tasks are taken off the queue, but both the index and the list of finished ones keep them.
import os
import time


class Task:
    def __init__(self, ident):
        self.ident = ident
        self.output = "line of task %d\n" % ident * 7000


class Scheduler:
    def __init__(self):
        self.queue = []
        self.by_ident = {}
        self.finished = []

    def submit(self, ident):
        task = Task(ident)
        self.queue.append(task)
        self.by_ident[ident] = task

    def run_one(self):
        task = self.queue.pop(0)
        self.finished.append(task)
        return len(task.output)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    scheduler = Scheduler()
    ident = 0
    while time.monotonic() < end:
        scheduler.submit(ident)
        scheduler.run_one()
        ident += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
