"""What is drawn of a puzzle of a file, and what is said beneath it."""

from __future__ import annotations

from typing import NamedTuple

from nonobot.harness.referee import judge
from nonobot.harness.results.run_result import Verdict
from nonobot.protocol import Answer, Puzzle, Record, Solution, mismatches
from nonobot.protocol.picture import Picture

__all__ = ["Drawing", "drawn_answer", "drawn_puzzle", "drawn_solution"]

MOST_MISMATCHES = 8
"""Wrong lines that are said in words; all of them are marked in the picture."""


class Drawing(NamedTuple):
    """A picture, and words for people that belong to it."""

    picture: Picture
    words: list[str]


def drawn_puzzle(record: Record) -> Drawing:
    """Return the drawing of a puzzle, with the cells that it starts from if the file has some."""
    return Drawing(Picture(record.puzzle, record.start.cells if record.start else None, _name(record)), [])


def drawn_solution(record: Record) -> Drawing:
    """Return the drawing of the solution that the file has, if it has one."""
    if record.goal is None:
        return Drawing(Picture(record.puzzle, name=_name(record)), ["no solution is known"])
    picture = Picture.of_answer(record.puzzle, record.goal, _name(record))
    return Drawing(picture, _wrong_lines(record.puzzle, record.goal))


def drawn_answer(record: Record, answer: Answer | None) -> Drawing:
    """Return the drawing of an answer; of the puzzle alone where there is no grid or a bot gave it up."""
    if answer is None:
        verdict, detail = Verdict.MISSING, None
    else:
        verdict, detail = judge(record.puzzle, answer)
    name = _name(record) if verdict is Verdict.RIGHT else f"{_name(record)} {verdict}"
    if answer is not None and answer.solution is not None and verdict in (Verdict.RIGHT, Verdict.WRONG):
        picture = Picture.of_answer(record.puzzle, answer.solution, name)
        return Drawing(picture, _wrong_lines(record.puzzle, answer.solution))
    return Drawing(Picture(record.puzzle, name=name), [detail] if detail else [])


def _name(record: Record) -> str:
    return f"${record.number} {record.title}" if record.title else f"${record.number}"


def _wrong_lines(puzzle: Puzzle, solution: Solution) -> list[str]:
    wrong = [str(one) for one in mismatches(puzzle, solution)]
    more = len(wrong) - MOST_MISMATCHES
    return [*wrong[:MOST_MISMATCHES], f"and {more} more"] if more > 0 else wrong
