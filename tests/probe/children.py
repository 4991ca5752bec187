# SPDX-License-Identifier: Apache-2.0
"""Every way Python starts another process; run with -W error."""
import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import threading

ENV = "import os; print(sorted(k for k in os.environ if k not in ('LC_CTYPE',)), flush=True)"


def work(number):
    return number * number, "LD_PRELOAD" in os.environ


def main():
    sys.stdout.reconfigure(line_buffering=True)
    print(sorted(os.environ.items()), threading.active_count(), len(os.listdir("/proc/self/task")))
    print(sorted(os.listdir("/proc/self/fd"), key=int)[:3])
    for arguments in ({}, {"close_fds": False}, {"env": {"A": "1"}}, {"start_new_session": True},
                      {"preexec_fn": os.getpid}, {"cwd": "/"}, {"shell": False, "env": {}}):
        print(arguments.keys(), subprocess.run([sys.executable, "-c", ENV], **arguments).returncode)
    print(subprocess.run("echo shell $LD_PRELOAD; exit 3", shell=True).returncode)
    with os.popen("echo popen $LD_PRELOAD") as stream:
        print(os.system("echo system; exit 2"), stream.read())
    pid = os.posix_spawn(sys.executable, ["python", "-c", ENV], {"B": "2"})
    print(os.waitpid(pid, 0)[1])
    pid = os.fork()
    if pid == 0:
        os.execve(sys.executable, ["python", "-c", ENV], {})
    print(os.waitpid(pid, 0)[1])
    for way in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            print(way, pool.map(work, range(4)))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(list(pool.map(work, range(4))))
    try:
        subprocess.run(["/no/such/program"])
    except FileNotFoundError as error:
        print(error)


if __name__ == "__main__":
    main()
