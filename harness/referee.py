"""The referee: matches each answer to its puzzle and checks it against the clues."""

from __future__ import annotations

import numpy as np

from nonobot.harness.results.run_result import PuzzleResult, Score, Verdict
from nonobot.harness.text import duration
from nonobot.protocol import Answer, Puzzle, Solution, mismatches
from nonobot.tournament_data import PuzzleSet

KEPT_REMARKS = 20


def judge(puzzle: Puzzle, answer: Answer) -> tuple[Verdict, str | None]:
    """Return the verdict on an answer to `puzzle`, and why it is not right.

    Any solution of the puzzle is right. A word, nothing, or a grid of zeros says that the bot gave it up.
    """
    if answer.problem is not None:
        return Verdict.MALFORMED, answer.problem
    if answer.solution is None:
        return Verdict.GIVEN_UP, answer.word or "nothing written"
    wrong = mismatches(puzzle, answer.solution)
    if not wrong:
        return Verdict.RIGHT, None
    if not answer.solution.cells.any():
        return Verdict.GIVEN_UP, "zeros"
    more = f" (and {len(wrong) - 1} more {'lines' if len(wrong) > 2 else 'line'} at fault)" if wrong[1:] else ""
    return Verdict.WRONG, f"{wrong[0]}{more}"


class Referee:
    """Takes the answers of a bot as they come; the first one to a puzzle counts.

    With `any_order` a solution that comes after the answer to a later puzzle is right. A solution that took longer
    than the limit is late. `results` is in the order of the verdicts; for the counts see `Score`.
    """

    def __init__(
        self, puzzle_set: PuzzleSet, any_order: bool = False, puzzle_limit_seconds: float | None = None
    ) -> None:
        self._set = puzzle_set
        self._places = {one.number: place for place, one in enumerate(puzzle_set.puzzles)}
        self._any_order = any_order
        self._puzzle_limit = puzzle_limit_seconds
        self._last: int | None = None  # the furthest puzzle that has a verdict
        self.results: dict[int, PuzzleResult] = {}
        self.duplicate_count = 0
        self.stray_count = 0
        self.remarks: list[str] = []

    def take(
        self, answer: Answer, arrived_seconds: float | None = None, took_seconds: float | None = None
    ) -> PuzzleResult | None:
        """Judge an answer; None for an answer that is not the first to a puzzle of the set."""
        number = answer.number
        if number is None or number not in self._places:
            self.stray_count += 1
            self._remark(answer.problem or f"line {answer.line}: ${number} is not in the set")
            return None
        if number in self.results:
            self.duplicate_count += 1
            self._remark(f"line {answer.line}: ${number} was answered before; the first answer counts")
            return None
        verdict, detail = judge(self._set.puzzles[self._places[number]].puzzle, answer)
        if verdict is Verdict.RIGHT:
            verdict, detail = self._in_order_and_time(number, took_seconds)
        return self.note(
            PuzzleResult(number, verdict, detail, arrived_seconds, took_seconds, _in_hex(answer.solution))
        )

    def note(self, result: PuzzleResult) -> PuzzleResult:
        """Enter a verdict, given here, without an answer, or in an earlier part of the run."""
        self.results[result.number] = result
        if self._last is None or self._places[result.number] > self._places[self._last]:
            self._last = result.number
        return result

    @property
    def answers_due(self) -> bool:
        """Whether a puzzle is left; see :meth:`left`."""
        if self._any_order or self._last is None:
            return len(self.results) < len(self._places)
        return self._places[self._last] < len(self._places) - 1

    def left(self) -> list[int]:
        """Return the numbers of the puzzles whose answers still count, in the order of the set.

        Answers come in order: a bot that answered a later puzzle has passed over those before it.
        """
        passed = -1 if self._any_order or self._last is None else self._places[self._last]
        return [one for one, place in self._places.items() if place > passed and one not in self.results]

    def score(self) -> Score:
        """Return a verdict for every puzzle, in the order of the set: missing, if it was not answered."""
        puzzles = (self.results.get(one, PuzzleResult(one, Verdict.MISSING)) for one in self._places)
        return Score.of(puzzles, self.duplicate_count, self.stray_count, self.remarks)

    def restore(self, duplicate_count: int, stray_count: int, remarks: list[str]) -> None:
        """Take over the counts of earlier parts of the run."""
        self.duplicate_count, self.stray_count, self.remarks = duplicate_count, stray_count, list(remarks)

    def _in_order_and_time(self, number: int, took_seconds: float | None) -> tuple[Verdict, str | None]:
        """Return the verdict on a solution in view of its time."""
        if not self._any_order and self._last is not None and self._places[number] < self._places[self._last]:
            return Verdict.OUT_OF_ORDER, f"a solution, after the answer to ${self._last}"
        if self._puzzle_limit is not None and took_seconds is not None and took_seconds > self._puzzle_limit:
            return Verdict.LATE, f"a solution, after {duration(took_seconds)} of {self._puzzle_limit:g} s"
        return Verdict.RIGHT, None

    def _remark(self, remark: str) -> None:
        if len(self.remarks) < KEPT_REMARKS:
            self.remarks.append(remark)


def _in_hex(solution: Solution | None) -> str | None:
    """Return the cells as a result keeps them; see `PuzzleResult.cells_hex`."""
    return np.packbits(solution.cells).tobytes().hex() if solution is not None else None
