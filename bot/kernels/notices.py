"""Notices for people who wait for a compilation: what is compiled, for how long, and that it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil

OnCompile = Callable[[float, float], None]
"""Gets the share of a compilation that is done, at first 0 and at the end 1, and roughly the seconds left."""


def unnoticed(share: float, seconds_left: float) -> None:
    """Report no compilation."""


_SECONDS_PER_KERNEL = 0.12  # a core of an Intel Xeon, 2026-11-26
_TRUSTED_SHARE = 0.1  # share done from which the time so far shows the time left
_SECONDS_BETWEEN_LINES, _SECONDS_BETWEEN_STATES = 10.0, 0.5


class Clock:
    """The time left of the compilation of a number of kernels, for `on_compile`."""

    def __init__(self, kernels: int, on_compile: OnCompile) -> None:
        self._expected = kernels * _SECONDS_PER_KERNEL
        self._on_compile = on_compile
        self._started = time.monotonic()
        on_compile(0.0, self._expected)

    def done(self, share: float) -> None:
        """Report the share that is done."""
        taken = time.monotonic() - self._started
        whole = taken / share if share > _TRUSTED_SHARE else self._expected
        self._on_compile(share, max(0.0, whole - taken))


class Notices:
    """Notices in words: `say` gets a line before a compilation, and then one now and then.

    If there is a `show`, it gets short texts in place of the later lines. Each replaces the one before it, and the
    last one is empty.
    """

    def __init__(self, say: Callable[[str], None], show: Callable[[str], None] | None = None) -> None:
        self._say = say
        self._show = show
        self._next = 0.0

    def __call__(self, part: str, share: float, seconds_left: float) -> None:
        """Report the progress of compiling a part of the bot; see `OnCompile`."""
        now = time.monotonic()
        if share == 0:
            about = ceil(seconds_left) if seconds_left < 10 else 5 * round(seconds_left / 5)
            self._say(f"compiling {part} (once per version and machine; about {about} s) ...")
        elif share == 1:
            if self._show:
                self._show("")
            return
        elif now < self._next:
            return
        else:
            (self._show or self._say)(f"compiling: {share:.0%}, about {ceil(seconds_left)} s to go")
        self._next = now + (_SECONDS_BETWEEN_STATES if self._show else _SECONDS_BETWEEN_LINES)
