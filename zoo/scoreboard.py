#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of the zoo under `lowtide run` and counts what it names rightly.

Each program states its truth in the comment it opens with:

    # verdict: leak                 the name lowtide must give; several: leak | undecided
    # type: Request                 the type that must be the first suspect; several with |
    # holder: _log                  text in the path that holds it; a line for each holder there is
    # needs: numpy pandas           packages, else the program is left out and counted as such
    # python: 3.9                   the oldest version it runs on
    # repeat: 6                     runs (non-leaks: a false alarm is a matter of chance)

usage: zoo/scoreboard.py [--lowtide PATH] [--python PATH]... [--jobs N] [--times N] [NAME...]
       zoo/scoreboard.py --list [NAME...]     the truth of each, nothing is run
Exit status 1 where fewer than --least percent are right or more than --alarms are accused falsely.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GROWTH = {"leak"}
FACT = re.compile(r"# (verdict|type|holder|needs|python|repeat|options): (.*)")


class Program:
    """One file of the zoo and the truth it states."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.facts = {}
        lines = path.read_text().splitlines()
        comment = list(itertools.takewhile(lambda line: line.startswith("#"), lines))[1:]
        for found in filter(None, map(FACT.match, comment)):
            self.facts.setdefault(found.group(1), []).append(found.group(2).strip())
        self.verdicts = self.words("verdict")
        self.leaks = "leak" in self.verdicts
        # The sentences after the facts.
        self.truth = " ".join(line[2:] for line in comment if not FACT.match(line))

    def words(self, fact):
        return [word.strip() for line in self.facts.get(fact, []) for word in line.split("|")]

    def lacks(self, python):
        """The first package this Python does not have, or None."""
        oldest = self.facts.get("python")
        if oldest:
            version = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                                     capture_output=True, text=True, check=True).stdout.strip()
            if tuple(map(int, version.split("."))) < tuple(map(int, oldest[0].split("."))):
                return "Python " + oldest[0]
        for package in " ".join(self.facts.get("needs", [])).split():
            probe = subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False)
            if probe.returncode != 0:
                return package
        return None


class Outcome:
    """What one run of a program came to."""

    def __init__(self, program, found, status):
        self.program = program
        verdict = found.get("verdict", {}) if found else {}
        suspects = found.get("suspects", []) if found else []
        self.verdict = verdict.get("name", "none")
        self.why = verdict.get("why", "")
        first = suspects[0] if suspects else {}
        self.type = first.get("type", "")
        self.path = first.get("path_text", "")
        paths = [self.path] + [str(other) for other in first.get("other_holders", [])]
        self.status = status
        self.right_verdict = self.verdict in program.verdicts
        types = program.words("type")
        self.right_type = not types or any(self.names(want) for want in types)
        self.right_holder = all(any(self.holds(line, path) for path in paths)
                                for line in program.facts.get("holder", []))
        self.false_alarm = not program.leaks and self.verdict in GROWTH
        if not program.leaks:
            self.right_type = self.right_holder = not suspects

    def names(self, want):
        return self.type == want or self.type.split(".")[-1] == want

    @staticmethod
    def holds(line, path):
        return any(want.strip() in path for want in line.split("|"))

    @property
    def right(self):
        return self.right_verdict and self.right_type and self.right_holder and self.status == 0

    def line(self):
        marks = "".join("+" if good else "-" for good in
                        (self.right_verdict, self.right_type, self.right_holder, self.status == 0))
        said = f"{self.verdict:22} {self.type}"
        return f"{marks} {self.program.name:34} {said}  {self.path}"


def absolute(program):
    """Where a program lies: runs take place in folders of their own."""
    return os.path.abspath(shutil.which(program) or program)


def run(program, python, lowtide):
    with tempfile.TemporaryDirectory() as folder:
        found_file = os.path.join(folder, "found.json")
        command = [lowtide, "run", "--quiet", "--out", os.path.join(folder, "x.tide"),
                   "--json", found_file]
        command += " ".join(program.facts.get("options", [])).split()
        command += ["--", python, str(program.path)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder,
                               stdin=subprocess.DEVNULL)
        try:
            with open(found_file) as file:
                found = json.load(file)
        except (OSError, ValueError):
            found = None
        outcome = Outcome(program, found, ended.returncode)
        if found is None:
            outcome.why = "nothing was found: " + ended.stderr.strip()[-300:]
        return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lowtide", type=absolute, default=str(HERE.parent / "lowtide"))
    parser.add_argument("--python", type=absolute, action="append")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=95, help="percent of the leaks that must be right")
    parser.add_argument("--alarms", type=int, default=0, help="false alarms that may be")
    parser.add_argument("--times", type=int, help="runs of each, instead of what the programs say")
    parser.add_argument("--list", action="store_true", help="say what each does, run nothing")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    pythons = args.python or [sys.executable]
    programs = [Program(path) for path in sorted((HERE / "python").glob("*.py"))]
    unknown = set(args.names) - {program.name for program in programs}
    if unknown:
        parser.error("no such program: " + " ".join(sorted(unknown)))
    if args.names:
        programs = [program for program in programs if program.name in args.names]

    if args.list:
        for program in programs:
            print(f"{program.name:24} {program.truth}")
        print(f"\n{sum(program.leaks for program in programs)} leak, "
              f"{sum(not program.leaks for program in programs)} do not")
        return 0

    work, left_out = [], []
    for python in pythons:
        for program in programs:
            lacking = program.lacks(python)
            if lacking:
                left_out.append(f"{program.name} with {python}: no {lacking}")
                continue
            times = args.times or int(program.facts.get("repeat", ["1"])[0])
            work += [(program, python)] * times
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for outcome in pool.map(lambda item: run(*item, args.lowtide), work):
            outcomes.append(outcome)
            print(outcome.line(), flush=True)
            if not outcome.right and outcome.why:
                print("     " + outcome.why)

    leaks = [outcome for outcome in outcomes if outcome.program.leaks]
    others = [outcome for outcome in outcomes if not outcome.program.leaks]
    alarms = sum(outcome.false_alarm for outcome in others)

    def share(some, what):
        good = sum(what(outcome) for outcome in some)
        return f"{good} of {len(some)} ({100 * good / len(some):.1f} %)" if some else "none run"

    print()
    for line in left_out:
        print("left out:", line)
    print("marks: verdict, type, holder, exit status")
    print("right verdict:", share(outcomes, lambda outcome: outcome.right_verdict))
    print("right type:   ", share(leaks, lambda outcome: outcome.right_type))
    print("right holder: ", share(leaks, lambda outcome: outcome.right_holder))
    print("all of it:    ", share(leaks, lambda outcome: outcome.right))
    print(f"false alarms:  {alarms} in {len(others)} runs of programs that do not leak")
    wrong = sum(not outcome.right for outcome in outcomes)
    print(f"{len(outcomes) - wrong} passed, {wrong} failed")
    enough = sum(outcome.right for outcome in leaks) >= args.least / 100 * len(leaks)
    return 0 if enough and alarms <= args.alarms and outcomes else 1


if __name__ == "__main__":
    sys.exit(main())
