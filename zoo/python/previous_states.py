# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: State
# holder: previous
# Each state of the editor knows its previous one; only the newest has a name, and it holds all.
import os
import time


class State:
    def __init__(self, previous, text):
        self.previous = previous
        self.text = text


class Editor:
    def __init__(self):
        self.state = State(None, "")

    def edit(self, text):
        self.state = State(self.state, text)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    editor = Editor()
    edits = 0
    while time.monotonic() < end:
        for key in range(10):
            editor.edit("%d:%d " % (edits, key) * 2000)
        edits += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
