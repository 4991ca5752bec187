# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Event
# holder: outbox
# Events go into an asyncio queue; its reader looks at one in ten rounds and takes a single one.
import asyncio
import os
import time


class Event:
    def __init__(self, serial):
        self.serial = serial
        self.payload = {"field_%d" % i: i * serial for i in range(60)}


class Exporter:
    def __init__(self):
        self.outbox = asyncio.Queue()

    def emit(self, serial):
        for part in range(20):
            self.outbox.put_nowait(Event(serial + part))

    async def drain(self):
        while True:
            await asyncio.sleep(0.3)
            await self.outbox.get()


async def work():
    exporter = Exporter()
    drain = asyncio.ensure_future(exporter.drain())
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    serial = 0
    while time.monotonic() < end:
        exporter.emit(serial)
        serial += 20
        await asyncio.sleep(0.03)
    drain.cancel()


def main():
    asyncio.run(work())


if __name__ == "__main__":
    main()
