# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Task | Connection
# holder: closing
# Each connection has a task that awaits the server's one `closing` future, and that stays open.
import asyncio
import os
import time


class Connection:
    def __init__(self, peer):
        self.peer = peer
        self.buffer = bytearray(130000)


class Server:
    def __init__(self):
        self.closing = asyncio.get_running_loop().create_future()

    async def goodbye(self, connection):
        await self.closing
        connection.buffer.clear()

    def accept(self, peer):
        asyncio.ensure_future(self.goodbye(Connection(peer)))


async def serve():
    server = Server()
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    peer = 0
    while time.monotonic() < end:
        server.accept(peer)
        peer += 1
        await asyncio.sleep(0.03)
    server.closing.set_result(None)
    await asyncio.sleep(0)


def main():
    asyncio.run(serve())


if __name__ == "__main__":
    main()
