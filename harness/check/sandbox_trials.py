"""Trials of the sandbox: an escape probe runs in it as a bot, tries to leave it, and reports its breaches.

This file is also the probe, which has only the standard library. It reads the targets as JSON, and writes a breach
or null for each claim.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from nonobot.harness.process.access import Access
    from nonobot.harness.results.conditions import CgroupMeasures, Configuration, Contain

SCRATCHES = ("/tmp", "/var/tmp", "/dev/shm")  # places where each bot has folders of its own
SECONDS_TO_PUT_BACK = 5.0
SECONDS_BETWEEN_LOOKS = 0.05
SYSTEM_FOLDERS = ("/etc", "/usr", "/", "/dev")


class Targets(TypedDict):
    """Targets of the trials: `name` marks files, variables and processes of the trial."""

    name: str
    other: list[str]  # a hidden file, by each of its paths
    result: list[str]  # a hidden result, likewise
    folders: list[str]  # must not be writable
    judge: int  # number of the process
    port: int
    cores: int  # the machine's number of cores


def _read(files: list[str]) -> str | None:
    for path in map(Path, files):
        with contextlib.suppress(OSError):
            if content := path.read_bytes():
                return f"read {len(content)} bytes of {path}"
    return None


def _writes_scratch(targets: Targets) -> str | None:
    for folder in (os.environ.get("HOME", ""), os.environ.get("TMPDIR", ""), "/dev/shm"):
        path = Path(folder, targets["name"])
        if not _writes([path]):
            return f"cannot write in {folder or 'a folder of its own'}"
        path.unlink()
    return None


def _is_scratch(folder: str) -> bool:
    """Return whether a folder of the machine has the name of a scratch in the sandbox: a home below /tmp, say."""
    return any(Path(folder).is_relative_to(scratch) for scratch in SCRATCHES)


def _keeps_files(targets: Targets) -> str | None:
    for folder in (*SCRATCHES, *filter(_is_scratch, targets["folders"])):
        _writes([Path(folder, targets["name"])])
    return None  # the sender looks for them


def _writes(paths: Iterable[Path]) -> str | None:
    for path in paths:
        with contextlib.suppress(OSError), path.open("ab") as file:
            file.write(b"x")
            return f"wrote {path}"
    return None


def _sees_processes(targets: Targets) -> str | None:
    seen = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    above = 0
    for process in seen:
        with contextlib.suppress(OSError):
            is_named = targets["name"].encode() in (process / "cmdline").read_bytes()
            above += is_named and int(process.name) != os.getpid()
    if len(seen) > above + 2:
        return f"saw {len(seen)} processes"
    with contextlib.suppress(OSError):
        os.kill(targets["judge"], 0)
        return "could send the judge a signal"
    return None


def _connects(targets: Targets) -> str | None:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", targets["port"]), timeout=2):
        return "reached a program of this machine"
    others = sorted(name for _, name in socket.if_nameindex() if name != "lo")
    return f"has the network interfaces {', '.join(others)}" if others else None


def _is_privileged(targets: Targets) -> str | None:
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    # Not CapBnd: newer versions of bubblewrap keep it, as NoNewPrivs lets no program gain a capability from it.
    capabilities = [name for name in ("CapPrm", "CapEff", "CapInh", "CapAmb") if int(status[name], 16)]
    if capabilities:
        return f"has capabilities: {', '.join(f'{name} {status[name]}' for name in capabilities)}"
    if status.get("NoNewPrivs") != "1":
        return "may gain privileges"
    with contextlib.suppress(OSError):
        knob = Path("/proc/sys/vm/swappiness")
        knob.write_text(knob.read_text())
        return "wrote a setting of the kernel"
    if ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
        return "mounted a file system"
    return None


def _calls(targets: Targets) -> str | None:
    with contextlib.suppress(OSError), socket.socket(40, socket.SOCK_STREAM):  # AF_VSOCK
        return "made a socket to a virtual machine's host; libseccomp prevents it"
    keyctl = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
    if keyctl and ctypes.CDLL(None).syscall(keyctl, 0, -4, 0) >= 0:  # the number of its user's keyring
        return "reached the keyring of its user; libseccomp prevents it"
    return None


def _outlives(targets: Targets) -> str | None:
    """Leave a process in a session of its own, without a parent and without pipes."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(3):
                os.close(number)
            command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)", targets["name"]]
            os.execv(sys.executable, command)
        os._exit(0)
    os.wait()
    return None  # the sender looks for them


def _leaves_core(targets: Targets) -> str | None:
    if sys.platform != "linux":
        return None
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(targets["cores"]))
    until = time.monotonic() + SECONDS_TO_PUT_BACK
    while len(cores := sorted(os.sched_getaffinity(0))) > 1 and time.monotonic() < until:
        time.sleep(SECONDS_BETWEEN_LOOKS)  # without a cgroup, the judge puts it back, and names it in the result
    return f"runs on the cores {', '.join(map(str, cores))}" if len(cores) > 1 else None


SCRATCH = "it can write in its scratch folder"
GONE = "what it writes there is gone afterwards"
UNPRIVILEGED = "it has no privileges and gains none"
CALLS = "it reaches no keyring, and no host of a virtual machine"
CORE = "it cannot leave its core, or is put back on it"
ENDED = "nothing of it runs when it has ended"

TRIALS: dict[str, Callable[[Targets], str | None]] = {
    "it cannot read another bot's files": lambda targets: _read(targets["other"]),
    "it cannot read results": lambda targets: _read(targets["result"]),
    "it cannot write results": lambda targets: _writes(
        new for path in map(Path, targets["result"]) for new in (path, path.with_name("new.json"))
    ),
    SCRATCH: _writes_scratch,
    "it writes nowhere but in its scratch folder": lambda targets: _writes(
        Path(folder, targets["name"]) for folder in targets["folders"] if not _is_scratch(folder)
    ),
    GONE: _keeps_files,
    "it sees no process but its own, and can send none a signal": _sees_processes,
    "it has no network": _connects,
    "it has no environment of the judge's": lambda targets: (
        f"found {targets['name']}" if targets["name"] in os.environ else None
    ),
    UNPRIVILEGED: _is_privileged,
    CALLS: _calls,
    CORE: _leaves_core,
    ENDED: _outlives,
}
"""Trials by the claim that each tests, in the order in which they are carried out."""


def tried_sandbox(contain: Contain) -> tuple[dict[str, str | None], CgroupMeasures]:
    """Return the breach of each claim about the sandbox, None where it holds, and the figures of the cgroup."""
    from nonobot.harness.process.access import Access
    from nonobot.harness.process.bot_files import scratch_folder
    from nonobot.harness.process.machine import tournament_core
    from nonobot.harness.process.paths import homes
    from nonobot.harness.results.conditions import Configuration

    limits = Configuration(core=tournament_core(), contain=contain)
    name = f"nonojudge_trial_{os.getpid()}"
    listener = socket.create_server(("127.0.0.1", 0))  # as the servers of this machine do
    with scratch_folder() as folder, listener:
        # All targets are in one folder, which the probe sees under another name: the rest of the folder is hidden.
        bots, link = folder / "bots", folder / "link"
        (bots / "results").mkdir(parents=True)
        link.symlink_to(bots)
        shutil.copyfile(__file__, bots / "probe.py")
        for path in (bots / "other.py", bots / "results" / "result.json"):
            path.write_text("what is not for you")
        targets: Targets = {
            "name": name,
            "other": [str(parent / "other.py") for parent in (bots, link)],
            "result": [str(parent / "results" / "result.json") for parent in (bots, link)],
            "folders": [*map(str, (*homes(), Path.cwd(), Path(sys.executable).parent)), *SYSTEM_FOLDERS],
            "judge": os.getpid(),
            "port": listener.getsockname()[1],
            "cores": os.cpu_count() or 1,
        }
        access = Access(hide=(bots / "other.py",), results=(bots / "results",))
        command = [sys.executable, "-I", str(link / "probe.py")]
        os.environ[name] = "secret"
        try:
            breaches, measures = _answer(command, targets, limits, access)
        finally:
            del os.environ[name]
        breaches[GONE] = _left_in(targets)
        breaches[ENDED] = _left_running(name)
    return breaches, measures


def _answer(
    command: Sequence[str], targets: Targets, limits: Configuration, access: Access
) -> tuple[dict[str, str | None], CgroupMeasures]:
    from nonobot.harness import UnusableError
    from nonobot.harness.process.bot_process import BotProcess, LastWords

    stderr, output = LastWords(), b""
    # Files that a command names are visible to it: the targets go to stdin.
    with BotProcess(command, stderr, limits, access) as bot:
        bot.send(json.dumps(targets).encode(), last=True)
        until = time.monotonic() + 30.0
        while not bot.exited and time.monotonic() < until:
            output += bot.read(min(until, time.monotonic() + SECONDS_BETWEEN_LOOKS))
            bot.look()
        output += bot.read(0.0)
    try:
        return json.loads(output), bot.cgroup_measures
    except ValueError:
        why = stderr.last_line or "the probe printed nothing"
        raise UnusableError(f"cannot test the sandbox: {why}") from None


def _left_in(targets: Targets) -> str | None:
    """Return a file that the probe left, and remove all of them."""
    tried = (Path(place, targets["name"]) for place in (*SCRATCHES, *targets["folders"]))
    left = [path for path in tried if path.exists()]
    for path in left:
        path.unlink()
    return f"left {left[0]}" if left else None


def _left_running(name: str) -> str | None:
    import psutil

    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if name in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                process.kill()
                return "left a process running"
    return None


if __name__ == "__main__":
    given = json.load(sys.stdin)
    print(json.dumps({claim: trial(given) for claim, trial in TRIALS.items()}))
