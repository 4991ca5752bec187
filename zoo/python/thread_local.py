# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Request
# holder: served
# Threads of a pool live as long as the program, and so does what their thread-local list collects.
import concurrent.futures
import os
import threading
import time

state = threading.local()


class Request:
    def __init__(self, number):
        self.number = number
        self.body = bytearray(120000)


def serve(number):
    if not hasattr(state, "served"):
        state.served = []
    state.served.append(Request(number))
    return len(state.served)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        while time.monotonic() < end:
            pool.submit(serve, number).result()
            number += 1
            time.sleep(0.03)


if __name__ == "__main__":
    main()
