# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Logger
# holder: loggerDict
# A logger is made for every request by name; the logging module keeps all of them.
import logging
import os
import time


def handle(request):
    log = logging.getLogger("request-%d" % request)
    log.debug("start")
    log.debug("end")


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    request = 0
    while time.monotonic() < end:
        for _ in range(80):
            handle(request)
            request += 1
        time.sleep(0.025)
    print("handled", request)


if __name__ == "__main__":
    main()
