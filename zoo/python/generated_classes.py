# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: type
# holder: _models
# A class is made for each response; the registry of models keeps every one.
import os
import time

_models = []


def make_model(name, fields):
    def __init__(self, *values):
        for field, value in zip(fields, values):
            setattr(self, field, value)

    def total(self):
        return sum(getattr(self, field) for field in fields)

    model = type(name, (), {"__init__": __init__, "total": total, "fields": fields})
    _models.append(model)
    return model


def parse_response(number):
    total = 0
    for part in range(40):
        model = make_model("Response%d_%d" % (number, part), ("a", "b", "c"))
        total += model(1, 2, 3).total()
    return total


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        parse_response(number)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
