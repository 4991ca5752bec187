# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: AgentSession
# holder: sessions
# Finished sub-agents are marked as done and stay in the registry with their messages.
import json
import os
import time


class AgentSession:
    def __init__(self, goal):
        self.goal = goal
        self.done = False
        self.messages = []

    def work(self):
        for step in range(12):
            result = json.dumps({"step": step, "found": [self.goal] * 150})
            self.messages.append({"role": "tool", "content": json.loads(result)})
        self.done = True


class Registry:
    def __init__(self):
        self.sessions = {}

    def spawn(self, number):
        session = AgentSession("look at file %d" % number)
        self.sessions[number] = session
        session.work()


registry = Registry()


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        registry.spawn(number)
        number += 1
        print("sub-agent", number, "is done", flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
