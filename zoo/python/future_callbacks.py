# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Query
# holder: ready
# Every query adds a done-callback to the pool's `ready` future, which is never done.
import asyncio
import os
import time


class Query:
    def __init__(self, number):
        self.number = number
        self.rows = ["row %d of %d" % (i, number) for i in range(1500)]

    def wake(self, future):
        self.rows.clear()


class Pool:
    def __init__(self, loop):
        self.ready = loop.create_future()

    def run(self, query):
        self.ready.add_done_callback(query.wake)
        return len(query.rows)


async def work():
    pool = Pool(asyncio.get_running_loop())
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        pool.run(Query(number))
        number += 1
        print("query", number, flush=True)
        await asyncio.sleep(0.03)


def main():
    asyncio.run(work())


if __name__ == "__main__":
    main()
