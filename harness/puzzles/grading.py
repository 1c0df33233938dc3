"""How hard a board is for nonobot (line solves, level), and the solutions that it finds, one board at a time."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nonobot.harness import UnusableError
from nonobot.harness.play.match import WarmUpError, warmed_up
from nonobot.harness.process.bot_process import BotProcess, LastWords
from nonobot.harness.process.conversation import Conversation
from nonobot.harness.process.nonobot_command import OWN_BOT
from nonobot.harness.results.conditions import PROCESS_LIMIT, Configuration, Contain
from nonobot.protocol import Puzzle, format_puzzle
from nonobot.tournament_data.select import Grade, Level

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WORK_COUNT = "line_solves"
"""The bot's count that measures its work, the same on every machine. Its rank correlation with the seconds is 0.96
on the set icga2018 and 0.93 on taai2011, the linear one 0.98 and 0.99 (from `nonobot --stats FILE`, 2 shared cores
of an AMD EPYC)."""

PUZZLE_SECONDS = 60.0
LINE_LIMIT = 3_000_000  # line solves of about fifteen seconds; on a slow machine, less than `PUZZLE_SECONDS`
LONGEST_PROBED_SIDE = 62  # longest side of a board that the strategy `papers` accepts
GradeBoard = Callable[[Puzzle], Grade]


@dataclass(frozen=True, slots=True)
class Grading:
    """What to find out about boards of a size, and the limits at which a board is given up."""

    size: tuple[int, int]  # width and height of every board
    solutions: int  # to look for; with 2, the bot reports whether a board is unique
    puzzle_seconds: float
    levels: bool = False  # whether to grade the levels of unique boards, too
    line_limit: int = 0  # line solves until a board is given up, the same on every machine; 0 for any number
    contain: Contain = Contain.NO

    @contextlib.contextmanager
    def started(self) -> Iterator[GradeBoard]:
        """Start the bot, or two bots for levels, and end them with the block.

        The champion shows which boards line logic alone solves. Unique boards that need more go to the strategy
        `papers`, whose first node is FP1 of Wu et al. 2013. Both are warm before the first board.
        """
        with contextlib.ExitStack() as stack:
            champion = stack.enter_context(grading_bot(self))
            if not self.levels:
                yield champion
                return
            papers = None
            if max(self.size) <= LONGEST_PROBED_SIDE:
                papers = stack.enter_context(grading_bot(self, "papers"))
            white = Puzzle(columns=((),) * self.size[0], rows=((),) * self.size[1])
            for bot in filter(None, (champion, papers)):
                bot(white)

            def grade_with_level(puzzle: Puzzle) -> Grade:
                grade = champion(puzzle)
                if not grade.unique or grade.level == "lines" or not papers:
                    return grade
                return replace(grade, level=papers(puzzle).level or "search")

            yield grade_with_level


@contextlib.contextmanager
def grading_bot(grading: Grading, strategy: str = "champion") -> Iterator[GradingBot]:
    """Start the bot with a strategy, and end it with the block; UnusableError if no sandbox can be built."""
    width, height = grading.size
    command = [
        *OWN_BOT,
        *("--size", f"{width}x{height}"),
        *("--solutions", str(grading.solutions)),
        *("--puzzle-limit", f"{grading.puzzle_seconds:g}"),
        *(("--line-limit", str(grading.line_limit)) if grading.line_limit else ()),
        *("--on-unsolved", "omit"),
        *("--stats", "/dev/stdout"),
        *("--strategy", strategy),
    ]
    with contextlib.suppress(WarmUpError):  # the bot itself says why
        warmed_up(command, Configuration())
    last_words, limits = LastWords(), Configuration(contain=grading.contain, process_limit=PROCESS_LIMIT)
    with BotProcess(command, last_words, limits) as process:
        yield GradingBot(process, last_words, grading)


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """The solutions of a board that the bot found."""

    solutions: npt.NDArray[np.bool_]  # shape (number, height, width), true for black
    complete: bool  # whether the board is known to have no others
    in_time: bool  # whether the bot completed its search, or found as many solutions as it looked for

    @property
    def unique(self) -> bool:
        """Whether the board is known to have exactly one solution."""
        return self.complete and len(self.solutions) == 1


_Told = tuple[dict[str, Any], bytearray]  # a record of the bot, and the digits of the answers before it


class _RecordReader:
    """Parser of the bot's records and of the answers before each."""

    def __init__(self) -> None:
        self._digits = bytearray()

    def feed(self, line: bytes) -> list[_Told]:
        if line.startswith(b"{"):
            digits, self._digits = self._digits, bytearray()
            return [(json.loads(line), digits)]
        if not line.startswith(b"$"):
            self._digits += line.translate(None, b"\t\r\n ")
        return []

    def close(self) -> list[_Told]:
        return []


class GradingBot:
    """A running bot that writes records to its stdout; see :func:`grading_bot`."""

    def __init__(self, bot: BotProcess, last_words: LastWords, grading: Grading) -> None:
        self._bot = bot
        self._talk = Conversation(bot, _RecordReader())
        self._words = last_words
        self._grading = grading

    def __call__(self, puzzle: Puzzle) -> Grade:
        """Return the grade of a board; UnusableError if the bot cannot solve it."""
        record, _ = self._told(puzzle)
        unique = record["verdict"] == "unique"
        # Fewer solutions than wanted without an end of the search: a limit was reached.
        decided = unique or record["solutions"] == self._grading.solutions
        level = _level(record) if unique else None
        return Grade(decided, unique, record[WORK_COUNT], record.get("conflicts", 0), level)

    def findings(self, puzzle: Puzzle) -> Findings:
        """Return the solutions of a board; UnusableError if the bot cannot solve it."""
        import numpy as np  # not needed for grades

        record, digits = self._told(puzzle)
        cells = np.frombuffer(digits, np.uint8).reshape(-1, puzzle.height, puzzle.width) == ord("1")
        all_wanted = len(cells) == self._grading.solutions
        # After several solutions the record does not state whether the search ended; it did if time was left.
        ended = record["verdict"] == "unique" or record["seconds"] < self._grading.puzzle_seconds
        return Findings(cells, complete=ended and not all_wanted, in_time=ended or all_wanted)

    def solvable(self, puzzle: Puzzle) -> bool | None:
        """Return whether a board has a solution; None if it was given up at a limit."""
        record, _ = self._told(puzzle, "unsolvable")
        return None if record["status"] == "timeout" else record["status"] == "solved"

    def _told(self, puzzle: Puzzle, *more_statuses: str) -> _Told:
        self._words.data = b""
        self._talk.send(format_puzzle(1, puzzle))
        answer = self._talk.answer()
        if answer is None:
            while not self._bot.exited:
                self._talk.listen(math.inf)
            raise UnusableError(f"nonobot ended: {self._last_words()}")
        (record, digits), _ = answer
        if record["status"] not in ("solved", "timeout", *more_statuses):
            raise UnusableError(f"the bot cannot solve such boards: {self._last_words()}")
        return record, digits

    def _last_words(self) -> str:
        self._talk.listen(0.0)  # this reads stderr, too
        return self._words.last_line or "it wrote nothing"


def _level(record: dict[str, Any]) -> Level:
    """Return the level of a unique board, as far as the bot's strategy shows it."""
    if record.get("decisions") == 0:
        return "lines"
    return "probing" if record.get("nodes") == 1 and record["status"] == "solved" else "search"
