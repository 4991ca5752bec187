#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs behave with the probe as they do without: same output, same errors, same status.

usage: harmless_test.py lowtide_ask liblowtide_probe.so folder-of-programs [NAME...]

The environment is made by hand so that both runs start alike. A test is a command; what it prints
must not differ from run to run.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

ASK, PROBE, PROGRAMS = sys.argv[1:4]
ONLY = sys.argv[4:]
HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/", "EMPTY": "", "LANG": "C.UTF-8"}


def run(command, probe, extra):
    lead = [ASK, "--probe", PROBE, "--report", "9", "--"] if probe else []
    return subprocess.run(lead + command, env={**ENVIRONMENT, **extra}, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def pythons():
    found = {"python3": shutil.which("python3", path="/usr/bin:/bin")}
    for path in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))):
        found["python" + path.split("/")[-3]] = path
    # Older ones lack half of what children.py does.
    return {name: path for name, path in found.items()
            if path and not name.startswith(("python3.6.", "python3.7."))}


def commands():
    hazards = os.path.join(PROGRAMS, "lowtide_hazards")
    names = subprocess.run([hazards], stdout=subprocess.PIPE, text=True).stdout.split()
    for name in names:
        yield name, [hazards, name], {}
    yield "env", ["/usr/bin/env"], {}
    yield "env with an LD_PRELOAD", ["/usr/bin/env"], {"LD_PRELOAD": "libm.so.6"}
    yield "env with an empty LD_PRELOAD", ["/usr/bin/env"], {"LD_PRELOAD": ""}
    yield "children with an LD_PRELOAD", ["sh", "-c", "env; env -i /usr/bin/env"], \
        {"LD_PRELOAD": "libm.so.6 libdl.so.2"}
    yield "exec -c", ["bash", "-c", "exec -c /usr/bin/env"], {}
    yield "own malloc", [os.path.join(PROGRAMS, "lowtide_own_malloc")], {}
    yield "static", ["sh", "-c", f"{PROGRAMS}/lowtide_hazards_static environment"], {}
    yield "unshare", ["unshare", "-U", "-r", "id", "-u"], {}
    yield "a missing program", ["sh", "-c", "no-such-program; /etc/passwd; echo $?"], {}
    yield "pipes", ["sh", "-c", "yes | head -n 100000 | md5sum; seq 100000 | tail -n 1"], {}
    yield "descriptors", ["sh", "-c", "ls /proc/self/fd; cat /proc/self/comm"], {}
    for kind in ("jemalloc.so.2", "mimalloc.so.2.0", "tcmalloc_minimal.so.4"):
        for library in glob.glob(f"/usr/lib/*/lib{kind}"):
            alone = {"LD_PRELOAD": library}
            yield f"{kind} fork", [hazards, "fork"], alone
            yield f"{kind} threads", [hazards, "threads"], alone
            yield f"{kind} python", ["/usr/bin/python3", "-c", "print(len(list(map(str, range(99999)))))"], alone
    for library in glob.glob("/usr/lib/gcc/*/*/libasan.so")[:1]:
        # The runtime must come first: its children are left alone.
        yield "children under libasan", ["sh", "-c", f"LD_PRELOAD={os.path.realpath(library)} "
              "ASAN_OPTIONS=detect_leaks=0 /usr/bin/python3 -c 'print(1)'"], {}
    if os.geteuid() == 0:
        yield "chroot", ["/usr/bin/python3", os.path.join(HERE, "chroot.py"), PROGRAMS], {}
        yield "setuid", ["/usr/bin/python3", os.path.join(HERE, "setuid.py"), PROGRAMS], {}
    for name, path in pythons().items():
        yield f"{name} children", [path, "-W", "error", os.path.join(HERE, "children.py")], {}


def check_watching():
    """None of this means anything if the probe is not there: the exec hazard has many processes."""
    with tempfile.TemporaryFile("w+") as report:
        subprocess.run([ASK, "--probe", PROBE, "--report", str(report.fileno()), "--lines", "--",
                        os.path.join(PROGRAMS, "lowtide_hazards"), "exec"], env=ENVIRONMENT,
                       pass_fds=[report.fileno()], stdout=subprocess.DEVNULL)
        report.seek(0)
        slots = [line for line in report if line.startswith("slot: state 3")]
    print(f"the exec hazard left {len(slots)} slots")
    return len(slots) >= 20


def main():
    failed = 0 if check_watching() else 1
    ran = 0
    for name, command, extra in commands():
        if ONLY and name not in ONLY:
            continue
        ran += 1
        plain, probed = run(command, False, extra), run(command, True, extra)
        same = True
        for part in ("returncode", "stdout", "stderr"):
            a, b = getattr(plain, part), getattr(probed, part)
            if part == "returncode" and a < 0:
                a = 128 - a
            if a != b:
                same = False
                print(f"FAILED {name}: {part}\n  without {a!r}\n  with    {b!r}")
        failed += not same
        if same:
            print(f"same   {name}")
    print(f"{ran} programs, {failed} differ")
    return 1 if failed or not ran else 0


sys.exit(main())
