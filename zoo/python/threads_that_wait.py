# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Upload
# holder: watch
# Each upload starts a watcher thread that waits for a signal which never comes.
import os
import threading
import time

cancelled = threading.Event()


class Upload:
    def __init__(self, number):
        self.number = number
        self.chunk = bytearray(100000)


def watch(number):
    upload = Upload(number)
    cancelled.wait()
    upload.chunk.clear()


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        threading.Thread(target=watch, args=(number,), daemon=True).start()
        number += 1
        time.sleep(0.04)
    print("uploads:", number)


if __name__ == "__main__":
    main()
