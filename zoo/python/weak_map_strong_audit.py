# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Session
# holder: trail
# Sessions sit in a WeakValueDictionary, as they should, but the audit trail holds them strongly.
import os
import time
import weakref


class Session:
    def __init__(self, user):
        self.user = user
        self.basket = ["article-%d-%d" % (user, i) for i in range(1500)]


class Audit:
    def __init__(self):
        self.trail = []

    def note(self, action, subject):
        self.trail.append((action, subject))


class Site:
    def __init__(self):
        self.sessions = weakref.WeakValueDictionary()
        self.audit = Audit()

    def visit(self, user):
        session = Session(user)
        self.sessions[user] = session
        self.audit.note("login", session)


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    site = Site()
    user = 0
    while time.monotonic() < end:
        site.visit(user)
        user += 1
        time.sleep(0.03)


if __name__ == "__main__":
    main()
