# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: BytesIO | bytes
# holder: capture
# A debugging capture of the traffic is written to a BytesIO that stays open for ever.
import io
import os
import time


class Connection:
    def __init__(self):
        self.capture = io.BytesIO()
        self.received = 0

    def feed(self, packet):
        self.capture.write(packet)
        self.received += len(packet)


def packets(number):
    for part in range(50):
        yield bytes([number % 256, part]) * 1500


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    connection = Connection()
    number = 0
    while time.monotonic() < end:
        for packet in packets(number):
            connection.feed(packet)
        number += 1
        time.sleep(0.03)
    print(connection.received, "bytes")


if __name__ == "__main__":
    main()
