# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: set | Signal
# holder: by_sender
# A signal has a set per sender; disconnecting empties the set but leaves it in the map.
import os
import time


class Signal:
    def __init__(self):
        self.by_sender = {}

    def connect(self, sender, receiver):
        self.by_sender.setdefault(sender, set()).add(receiver)

    def disconnect(self, sender, receiver):
        self.by_sender[sender].discard(receiver)


class Widget:
    def __init__(self, serial):
        self.serial = serial
        self.clicks = 0

    def clicked(self):
        self.clicks += 1


def show_page(signal, first):
    widgets = [Widget(serial) for serial in range(first, first + 250)]
    for widget in widgets:
        signal.connect(widget.serial, widget.clicked)
    for widget in widgets:
        signal.disconnect(widget.serial, widget.clicked)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    signal = Signal()
    first = 0
    while time.monotonic() < end:
        show_page(signal, first)
        first += 250
        time.sleep(0.025)


if __name__ == "__main__":
    main()
