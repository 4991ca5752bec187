# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: str
# holder: transcript
# A chat appends to one string; each round copies it, so large temporaries come and go besides.
import os
import time


class Chat:
    def __init__(self):
        self.transcript = ""

    def say(self, who, text):
        self.transcript = self.transcript + who + ": " + text + "\n"
        return self.transcript.count("\n")


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    chat = Chat()
    turn = 0
    while time.monotonic() < end:
        chat.say("user", "question %d " % turn * 2500)
        chat.say("model", "answer %d " % turn * 4500)
        turn += 1
        print("turn", turn, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
