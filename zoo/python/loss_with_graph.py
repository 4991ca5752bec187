# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Tensor
# holder: losses
# needs: torch
# The losses are appended as tensors, not numbers: each keeps the graph of its step alive.
import os
import time

import torch


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    step = 0
    while time.monotonic() < end:
        inputs = torch.rand(128, 64)
        loss = (model(inputs) - inputs.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        losses.append(loss)
        step += 1
        print("step", step, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
