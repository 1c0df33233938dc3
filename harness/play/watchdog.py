"""What stops a run before its end: its limits, watched while the bot is at work, and being told to stop."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import ClassVar

from nonobot.harness.play.bot_process import BotProcess
from nonobot.harness.results.run_result import EndReason, Usage
from nonobot.harness.results.terms import Terms

__all__ = ["STALL_SECONDS", "Interrupts", "Watch"]

SECONDS_BETWEEN_LOOKS = 0.05
"""How often CPU time and memory are read. A look takes a tenth of a millisecond or two, beside the bot's core."""

STALL_SECONDS = 60.0
"""How long a bot may neither compute nor write, where nothing else is said."""

IDLE_SHARE = 0.01
"""Share of the stall limit that a waiting process may compute: runtimes with a timer of their own do."""


class Watch:
    """Tells when a bot has used up what it has.

    Parameters
    ----------
    bot : BotProcess
    terms : Terms
    before : Usage
        What earlier legs of the run took: the limits hold for all of them together.

    Attributes
    ----------
    wake : float
        When it wants to look again, on the monotonic clock.
    """

    def __init__(self, bot: BotProcess, terms: Terms, before: Usage) -> None:
        self._bot = bot
        self._terms = terms
        self._before = before
        self._wall_end = bot.started + terms.wall_limit_seconds - before.wall_seconds
        self._active = bot.started  # when it was last seen to compute or heard
        self._active_cpu = 0.0
        self.wake = bot.started

    def heard(self) -> None:
        """Take note that the bot wrote something."""
        self._active = time.monotonic()

    def breach(self) -> EndReason | None:
        """Return the limit that was reached, if one was."""
        if self._bot.exited:
            return None
        now = time.monotonic()
        if now >= self._wall_end:
            return EndReason.TIME_LIMIT
        if now < self.wake:
            return None
        self._bot.tree.look()
        self.wake = min(now + SECONDS_BETWEEN_LOOKS, self._wall_end)
        return self._cpu_breach() or self.cause_of_death() or self._stall(now)

    def cause_of_death(self) -> EndReason | None:
        """Return the limit by which the kernel may have ended a bot before it was looked at, if it was reached."""
        return self._memory_breach() or self._process_breach()

    def _cpu_breach(self) -> EndReason | None:
        limit, used = self._terms.cpu_limit_seconds, self._before.cpu_seconds + self._bot.tree.cpu_seconds
        return EndReason.CPU_LIMIT if limit is not None and used >= limit else None

    def _memory_breach(self) -> EndReason | None:
        limit = self._terms.memory_limit_bytes
        return EndReason.MEMORY_LIMIT if limit is not None and self._bot.tree.holds_more_than(limit) else None

    def _process_breach(self) -> EndReason | None:
        limit, tree = self._terms.most_processes, self._bot.tree
        if limit is None or not tree.has_more_than(limit + self._bot.processes_beside):
            return None
        return EndReason.PROCESS_LIMIT

    def _stall(self, now: float) -> EndReason | None:
        """Tell whether the bot waits for something that never comes: one that thinks computes."""
        limit, cpu = self._terms.stall_limit_seconds, self._bot.tree.cpu_seconds
        if limit is None or cpu - self._active_cpu > IDLE_SHARE * limit:
            self._active, self._active_cpu = now, cpu
        return EndReason.STALLED if limit is not None and now - self._active >= limit else None


STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, `kill`, and a terminal that was closed."""


class Interrupts:
    """Notes the signals that tell the judge to stop, within a `with` block; blocks within blocks all note them.

    They are acted on where it fits: an exception in the middle of whatever the judge just does could leave a bot
    running or a result half written.

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
