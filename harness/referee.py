"""Verdicts: each answer matched to its puzzle and checked against the clues."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from protocol import Answer, Puzzle, mismatches
from tournament_data import PuzzleSet

__all__ = ["Referee", "Ruling", "Verdict", "judge"]

KEPT_REMARKS = 20


class Verdict(StrEnum):
    """What an answer is worth; only a right one counts."""

    RIGHT = "right"
    WRONG = "wrong"
    MALFORMED = "malformed"
    GIVEN_UP = "given-up"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict on one puzzle.

    Attributes
    ----------
    number : int
        The k of `$k`.
    verdict : Verdict
    detail : str or None
        Why, where it was not right.
    """

    number: int
    verdict: Verdict
    detail: str | None = None


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

    Parameters
    ----------
    puzzle_set : PuzzleSet

    Attributes
    ----------
    rulings : dict of int to Ruling
        By puzzle number, in the order in which the answers came.
    remarks : list of str
        What was written beside first answers to puzzles of the set; the first few.
    remark_count : int
        How many remarks there were.
    """

    def __init__(self, puzzle_set: PuzzleSet) -> None:
        self._puzzles = {one.number: one.puzzle for one in puzzle_set.puzzles}
        self.rulings: dict[int, Ruling] = {}
        self.remarks: list[str] = []
        self.remark_count = 0

    @property
    def complete(self) -> bool:
        """Whether every puzzle has its ruling."""
        return len(self.rulings) == len(self._puzzles)

    def take(self, answer: Answer) -> Ruling | None:
        """Rule on an answer; None for what is no first answer to a puzzle of the set."""
        number = answer.number
        remark = self._remark_on(answer)
        if number is None or remark:
            self.remark_count += 1
            self.remarks += [remark] if remark and len(self.remarks) < KEPT_REMARKS else []
            return None
        ruling = Ruling(number, *judge(self._puzzles[number], answer))
        self.rulings[number] = ruling
        return ruling

    def _remark_on(self, answer: Answer) -> str | None:
        if answer.number is None:
            return answer.problem
        if answer.number not in self._puzzles:
            return f"line {answer.line}: ${answer.number} is not in the set"
        if answer.number in self.rulings:
            return f"line {answer.line}: ${answer.number} was answered before; the first answer counts"
        return None

    def final(self) -> list[Ruling]:
        """Return a ruling for every puzzle, in the order of the set: what was not answered is missing."""
        return [self.rulings.get(number, Ruling(number, Verdict.MISSING)) for number in self._puzzles]
