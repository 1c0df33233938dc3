"""Facts of runs side by side: what is the same for all is said once, what differs is marked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TypeVar

from nonobot.harness.results.result_text import containment, counting
from nonobot.harness.results.run_result import Machine, RunResult
from nonobot.harness.results.terms import Feed
from nonobot.harness.text import megabytes, plain

__all__ = ["Variants", "machines", "terms"]

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Row:
    """One fact: its name, and its value for each variant."""

    name: str
    values: list[str]

    @property
    def differs(self) -> bool:
        """Whether the variants differ in it."""
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class Variants:
    """What the runs have in common, and in what they differ.

    Attributes
    ----------
    rows : list of Row
    letters : list of str
        What the variants are called: A, B, ...
    letter_of : list of str
        For each run, that of its variant.
    """

    rows: list[Row]
    letters: list[str]
    letter_of: list[str]

    @property
    def differing(self) -> list[str]:
        """The names of the facts that differ."""
        return [row.name for row in self.rows if row.differs]


def machines(found: Sequence[Machine]) -> Variants:
    """Return the machines of runs; their load, which differs always, is not among the facts."""
    return _variants(
        found,
        {
            "CPU": lambda one: plain(one.cpu),
            "Cores": lambda one: f"{one.logical_cores}, of which {one.usable_cores} usable",
            "Memory": lambda one: megabytes(one.memory_bytes),
            "System": lambda one: plain(one.system),
            "Frequency governor": lambda one: _known(one.governor),
            "Python": lambda one: plain(one.python),
            "numpy": lambda one: _known(one.numpy),
            "numba": lambda one: _known(one.numba),
        },
    )


def terms(found: Sequence[RunResult]) -> Variants:
    """Return the terms of runs, and what of them came about."""
    return _variants(
        found,
        {
            "Puzzles come": lambda one: (
                "all at once" if one.terms.feed is Feed.BATCH else "each after the answer before"
            ),
            "Wall limit for the set": lambda one: _limit(one.terms.wall_limit_seconds),
            "CPU limit for the set": lambda one: _limit(one.terms.cpu_limit_seconds),
            "Wall limit for a puzzle": lambda one: _limit(one.terms.puzzle_limit_seconds),
            "Memory limit": lambda one: (
                "none" if one.terms.memory_limit_bytes is None else megabytes(one.terms.memory_limit_bytes)
            ),
            "Stalled after": lambda one: _limit(one.terms.stall_limit_seconds),
            "Cores used": lambda one: _cores(one.terms.cores),
            "Company on its core": lambda one: "another run" if one.terms.beside else "none",
            "Most processes and threads": lambda one: str(one.terms.most_processes or "any number"),
            "Containment": lambda one: one.terms.containment.value,
            "Contained": containment,
            "Counted by the kernel": counting,
            "Order of the answers": lambda one: "any" if one.terms.any_order else "that of the puzzles",
        },
    )


def _cores(numbers: Sequence[int]) -> str:
    if len(numbers) > 1:
        return f"{len(numbers)}: numbers {', '.join(map(str, numbers))}"
    return f"number {numbers[0]} alone" if numbers else "all"


def _variants(found: Sequence[T], facts: dict[str, Callable[[T], str]]) -> Variants:
    """Return the variants of `found` that differ in what is shown."""
    shown = [tuple(fact(one) for fact in facts.values()) for one in found]
    distinct = list(dict.fromkeys(shown))
    rows = [Row(name, [values[place] for values in distinct]) for place, name in enumerate(facts)]
    letters = [_letter(number) for number in range(len(distinct))]
    return Variants(rows, letters, [letters[distinct.index(values)] for values in shown])


def _letter(number: int) -> str:
    turn, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(turn + 1) if turn else "")


def _known(text: str | None) -> str:
    return "not known" if text is None else plain(text)


def _limit(seconds: float | None) -> str:
    return "none" if seconds is None else f"{seconds:,g} s"
