# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Run
# holder: child_runs
# Runs are reported when they end but stay in their parent's child_runs, and the root never ends.
import os
import time


class Run:
    def __init__(self, name, parent=None):
        self.name = name
        self.parent = parent
        self.child_runs = []
        self.inputs = {}
        if parent is not None:
            parent.child_runs.append(self)

    def report(self):
        return {"name": self.name, "inputs": len(self.inputs)}


def turn(session, number):
    chain = Run("chain %d" % number, session)
    for step in range(5):
        model = Run("model", chain)
        model.inputs["prompt"] = "step %d of %d " % (step, number) * 2000
        model.report()
    return chain.report()


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    session = Run("session")
    number = 0
    while time.monotonic() < end:
        turn(session, number)
        number += 1
        print("turn", number, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
