# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Template
# holder: closure
# A home-made @memoize keys its dict by all arguments, self among them; the dict lives in the closure.
import os
import time


def memoize(function):
    answers = {}

    def wrapper(*arguments):
        if arguments not in answers:
            answers[arguments] = function(*arguments)
        return answers[arguments]

    return wrapper


class Template:
    def __init__(self, text):
        self.text = text

    @memoize
    def render(self, who):
        return len(self.text.replace("{who}", who))


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    mails = 0
    while time.monotonic() < end:
        template = Template("Dear {who}, number %d. " % mails * 6000)
        template.render("Ada")
        mails += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
