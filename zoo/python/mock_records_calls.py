# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: _Call | bytes | tuple
# holder: mock_calls | call_args_list
# The load test talks to a mock, which records the arguments of each call.
import os
import time
from unittest import mock


class Sender:
    def __init__(self, transport):
        self.transport = transport

    def send(self, number):
        self.transport.write(b"%08d" % number * 15000)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    sender = Sender(mock.MagicMock())
    number = 0
    while time.monotonic() < end:
        sender.send(number)
        number += 1
        time.sleep(0.03)
    print("sent", number)


if __name__ == "__main__":
    main()
