"""The referee: which answer counts for a puzzle, its verdict, and hints: a turned board, numbers off by one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice

from msgspec import UNSET
from msgspec.structs import replace

from nonobot.harness.results.conditions import SetFacts
from nonobot.harness.results.run_result import OFF_BY_ONE, PuzzleResult, Score, Verdict
from nonobot.harness.text import duration
from nonobot.harness.user_files import answer_lines, opened
from nonobot.protocol import Answer, Puzzle, Solution, mismatches
from nonobot.protocol.answers import FURTHER_ROW, NOT_A_ROW, most_bytes_of_an_answer, read_answers
from nonobot.protocol.clues import plural
from nonobot.tournament_data import PuzzleSet

KEPT_NOTES = 20
MOST_OTHER_BYTES = 16 << 20  # in a file besides the answers: to read it takes ten seconds
MOST_EXAMINED = 20  # wrong answers that are tested for a common mistake
REPEAT_THE_NUMBER = "repeat the number that followed the question's '$'"

Cells = Sequence[bytes]  # the cells of each row


def _transposed(cells: Cells) -> Cells:
    return [*map(bytes, zip(*cells, strict=True))]


def _mirrored(cells: Cells) -> Cells:
    return [row[::-1] for row in cells]


TURNED: dict[str, Callable[[Cells], Cells]] = {
    "": lambda cells: cells,
    "transposed": _transposed,
    "mirrored left to right": _mirrored,
    "mirrored top to bottom": lambda cells: cells[::-1],
    "rotated by 180 degrees": lambda cells: _mirrored(cells[::-1]),
    "rotated by 90 degrees clockwise": lambda cells: _transposed(cells[::-1]),
    "rotated by 90 degrees counterclockwise": lambda cells: _transposed(cells)[::-1],
    "mirrored along the diagonal from bottom left to top right": lambda cells: _transposed(_mirrored(cells[::-1])),
}
"""Ways to turn a board, the likeliest first; the last three, and the second, fit only square boards."""

COLUMNS_FIRST = "a question lists the columns first, an answer the rows"
REMEDIES = {
    "transposed": COLUMNS_FIRST,
    "mirrored left to right": "the first number of a row is its left cell",
    "mirrored top to bottom": "the first row is the top one",
}
TOP_LEFT = "the first row is the top one, and its first number the left cell"
EXCHANGE = "right with 0 and 1 exchanged: 1 is black"
EXCHANGED = bytes.maketrans(b"\0\1", b"\1\0")
IN_DIGITS, IN_CELLS = bytes.maketrans(b"\0\1", b"01"), bytes.maketrans(b"01", b"\0\1")
OTHER_LENGTH = re.compile(r"line \d+: (\d+) numbers?, expected \d+|line \d+: (\d+) rows?, expected \d+")


def judge(puzzle: Puzzle, answer: Answer) -> tuple[Verdict, str | None]:
    """Return the verdict on an answer to `puzzle`, and why it is not right.

    Any solution of the puzzle is right. With a word, nothing, or a grid of zeros, the bot gave the puzzle up.
    """
    if answer.problem is not None:
        return Verdict.MALFORMED, answer.problem
    if answer.solution is None:
        return Verdict.GIVEN_UP, answer.word or "nothing written"
    wrong = mismatches(puzzle, answer.solution)
    if not wrong:
        return Verdict.RIGHT, None
    if not any(answer.solution.content):
        return Verdict.GIVEN_UP, "zeros"
    others = len(wrong) - 1
    more = f" (and {others} more {plural(others, 'line')} at fault)" if others else ""
    return Verdict.WRONG, f"{wrong[0]}{more}"


def common_mistake(puzzles: Mapping[int, Puzzle], answers: Sequence[Answer]) -> str | None:
    """Return the mistake that most faulty answers share, and its remedy after ': '; `puzzles` are by number."""
    wrong = (answer for answer in answers if _verdict_on(answer, puzzles) is Verdict.WRONG)
    boards = [*islice(wrong, MOST_EXAMINED + 1)]
    changes = [[*_made_right_by(puzzles, answer)] for answer in boards[:MOST_EXAMINED]]
    texts = [answer.problem for answer in answers if answer.number in puzzles and answer.problem is not None]
    forms = [_of_form(problem, next(iter(puzzles.values()))) for problem in texts[:MOST_EXAMINED]]
    if not texts[1:] and " rows, " in "".join(texts):  # the bot ended within an answer
        forms = []
    return (
        _shared_by_most(changes, len(boards), "wrong", ("would be", "would be"))
        or _of_taller_boards(puzzles, answers, min(len(boards), KEPT_NOTES))
        or _shared_by_most(forms, len(texts), "malformed", ("has", "have"))
    )


def _verdict_on(answer: Answer, puzzles: Mapping[int, Puzzle]) -> Verdict | None:
    """Return the verdict on an answer, None if it answers none of `puzzles`."""
    puzzle = None if answer.number is None else puzzles.get(answer.number)
    return None if puzzle is None else judge(puzzle, answer)[0]


def _of_taller_boards(puzzles: Mapping[int, Puzzle], answers: Sequence[Answer], wrong_count: int) -> str | None:
    """Return the mistake if more than half as many rows follow answers as there are wrong answers."""
    strays = [answer.problem or "" for answer in answers if answer.number not in puzzles]
    if not 2 * sum(FURTHER_ROW in problem for problem in strays) > wrong_count > 0:
        return None
    width, height = next(iter(puzzles.values())).size
    size = f"these boards are {width}x{height}"
    return f"answers have more than {height} rows: check the bot's board size; {size}"


def _shared_by_most(findings: list[list[str]], of_all: int, verdict: str, verbs: tuple[str, str]) -> str | None:
    """Return in a sentence what most of `findings` share: '17 of the first 20 malformed answers have 5 rows'."""
    for finding, count in Counter(chain.from_iterable(findings)).most_common(1):
        if 2 * count > len(findings):
            shared = "all" if count == len(findings) else f"{count} of"
            first = "the first " if of_all > len(findings) else ""
            who = f"the {verdict} answer" if of_all == 1 else f"{shared} {first}{len(findings)} {verdict} answers"
            return f"{who} {verbs[count > 1]} {finding}"
    return None


def _of_form(problem: str, puzzle: Puzzle) -> list[str]:
    """Return the advice on a malformed answer: other text, or rows unlike those of `puzzle`."""
    if NOT_A_ROW in problem:
        return ["text in place of a row: write rows of 0 and 1, and other text to stderr"]
    found = OTHER_LENGTH.fullmatch(problem)
    if not found:
        return []
    size = f"{puzzle.width}x{puzzle.height}"
    if found[2]:
        return [f"{found[2]} rows: check the bot's board size; these boards are {size}"]
    if found[1] == "1":
        return ["rows of one word: a TAB belongs between two numbers"]
    if found[1] == str(puzzle.width * puzzle.height):
        return [f"all {found[1]} cells on one line: end the line after each row of {puzzle.width} numbers"]
    if found[1] == str(puzzle.height):
        return [f"rows of {found[1]} numbers, as many as a column has cells: {COLUMNS_FIRST}"]
    return [f"rows of {found[1]} numbers: check the bot's board size; these boards are {size}"]


def _made_right_by(puzzles: Mapping[int, Puzzle], answer: Answer) -> Iterator[str]:
    """Yield the changes each of which turns a wrong board into a solution."""
    assert answer.solution
    cells, (numbers, every) = answer.solution.rows, zip(*puzzles.items(), strict=True)
    place = numbers.index(answer.number)
    yield from _turned_right(every[place], cells)
    for after, called in ((place + 1, "for the puzzle after it"), (place - 1, "for the puzzle before it")):
        if 0 <= after < len(every) and _solves(every[after], cells):
            yield f"right {called}: {OFF_BY_ONE}; {REPEAT_THE_NUMBER}"


def _turned_right(puzzle: Puzzle, cells: Cells) -> Iterator[str]:
    for turn, turned in TURNED.items():
        board = turned(cells)
        remedy = REMEDIES.get(turn, TOP_LEFT)
        if _solves(puzzle, board):
            yield f"right if {turn}: {remedy}"
        if _solves(puzzle, [row.translate(EXCHANGED) for row in board]):
            yield f"right if {turn}, with 0 and 1 exchanged: {remedy}, and 1 is black" if turn else EXCHANGE


def _solves(puzzle: Puzzle, cells: Cells) -> bool:
    if {*map(len, cells)} != {puzzle.width} or len(cells) != puzzle.height:
        return False
    return not mismatches(puzzle, Solution.from_bytes(b"".join(cells), puzzle.size))


class Referee:
    """Judges the answers of a bot as they arrive; the first answer to a puzzle counts.

    With `any_order`, a solution after the answer to a later puzzle is right. A solution that took longer than the
    limit is late. `results` is in the order of the verdicts; `Score` explains the counts.
    """

    def __init__(
        self, puzzle_set: PuzzleSet, any_order: bool = False, puzzle_limit_seconds: float | None = None
    ) -> None:
        self._set = puzzle_set
        self._puzzles = puzzle_set.by_number
        self._places = {number: place for place, number in enumerate(self._puzzles)}
        self._any_order = any_order
        self._puzzle_limit = math.inf if puzzle_limit_seconds is None else puzzle_limit_seconds
        self._last: int | None = None  # the furthest puzzle that has a verdict
        self.results: dict[int, PuzzleResult] = {}
        self.duplicate_count = 0
        self.stray_count = 0
        self.notes: list[str] = []

    def take(
        self, answer: Answer, arrived_seconds: float | None = None, took_seconds: float | None = None
    ) -> PuzzleResult | None:
        """Judge an answer; return None unless it is the first to a puzzle of the set."""
        number = answer.number
        if number is None or number not in self._places:
            self.stray_count += 1
            other = f"line {answer.line}: ${number} is not in the set{self._off_by_one(answer)}"
            self._add_note(answer.problem or other)
            return None
        if number in self.results:
            self.duplicate_count += 1
            self._add_note(f"line {answer.line}: ${number} was answered before; the first answer counts")
            return None
        verdict, detail = judge(self._puzzles[number], answer)
        if verdict is Verdict.RIGHT:
            verdict, detail = self._in_order_and_time(number, took_seconds)
        return self.enter(
            PuzzleResult(number, verdict, detail, arrived_seconds, took_seconds, _in_hex(answer.solution))
        )

    def refuse(self, answer: Answer) -> None:
        """Count an answer that came before its puzzle was sent as one that belongs to none."""
        if answer.number not in self._places or answer.number in self.results:
            self.take(answer)
            return
        self.stray_count += 1
        self._add_note(f"line {answer.line}: ${answer.number} was answered before it was sent")

    def enter(self, result: PuzzleResult) -> PuzzleResult:
        """Record a verdict: from this referee, without an answer, or from an earlier part of the run."""
        self.results[result.number] = result
        if self._last is None or self._places[result.number] > self._places[self._last]:
            self._last = result.number
        return result

    @property
    def _passed(self) -> int:
        """The place of the furthest puzzle with a verdict; -1 without one, or if answers need no order."""
        return -1 if self._any_order or self._last is None else self._places[self._last]

    @property
    def answers_due(self) -> bool:
        """Whether a puzzle is left; see :meth:`left`."""
        done = self._passed + 1 or len(self.results)
        return done < len(self._places)

    def left(self) -> list[int]:
        """Return the numbers of the puzzles whose answers still count, in the order of the set."""
        # Answers come in order: a bot that answered a later puzzle has skipped those before it.
        after = [*self._places][self._passed + 1 :]
        return [number for number in after if number not in self.results]

    def score(self) -> Score:
        """Return a verdict for every puzzle, in the order of the set; MISSING without an answer."""
        puzzles = (self.results.get(number, PuzzleResult(number, Verdict.MISSING)) for number in self._places)
        score = Score.of(puzzles, self.duplicate_count, self.stray_count, self.notes)
        faulty = map(self._answer_of, score.having(Verdict.WRONG, Verdict.MALFORMED))
        notes = [Answer(None, 0, problem=note) for note in self.notes]
        return replace(score, mistake=common_mistake(self._puzzles, [*faulty, *notes]) or UNSET)

    def _answer_of(self, result: PuzzleResult) -> Answer:
        grid = cells_of(result, self._set)
        return Answer(result.number, 0, grid, problem=None if grid else result.detail)

    def restore(self, duplicate_count: int, stray_count: int, notes: list[str]) -> None:
        """Restore the counts of earlier parts of the run."""
        self.duplicate_count, self.stray_count, self.notes = duplicate_count, stray_count, list(notes)

    def _in_order_and_time(self, number: int, took_seconds: float | None) -> tuple[Verdict, str | None]:
        """Return the verdict on a solution, given its time and order."""
        if self._places[number] < self._passed:
            return Verdict.OUT_OF_ORDER, f"a solution, after the answer to ${self._last}"
        if took_seconds is not None and took_seconds > self._puzzle_limit:
            return Verdict.LATE, f"a solution, after {duration(took_seconds)} of {self._puzzle_limit:g} s"
        return Verdict.RIGHT, None

    def _off_by_one(self, answer: Answer) -> str:
        """Return a note if the answer solves the puzzle before or after its own."""
        if answer.solution and answer.number is not None and len(self.notes) < KEPT_NOTES:
            for number in (answer.number + 1, answer.number - 1):
                if number in self._puzzles and _solves(self._puzzles[number], answer.solution.rows):
                    return f", and its board is right for ${number}: {OFF_BY_ONE}"
        return ""

    def _add_note(self, note: str) -> None:
        if len(self.notes) < KEPT_NOTES:
            self.notes.append(note)


def score_of_file(puzzle_set: PuzzleSet, source: str, any_order: bool = False, waits: bool = True) -> Score:
    """Return the score of an answer file; `waits` as for :func:`opened`, UnusableError if it cannot be read.

    The bot may have answered the broken puzzles of the file too. Where a good one has the same number, as many
    answers as there are broken ones count only if they are right, or if no other answer has that number.
    """
    referee = Referee(puzzle_set, any_order)
    puzzles = puzzle_set.by_number
    broken = Counter(fault.number for fault in puzzle_set.faults if fault.is_in_place)
    put_aside: list[Answer] = []
    for answer in _answers(puzzle_set, source, waits):
        number = answer.number
        is_first = number not in referee.results
        if not broken[number] or (is_first and _verdict_on(answer, puzzles) is Verdict.RIGHT):
            referee.take(answer)
        else:
            broken[number] -= 1
            put_aside.append(answer)
    for answer in put_aside:
        if answer.number in puzzles.keys() - referee.results.keys():
            referee.take(answer)
    return referee.score()


def _answers(puzzle_set: PuzzleSet, source: str, waits: bool) -> Iterator[Answer]:
    longest = max(map(most_bytes_of_an_answer, puzzle_set.by_number.values()))
    most_bytes = MOST_OTHER_BYTES + longest * len(puzzle_set.puzzles)
    with opened(source, "the answers ", waits=waits) as file:
        yield from read_answers(answer_lines(file, most_bytes), puzzle_set.width, puzzle_set.height)


def _in_hex(solution: Solution | None) -> str | None:
    """Return the cells as `PuzzleResult.cells_hex` stores them."""
    if solution is None:
        return None
    digits = solution.content.translate(IN_DIGITS)
    length = (len(digits) + 7) // 8
    return int(digits.ljust(8 * length, b"0"), 2).to_bytes(length).hex()


def cells_of(result: PuzzleResult, facts: SetFacts | PuzzleSet) -> Solution | None:
    """Return the grid of an answer; None without one, or if it does not fit the set's boards."""
    cell_count = facts.width * facts.height
    try:
        content = bytes.fromhex(result.cells_hex or "")
    except ValueError:
        return None
    if min(facts.width, facts.height) < 1 or len(content) != (cell_count + 7) // 8:
        return None
    digits = f"{int.from_bytes(content):0{8 * len(content)}b}".encode()[:cell_count]
    return Solution.from_bytes(digits.translate(IN_CELLS), (facts.width, facts.height))
