# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: StepResult
# holder: history
# needs: numpy
# The trainer keeps every step's result, and with it the activations, although it reads the loss alone.
import os
import time

import numpy as np


class StepResult:
    def __init__(self, loss, activations):
        self.loss = loss
        self.activations = activations


class Trainer:
    def __init__(self):
        self.weights = np.random.rand(128, 128)
        self.history = []

    def step(self):
        batch = np.random.rand(128, 128)
        activations = batch @ self.weights
        self.history.append(StepResult(float(activations.mean()), activations))
        return self.history[-1].loss


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    trainer = Trainer()
    step = 0
    while time.monotonic() < end:
        loss = trainer.step()
        step += 1
        print("step %d loss %.4f" % (step, loss), flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
