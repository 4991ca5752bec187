# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Job
# holder: _heartbeats | _scheduled
# A timer handle kept per job carries a copy of the context, in which the context variable is the job.
import asyncio
import contextvars
import os
import time

current_job = contextvars.ContextVar("current_job")
_heartbeats = {}


class Job:
    def __init__(self, number):
        self.number = number
        self.inputs = bytearray(140000)


def beat():
    return None


async def run_job(number):
    job = Job(number)
    current_job.set(job)
    _heartbeats[number] = asyncio.get_running_loop().call_later(3600, beat)
    await asyncio.sleep(0)


async def work():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        await asyncio.ensure_future(run_job(number))
        number += 1
        await asyncio.sleep(0.03)


def main():
    asyncio.run(work())


if __name__ == "__main__":
    main()
