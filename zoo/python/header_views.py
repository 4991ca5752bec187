# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: bytes | memoryview
# holder: headers
# The kept headers are 64-byte views, and each of them pins the 200 KB message it was cut from.
import os
import time


class Inbox:
    def __init__(self):
        self.headers = []

    def receive(self, message):
        self.headers.append(memoryview(message)[:64])
        return message[64:].count(b"7")


def fetch(number):
    return b"%010d" % number * 20000


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    inbox = Inbox()
    number = 0
    while time.monotonic() < end:
        inbox.receive(fetch(number))
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
