"""Signals that end the judge, noted until it can act on them; times at which it stood still, as after a Ctrl-Z."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import ClassVar

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, `kill`, and a closed terminal


class Interrupts:
    """Notes the signals to stop, as `stop_requested`, within a `with` block; nested blocks all note them.

    The judge acts on them at a suitable point: an exception in the middle of its work could leave a bot running or
    a result half written. Ignored signals stay ignored (`nohup`). Only the main thread gets signals.
    """

    _open: ClassVar[list[Interrupts]] = []

    def __init__(self) -> None:
        self.stop_requested = False

    def __enter__(self) -> Interrupts:
        here = threading.current_thread() is threading.main_thread()
        handled = [signum for signum in STOPPING if here and signal.getsignal(signum) is not signal.SIG_IGN]
        self.stop_requested = any(block.stop_requested for block in self._open)
        self._open.append(self)
        self._before = {number: signal.signal(number, self._note) for number in handled}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._open.remove(self)

    @classmethod
    def raise_if_stopped(cls) -> None:
        """Raise KeyboardInterrupt if a signal was noted: where that leaves nothing half done."""
        if any(block.stop_requested for block in cls._open):
            raise KeyboardInterrupt

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        for block in self._open:
            block.stop_requested = True


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Do what the block does as a whole: a signal to stop raises KeyboardInterrupt at its end.

    It raises nothing within a block of :class:`Interrupts`, which notes the signal.
    """
    with Interrupts() as interrupts:
        yield
    if interrupts.stop_requested and not Interrupts._open:
        raise KeyboardInterrupt


LEAST_STANDSTILL_SECONDS = 1.0  # the judge looks at a bot every 0.05 s, on a busy machine less often


class Standstill:
    """The time for which this process stood still: stopped by a signal, frozen or suspended with the machine.

    `seconds` is the whole time noticed so far.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = self._clocks()

    def look(self) -> float:
        """Return for how many seconds of the monotonic clock the process stood still since the last look, or 0.

        It did neither compute nor, as a loop does that waits for a moment, look: so the time between two looks is
        much longer than the CPU time.
        """
        before, self._last = self._last, self._clocks()
        monotonic, computed, since_boot = (now - then for now, then in zip(self._last, before, strict=True))
        suspended = since_boot - monotonic  # the monotonic clock stops with the machine
        stood_still = monotonic - computed
        self.seconds += sum(part for part in (stood_still, suspended) if part >= LEAST_STANDSTILL_SECONDS)
        return stood_still if stood_still >= LEAST_STANDSTILL_SECONDS else 0.0

    @staticmethod
    def _clocks() -> tuple[float, float, float]:
        now = time.monotonic()
        since_boot = time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else now
        return now, time.process_time(), since_boot


@contextlib.contextmanager
def stopping_with(send: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Have a Ctrl-Z within the block `send` SIGSTOP before this process stops, and SIGCONT when it continues."""
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGTSTP) is not signal.SIG_DFL:
        yield
        return

    def handle(_number: int, _frame: FrameType | None) -> None:
        send(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        send(signal.SIGCONT)

    signal.signal(signal.SIGTSTP, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
