# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Route
# holder: planned
# make_planner() keeps its answers in a local dict, which its inner function holds for ever.
import os
import random
import time


class Route:
    def __init__(self, start, goal):
        self.start = start
        self.goal = goal
        self.steps = [random.random() for _ in range(4000)]


def make_planner():
    planned = {}

    def plan(start, goal):
        key = (start, goal)
        if key not in planned:
            planned[key] = Route(start, goal)
        return planned[key]

    return plan


plan_route = make_planner()


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    trip = 0
    while time.monotonic() < end:
        route = plan_route(trip, trip + 1)
        trip += 1
        print("trip %d: %d steps" % (trip, len(route.steps)), flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
