"""A bot that tries each wall from within and says what it could do: run as a program.

    python besieger.py < targets.json

The targets are what `wall_trials.py` names. It writes, as JSON as well, for each trial null or how far it came.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

__all__ = ["TRIALS", "Targets"]

SCRATCHES = ("/tmp", "/var/tmp", "/dev/shm")
"""Where each bot has folders of its own."""


class Targets(TypedDict):
    """What is to be tried; files that are hidden under each of their names."""

    name: str
    other: list[str]
    result: list[str]
    home: str
    folder: str
    judge: str
    port: str
    cores: str


def _reads(targets: Targets) -> str | None:
    return _read(targets["other"])


def _reads_results(targets: Targets) -> str | None:
    return _read(targets["result"])


def _read(files: list[str]) -> str | None:
    for path in map(Path, files):
        with contextlib.suppress(OSError):
            if content := path.read_bytes():
                return f"read {len(content)} bytes of {path}"
    return None


def _writes_results(targets: Targets) -> str | None:
    results = [Path(one) for one in targets["result"]]
    tried = ((one, mode) for path in results for one, mode in ((path, "ab"), (path.with_name("new.json"), "wb")))
    return next(filter(None, (_writes(path, mode) for path, mode in tried)), None)


def _writes_scratch(targets: Targets) -> str | None:
    for folder in (os.environ.get("HOME", ""), os.environ.get("TMPDIR", ""), "/dev/shm"):
        path = Path(folder, targets["name"])
        if not _writes(path, "wb"):
            return f"cannot write in {folder or 'a folder of its own'}"
        path.unlink()
    return None


def _writes_files(targets: Targets) -> str | None:
    name = targets["name"]
    folders = [targets["home"], targets["folder"], str(Path(sys.executable).parent), "/etc", "/usr", "/", "/dev"]
    tried = (_writes(Path(one, name), "wb") for one in folders if one not in SCRATCHES)
    return next(filter(None, tried), None)


def _keeps_files(targets: Targets) -> str | None:
    for folder in SCRATCHES:
        _writes(Path(folder, targets["name"]), "wb")
    return None  # whoever sent it sees what is left


def _writes(path: Path, mode: str) -> str | None:
    with contextlib.suppress(OSError), path.open(mode) as file:
        file.write(b"x")
        return f"wrote {path}"
    return None


def _sees_processes(targets: Targets) -> str | None:
    seen = [one.name for one in Path("/proc").iterdir() if one.name.isdigit()]
    above = [pid for pid in seen if targets["name"].encode() in _cmdline(pid) and int(pid) != os.getpid()]
    if len(seen) > len(above) + 2:
        return f"saw {len(seen)} processes"
    with contextlib.suppress(OSError):
        os.kill(int(targets["judge"]), 0)
        return "could send the judge a signal"
    return None


def _cmdline(pid: str) -> bytes:
    with contextlib.suppress(OSError):
        return Path("/proc", pid, "cmdline").read_bytes()
    return b""


def _connects(targets: Targets) -> str | None:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(targets["port"])), timeout=2):
        return "reached a program of this machine"
    others = sorted(name for _, name in socket.if_nameindex() if name != "lo")
    return f"has the network interfaces {', '.join(others)}" if others else None


def _knows(targets: Targets) -> str | None:
    return f"found {targets['name']}" if targets["name"] in os.environ else None


def _is_privileged(targets: Targets) -> str | None:
    status = dict(
        line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line
    )
    if int(status["CapEff"], 16) or int(status["CapBnd"], 16):
        return f"has the capabilities {status['CapEff']} of {status['CapBnd']}"
    if status.get("NoNewPrivs") != "1":
        return "may gain privileges"
    with contextlib.suppress(OSError):
        knob = Path("/proc/sys/vm/swappiness")
        knob.write_text(knob.read_text())
        return "wrote a setting of the kernel"
    if ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
        return "mounted a file system"
    return None


def _outlives(targets: Targets) -> str | None:
    """Leave a process in a session of its own, without a parent and without pipes."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(3):
                os.close(number)
            os.execv(
                sys.executable, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)", targets["name"]]
            )
        os._exit(0)
    os.wait()
    return None  # whoever sent it sees what is left


def _leaves_core(targets: Targets) -> str | None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, range(int(targets["cores"])))
        found = sorted(os.sched_getaffinity(0))
        return f"runs on the cores {', '.join(map(str, found))}" if len(found) > 1 else None
    return None


TRIALS: dict[str, Callable[[Targets], str | None]] = {
    "other": _reads,
    "results": _reads_results,
    "results-written": _writes_results,
    "scratch": _writes_scratch,
    "files": _writes_files,
    "kept": _keeps_files,
    "processes": _sees_processes,
    "network": _connects,
    "environment": _knows,
    "privileges": _is_privileged,
    "core": _leaves_core,
    "outlives": _outlives,
}
"""By name, in the order in which they are carried out."""

if __name__ == "__main__":
    what_is_there = json.load(sys.stdin)
    print(json.dumps({name: trial(what_is_there) for name, trial in TRIALS.items()}))
