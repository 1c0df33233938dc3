"""Numbers and names as people read them in tables."""

from __future__ import annotations

from nonobot.harness.ranking.statistics import Ratio

__all__ = ["NOTHING", "duration", "in_unit", "interval_in_words", "percent", "plain", "ratio_in_words"]

NOTHING = "\N{EN DASH}"
"""What stands for a value that is not known or of which there is none."""


def plain(text: str) -> str:
    """Return `text` in one line, without what would move a terminal's cursor or change its colours."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def in_unit(value: float | None, unit: float, digits: int) -> str:
    """Return `value` as a number of `unit`."""
    return NOTHING if value is None else f"{value / unit:.{digits}f}"


def duration(seconds: float) -> str:
    """Return `seconds` with three or four significant digits, in milliseconds below a second."""
    if seconds < 1:
        milliseconds = seconds * 1e3
        return f"{milliseconds:.{3 if milliseconds < 1 else 2 if milliseconds < 10 else 1}f} ms"
    return f"{seconds:.{3 if seconds < 10 else 2 if seconds < 1000 else 1}f} s"


def percent(share: float) -> str:
    """Return `share` in percent, with as many digits as say something."""
    value = share * 100
    return f"{value:.0f} %" if abs(value - round(value)) < 1e-9 or abs(value) >= 100 else f"{value:.1f} %"


def ratio_in_words(ratio: float) -> str:
    """Return a ratio of times as `7.3 % slower` (takes 7.3 % more time) or `7.3 % faster` (7.3 % less)."""
    if _is_even(ratio):
        return "as fast"
    return f"{percent(abs(ratio - 1))} {'slower' if ratio > 1 else 'faster'}"


def interval_in_words(ratio: Ratio) -> str:
    """Return an interval of ratios: `5.1 % to 9.8 %` where all of it is slower, or all of it faster; else with the
    words, `1.2 % faster to 0.4 % slower`.
    """
    low, high = ratio.low, ratio.high
    if _is_even(low) and _is_even(high):
        return "0 % to 0 %"
    if _is_even(low) or _is_even(high) or (low < 1 < high):
        return f"{ratio_in_words(low)} to {ratio_in_words(high)}"
    shares = sorted((abs(low - 1), abs(high - 1)))
    return " to ".join(map(percent, shares))


def _is_even(ratio: float) -> bool:
    """Return whether `ratio` is 1 to the digit shown."""
    return f"{abs(ratio - 1) * 100:.1f}" == "0.0"
