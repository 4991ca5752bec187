# SPDX-License-Identifier: Apache-2.0
"""A training loop that leaks: every step's batch stays reachable from a list nobody reads.

    ./lowtide run -- python3 examples/training.py
"""
import array
import random
import time


class Batch:
    """A million numbers, 8 MB, as a real one would be."""

    def __init__(self, seed):
        self.seed = seed
        self.values = array.array("d", random.Random(seed).randbytes(8_000_000))

    def mean(self):
        return sum(self.values[:1000]) / 1000


class Trainer:
    def __init__(self):
        self.loss = 1.0
        self.history = []

    def step(self, batch):
        self.loss *= 0.97
        # Meant to keep the loss; the batch comes along.
        self.history.append((self.loss, batch))


trainer = Trainer()


def main():
    for step in range(40):
        trainer.step(Batch(step))
        print(f"step {step} loss {trainer.loss:.4f}", flush=True)
        time.sleep(0.3)


if __name__ == "__main__":
    main()
