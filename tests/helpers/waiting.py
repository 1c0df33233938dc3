"""Waiting for what a process does, never longer than the process runs; a failure shows what it printed."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

PATIENCE_SECONDS = 600  # only to end a test whose process hangs
AFTERWARDS_SECONDS = 20  # the same for what comes without a process, and for what an ended one leaves behind
LOOK_SECONDS = 1  # between two looks at whether a process still runs


class Running(Protocol):
    """Anything that ends: a process, or a block of a test in another thread."""

    def poll(self) -> int | None:
        """Return None while it runs."""


def wait_until(true: Callable[[], Any], *running: Running) -> None:
    """Wait until something is true; fail once a process that it needs has ended without it.

    Without a process, it needs only this one and the kernel.
    """
    until = time.monotonic() + (PATIENCE_SECONDS if running else AFTERWARDS_SECONDS)
    while True:
        ended = [process for process in running if process.poll() is not None]  # first: its last act may count
        try:
            if true():
                return
        except Exception:
            if not ended:
                raise
        if ended:
            raise AssertionError(f"it did not happen; {told(ended[0])}")
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


def wait_to_read(descriptor: int, process: subprocess.Popen[Any]) -> None:
    """Wait until a descriptor can be read or has ended; fail if only a child of the ended process has it open."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        ended = process.poll() is not None
        if select.select([descriptor], [], [], AFTERWARDS_SECONDS if ended else LOOK_SECONDS)[0]:
            return
        if ended:
            raise AssertionError(f"nothing came; {told(process)}")
        assert time.monotonic() < until, "nothing came"


def next_bytes(process: subprocess.Popen[Any], size: int, stream: str = "stdout") -> bytes:
    """Return the next bytes of a process's output; fail if it ends without them."""
    descriptor = getattr(process, stream).fileno()
    text = b""
    while len(text) < size:
        wait_to_read(descriptor, process)
        chunk = os.read(descriptor, size - len(text))
        if not chunk:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(AFTERWARDS_SECONDS)
            raise AssertionError(f"{stream} ended after {text!r}; {told(process)}")
        text += chunk
    return text


def next_line(process: subprocess.Popen[Any], stream: str = "stdout") -> str:
    """Return the next text line of a process's output; fail if it ends without one."""
    line = b""
    while not line.endswith(b"\n"):
        line += next_bytes(process, 1, stream)
    return line.decode()


def finished(process: subprocess.Popen[Any]) -> tuple[Any, Any]:
    """Return the rest of stdout and stderr once a process has ended; fail if a child of its keeps them open."""
    until = time.monotonic() + PATIENCE_SECONDS
    seen_to_end = False
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=LOOK_SECONDS)
        if not seen_to_end and process.poll() is not None:
            seen_to_end = True
            until = time.monotonic() + AFTERWARDS_SECONDS
        assert time.monotonic() < until, f"its output did not end; {told(process)}"


@contextlib.contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """End a block that hangs, on however slow a machine, by a TimeoutError; the time is no assertion."""

    def hangs(*_: object) -> None:
        raise TimeoutError(f"it hangs: more than {seconds} s")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def running(command: list[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a process; at the end of the block it has ended by itself, and after a failure it is killed."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def told(process: Running) -> str:
    """Return how a process has ended, and what it has left in its pipes."""
    if not isinstance(process, subprocess.Popen):
        return f"{process} has ended"
    command = process.args if isinstance(process.args, str) else shlex.join(map(str, process.args))
    status = process.poll()
    lines = [f"{'still running' if status is None else f'status {status}'}: {command}"]
    for name in ("stdout", "stderr"):
        stream = getattr(process, name)
        if stream and not stream.closed:
            os.set_blocking(stream.fileno(), False)
            with contextlib.suppress(OSError):
                lines.append(f"{name}: {os.read(stream.fileno(), 1 << 16).decode(errors='replace')}")
    return "\n".join(lines)
