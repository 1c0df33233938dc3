"""Being told to stop: noted, and acted on where it fits.

An exception in the middle of whatever the judge just does could leave a bot running or a result half written.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import ClassVar

__all__ = ["Interrupts"]

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, `kill`, and a terminal that was closed."""


class Interrupts:
    """Notes the signals that tell the judge to stop, within a `with` block; blocks within blocks all note them.

    Those that are ignored stay so (`nohup`), and outside the main thread, which alone gets signals, it notes none.

    Attributes
    ----------
    told : bool
        Whether the judge was told to stop.
    """

    _open: ClassVar[list[Interrupts]] = []

    def __init__(self) -> None:
        self.told = False

    def __enter__(self) -> Interrupts:
        here = threading.current_thread() is threading.main_thread()
        heeded = [one for one in STOPPING if here and signal.getsignal(one) is not signal.SIG_IGN]
        self.told = any(one.told for one in self._open)
        self._open.append(self)
        self._before = {number: signal.signal(number, self._note) for number in heeded}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._open.remove(self)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        for one in self._open:
            one.told = True
