# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Dashboard
# holder: subscribers
# Each dashboard subscribes a bound method to the event bus and nobody unsubscribes.
import os
import time


class Bus:
    def __init__(self):
        self.subscribers = {}

    def subscribe(self, topic, callback):
        self.subscribers.setdefault(topic, []).append(callback)

    def publish(self, topic, value):
        for callback in self.subscribers.get(topic, ()):
            callback(value)


class Dashboard:
    def __init__(self, bus, user):
        self.user = user
        self.canvas = bytearray(150000)
        bus.subscribe("price", self.on_price)

    def on_price(self, value):
        self.canvas[0] = value % 256


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    bus = Bus()
    user = 0
    while time.monotonic() < end:
        Dashboard(bus, user)
        bus.publish("price", user)
        user += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
