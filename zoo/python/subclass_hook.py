# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: type
# holder: known
# __init_subclass__ writes every subclass into a list, those made on the fly included.
import os
import time


class Field:
    known = []

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Field.known.append(cls)


def number_field(least, most):
    class NumberField(Field):
        bounds = (least, most)

        def check(self, value):
            return self.bounds[0] <= value <= self.bounds[1]

    return NumberField()


def validate(form):
    return all(number_field(0, form + i).check(i) for i in range(50))


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    form = 0
    while time.monotonic() < end:
        validate(form)
        form += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
