# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: Profile
# holder: _profiles
# A module dict meant as a cache gets an entry per visitor and never loses one.
import os
import time

_profiles = {}


class Profile:
    def __init__(self, visitor):
        self.visitor = visitor
        self.pages = ["/shop/%d/%d" % (visitor, page) for page in range(1500)]
        self.score = 0.0


def profile_of(visitor):
    if visitor not in _profiles:
        _profiles[visitor] = Profile(visitor)
    return _profiles[visitor]


def handle(request):
    profile = profile_of(request)
    profile.score += len(profile.pages) * 0.5
    return profile.score


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    served = 0
    while time.monotonic() < end:
        handle(served)
        served += 1
        if served % 50 == 0:
            print("served", served, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
