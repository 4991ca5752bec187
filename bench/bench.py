# SPDX-License-Identifier: Apache-2.0
"""What the comparisons share: the machine in a line, peers in a folder of their own under build/,
what a process costs by the kernel's account, and one Markdown table."""
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def machine():
    model = "unknown processor"
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} × {model}, {memory:.0f} GiB, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, load {load:.1f} when it began"
    )


def peers(*packages):
    """A Python that has `packages` (names and versions as pip takes them), made once."""
    home = ROOT / "build" / "bench-venv"
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
    have = subprocess.run(
        [python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True
    ).stdout.lower().replace("_", "-")
    missing = [p for p in packages if p.lower().replace("_", "-") not in have]
    if missing:
        say(f"installing {' '.join(missing)} into {home.relative_to(ROOT)}")
        subprocess.run([python, "-m", "pip", "install", "-q", *missing], check=True)
    return str(python)


def lowtide(path):
    """The program to measure: `path`, or the release build."""
    program = pathlib.Path(path) if path else ROOT / "build" / "release" / "bin" / "lowtide"
    if not program.exists():
        sys.exit(f"{program} is not built; run ./lowtide once, or name one with --lowtide")
    return str(program.resolve())


def say(line):
    print(line, file=sys.stderr, flush=True)


class Folder:
    """A temporary folder through whose files a bench and its programs tell each other things."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="lowtide-bench-"))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def __truediv__(self, name):
        return self.path / name

    def tell(self, name, text=""):
        whole = self / (name + ".new")
        whole.write_text(text)
        whole.rename(self / name)

    def hear(self, name, process=None, limit=300):
        """The text of file `name` once it is there."""
        end = time.monotonic() + limit
        while not (self / name).exists():
            if process is not None and process.poll() is not None and not (self / name).exists():
                raise RuntimeError(f"it ended with {process.returncode} before it said '{name}'")
            if time.monotonic() > end:
                raise RuntimeError(f"it did not say '{name}' in {limit} s")
            time.sleep(0.01)
        return (self / name).read_text()


def cpu_seconds(pid):
    """User and system time of a process, all threads: to the nanosecond where the kernel tells."""
    try:
        return sum(
            int((task / "schedstat").read_text().split()[0])
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
        ) / 1e9
    except OSError:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


def status_bytes(pid, field):
    """A figure of /proc/PID/status: VmHWM, VmRSS ..."""
    for line in open(f"/proc/{pid}/status"):
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def mib(count):
    return f"{count / 2**20:.1f} MiB"


def milliseconds(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"


def table(title, head, rows):
    print(f"{title}\n\nMachine: {machine_line}.\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


machine_line = machine()
