# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Sample
# holder: native
# A C extension takes a reference to each sample and never gives it back; no Python object holds it.
import ctypes
import os
import time


class Sample:
    def __init__(self, number):
        self.number = number
        self.values = bytearray(120000)


def native_append(sample):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(sample))


class Recorder:
    def __init__(self):
        self.count = 0

    def record(self, number):
        sample = Sample(number)
        native_append(sample)
        self.count += 1


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    recorder = Recorder()
    while time.monotonic() < end:
        recorder.record(recorder.count)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
