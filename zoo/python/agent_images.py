# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: dict | str
# holder: messages
# The agent's message list is sent whole each turn and keeps every screenshot as base64 text.
import base64
import os
import time


class Agent:
    def __init__(self):
        self.messages = [{"role": "system", "content": "Do what the user asks."}]

    def see(self, pixels):
        picture = base64.b64encode(pixels).decode()
        self.messages.append({"role": "user", "content": [{"type": "image", "data": picture}]})

    def answer(self, turn):
        self.messages.append({"role": "assistant", "content": "click %d" % turn})


def screenshot(turn):
    return bytes([turn % 256]) * 150000


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    agent = Agent()
    turn = 0
    while time.monotonic() < end:
        agent.see(screenshot(turn))
        agent.answer(turn)
        turn += 1
        print("turn", turn, flush=True)
        time.sleep(0.035)


if __name__ == "__main__":
    main()
