# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: ReferenceType | weakref | function
# holder: watchers
# Observers are held weakly, but their dead references, a callback each, stay in the list.
import os
import time
import weakref


class Observer:
    def __init__(self, name):
        self.name = name


class Subject:
    def __init__(self):
        self.watchers = []
        self.gone = 0

    def watch(self, observer):
        name = observer.name

        def forget(reference):
            self.gone += len(name) > 0

        self.watchers.append(weakref.ref(observer, forget))


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    subject = Subject()
    made = 0
    while time.monotonic() < end:
        for _ in range(250):
            subject.watch(Observer("observer %d" % made))
            made += 1
        time.sleep(0.025)
    print(subject.gone, "of", made, "are gone")


if __name__ == "__main__":
    main()
