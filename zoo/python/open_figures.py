# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Figure
# holder: figures
# Plots are saved but not closed, and the drawing module has a table of all open figures.
import collections
import os
import time


class Axes:
    def __init__(self, figure):
        self.figure = figure
        self.lines = []

    def plot(self, values):
        self.lines.append(list(values))


class Figure:
    figures = collections.OrderedDict()

    def __init__(self):
        self.axes = Axes(self)
        Figure.figures[len(Figure.figures)] = self

    def save(self):
        return b"".join(b"%d;" % value for line in self.axes.lines for value in line)


def report(number):
    figure = Figure()
    figure.axes.plot(range(number, number + 3000))
    return len(figure.save())


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        report(number)
        number += 1000
        time.sleep(0.03)


if __name__ == "__main__":
    main()
