"""What is shown of a check: a line for each step as it goes by, hints, a summary."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from nonobot.harness.check.step import StepResult, StepVerdict
from nonobot.harness.check.steps import STEPS

__all__ = ["PlainShow", "TerminalShow", "list_of_steps", "show_for", "summary"]

STYLES = {
    StepVerdict.PASSED: "green",
    StepVerdict.FAILED: "bold red",
    StepVerdict.WARNING: "yellow",
    StepVerdict.SKIPPED: "dim",
}

INDENT = " " * 13


def list_of_steps() -> str:
    """Return the steps with their reasons, a line or two each."""
    return "\n".join(
        f"{number:3}  {step.level:<6}  {step.title}\n{INDENT}{step.why}" for number, step in enumerate(STEPS, 1)
    )


def summary(results: Sequence[StepResult]) -> str:
    """Return how many steps had which verdict, and what that means."""
    counts = Counter(result.verdict for result in results)
    tally = ", ".join(f"{counts[verdict]} {verdict}" for verdict in StepVerdict if counts[verdict])
    failed = [str(one.number) for one in results if one.verdict is StepVerdict.FAILED]
    if failed:
        return f"{tally}: not ready for a tournament; see step{'s' if failed[1:] else ''} {', '.join(failed)}"
    return f"{tally}: every must is met"


def show_for(stream: TextIO, verbose: bool) -> PlainShow:
    """Return the show that fits the place where `stream` goes."""
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return TerminalShow(stream, verbose)
    return PlainShow(stream, verbose)


class PlainShow:
    """Plain lines; within a `with` block.

    Parameters
    ----------
    stream : text file
    verbose : bool
        Whether to show the transcript of each step.
    """

    def __init__(self, stream: TextIO, verbose: bool) -> None:
        self._stream = stream
        self._verbose = verbose
        self._skipped: list[StepResult] = []  # in a row and for the same reason: they get one line

    def __enter__(self) -> PlainShow:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave what was shown as it is."""

    def begin(self, number: int) -> None:
        """Take the number of the step that is carried out next."""

    def step(self, result: StepResult) -> None:
        """Show what came of a step."""
        if self._skipped and result.remark != self._skipped[0].remark:
            self._show_skipped()
        if result.verdict is StepVerdict.SKIPPED:
            self._skipped.append(result)
            return
        self._line(f"{result.number:3}  ", str(result.verdict), _after_verdict(result), STYLES[result.verdict])
        for label, text in _hints(result):
            self._line(INDENT, f"{label:<9}", f" {text}", "bold")
        for line in result.transcript if self._verbose else ():
            self._line(INDENT, "", line, "")

    def end(self, text: str) -> None:
        """Show the summary."""
        self._show_skipped()
        self._line("", "", f"\n{text}", "")

    def _show_skipped(self) -> None:
        if not self._skipped:
            return
        first, last = self._skipped[0], self._skipped[-1]
        after = _after_verdict(first) if first is last else f"  up to step {last.number}  ({first.remark})"
        self._line(f"{first.number:3}  ", "skipped", after, STYLES[StepVerdict.SKIPPED])
        self._skipped = []

    def _line(self, before: str, word: str, after: str, _style: str) -> None:
        print(f"{before}{word}{after}", file=self._stream, flush=True)


class TerminalShow(PlainShow):
    """Coloured lines, and below them which step is being carried out."""

    def __init__(self, stream: TextIO, verbose: bool) -> None:
        from rich.console import Console  # only here: its import takes longer than many a step

        super().__init__(stream, verbose)
        self._console = Console(file=stream, highlight=False, soft_wrap=True)
        self._status = self._console.status("")

    def __enter__(self) -> PlainShow:
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the status line away."""
        self._status.stop()

    def begin(self, number: int) -> None:
        """Say which step is carried out."""
        from rich.markup import escape

        self._status.update(escape(f"step {number} of {len(STEPS)}: {STEPS[number - 1].title}"))

    def _line(self, before: str, word: str, after: str, style: str) -> None:
        from rich.text import Text

        self._console.print(Text.assemble(before, (word, style), after))


def _after_verdict(result: StepResult) -> str:
    padding = " " * (9 - len(result.verdict))
    remark = f"  ({result.remark})" if result.remark else ""
    return f"{padding}{result.level:<6}  {result.title}{remark}"


def _hints(result: StepResult) -> list[tuple[str, str]]:
    hints = {
        "sent": result.sent,
        "expected": result.expected,
        "got": result.got,
        "do": result.advice,
        "rule": result.rule,
    }
    return [(label, text) for label, text in hints.items() if text]
