# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Transfer | finalize | _Info
# holder: _registry
# weakref.finalize is asked to close each transfer when the application dies, which it does not.
import os
import time
import weakref


class Transfer:
    def __init__(self, number):
        self.number = number
        self.window = bytearray(128 * 1024)

    def close(self):
        self.window.clear()


class Application:
    def download(self, number):
        transfer = Transfer(number)
        weakref.finalize(self, transfer.close)
        return len(transfer.window)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    application = Application()
    number = 0
    while time.monotonic() < end:
        application.download(number)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
