# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Delivery | Event
# holder: _queue
# Each delivery enters a retry an hour ahead into the scheduler, and success does not cancel it.
import os
import sched
import time


class Delivery:
    def __init__(self, number):
        self.number = number
        self.message = b"%06d" % number * 20000

    def retry(self):
        return len(self.message)


class Mailer:
    def __init__(self):
        self.timers = sched.scheduler()

    def deliver(self, number):
        delivery = Delivery(number)
        self.timers.enter(3600, 1, delivery.retry)
        self.timers.run(blocking=False)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    mailer = Mailer()
    number = 0
    while time.monotonic() < end:
        mailer.deliver(number)
        number += 1
        print("delivered", number, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
