"""Signals that stop the judge, noted until it can act on them."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import ClassVar

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, `kill`, and a closed terminal


class Interrupts:
    """Notes the signals to stop, as `told`, within a `with` block; nested blocks all note them.

    The judge acts on them at a suitable point: an exception in the middle of its work could leave a bot running or
    a result half written. Ignored signals stay ignored (`nohup`). Only the main thread gets signals.
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

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._open.remove(self)

    @classmethod
    def heed(cls) -> None:
        """Raise KeyboardInterrupt if a block was told to stop: where that leaves nothing half done."""
        if any(one.told for one in cls._open):
            raise KeyboardInterrupt

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        for one in self._open:
            one.told = True
