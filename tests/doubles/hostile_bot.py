"""Bots that do not want to go: `python hostile_bot.py BEHAVIOUR`. Each says first that it is there."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time


def fork_bomb():
    while True:
        with contextlib.suppress(OSError):
            os.fork()


def fork_bomb_in_new_sessions():
    while True:
        with contextlib.suppress(OSError):
            if os.fork() == 0:
                os.setsid()


def shell_bomb():
    # A shell that cannot fork exits: on a busy machine, the first one would before the judge has looked.
    os.execvp("sh", ["sh", "-c", "(b() { b | b & b; }; b); exec sleep 1000"])


def thread_bomb():
    while True:
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=time.sleep, args=(1000,)).start()


def detached():
    """Sleep twenty times, each without a parent, in a session of its own, and deaf."""
    for _ in range(20):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                deaf()
            os._exit(0)
        os.wait()
    time.sleep(1000)


def deaf():
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    time.sleep(1000)


def stopped():
    for _ in range(3):
        if os.fork() == 0:
            os.setpgid(0, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)


def fills(path):
    with open(path, "wb") as file:  # noqa: PTH123
        while True:
            file.write(b"x" * 1_000_000)


def fills_heap():
    held = []
    while True:
        held.append(b"x" * 1_000_000)


def fills_memfd():
    fills(os.memfd_create("full"))


def fills_scratch():
    fills(os.environ["TMPDIR"] + "/full")


def fills_shm():
    fills("/dev/shm/full")


def takes_cores():
    os.sched_setaffinity(0, range(os.cpu_count()))
    while len(os.sched_getaffinity(0)) > 1:
        time.sleep(0.01)
    sys.exit("put back")


def opens_files():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held = []
    with contextlib.suppress(OSError):
        held += [os.open("/dev/null", os.O_RDONLY) for _ in range(100_000)]
    time.sleep(1000)


def kills_all():
    assert os.getpid() < 10, "only among processes of its own"
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        for pid in (-1, 0, 1, os.getppid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM if pid == 0 else signal.SIGKILL)


def floods_stderr():
    subprocess.Popen(["sh", "-c", "yes >&2"])
    while True:
        os.write(2, b"x" * 65536)


os.write(2, b"here\n")
globals()[sys.argv[1]]()
