# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: RetryError | Attempt
# holder: __context__ | __cause__ | last_error
# Each retry raises from the last error, so the newest error holds all before it.
import os
import time


class Attempt:
    def __init__(self, number):
        self.number = number
        self.body = b"%05d" % number * 25000


class RetryError(Exception):
    def __init__(self, attempt):
        super().__init__("attempt %d failed" % attempt.number)
        self.attempt = attempt


class Uploader:
    def __init__(self):
        self.last_error = None

    def upload(self, number):
        try:
            raise RetryError(Attempt(number)) from self.last_error
        except RetryError as error:
            self.last_error = error.with_traceback(None)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    uploader = Uploader()
    number = 0
    while time.monotonic() < end:
        uploader.upload(number)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
