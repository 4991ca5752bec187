# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: module | Rule
# holder: sys.modules | modules | rules_
# Each rule file is loaded as a module of its own name, and sys.modules keeps them all.
import os
import sys
import time
import types

SOURCE = """
class Rule:
    def __init__(self, words):
        self.words = words

    def matches(self, text):
        return any(word in text for word in self.words)

rule = Rule(["word%d-%d" % (NUMBER, i) for i in range(1200)])
"""
CODE = compile(SOURCE, "rules.py", "exec")


def load_rules(number):
    module = types.ModuleType("rules_%d" % number)
    module.NUMBER = number
    sys.modules[module.__name__] = module
    exec(CODE, module.__dict__)
    return module.rule


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    number = 0
    while time.monotonic() < end:
        load_rules(number).matches("word%d-7" % number)
        number += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
