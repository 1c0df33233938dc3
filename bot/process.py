"""The process of `nonobot`: answers puzzles in order, never over its own input, and chooses the exit status."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from nonobot.bot import LONGEST_SIDE
from nonobot.bot.cli import Options
from nonobot.bot.input import STREAM, UnusableError, read_puzzles, why_no_puzzle
from nonobot.bot.kernels.compiler import CompilerError, require_compiler
from nonobot.bot.kernels.notices import Notices
from nonobot.bot.kernels.shipped import NATIVE, has_kernels
from nonobot.bot.result import Result, RunLog
from nonobot.bot.strategy import Strategy
from nonobot.bot.workers import deliver_in_order
from nonobot.protocol import DEFAULT_SIZE, Fault, Found, PartialGrid, Record, Solution, format_answer
from nonobot.protocol.clues import FaultKind, located
from nonobot.system import reason_of, report, usable_cores, with_file, write_all

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_SWITCH_SECONDS = 0.0001  # wait of a worker after a kernel while another one runs; Python's default is 5 ms

_WHAT_TO_TYPE = """\
nonobot: cannot find a puzzle: standard input is this terminal; use one of
  nonobot puzzle.non                       solve a puzzle file of any format
  nonobot < questions.txt > answers.txt    solve the batch of a tournament
  nonobot -                                read puzzles typed here, up to Ctrl-D
  nonobot --help                           list all options"""


def make_strategy(options: Options) -> Strategy:
    """Return the strategy that the options name; other strategies are not loaded."""
    if options.strategy == "papers":
        from nonobot.bot.papers import PapersStrategy

        return PapersStrategy(options.probing, options.line_solver)
    from nonobot.bot.champion import ChampionStrategy

    return ChampionStrategy(options.seed, options.without)


def run(options: Options, started: float) -> int:
    """Answer the puzzles of files or of standard input; `started` is the process's start by `time.monotonic`."""
    try:
        return _run(options, started)
    except (UnusableError, CompilerError) as error:
        _say(str(error))
    except OSError as error:
        _say(f"input or output failed: {reason_of(error)}")
    return 2


def _run(options: Options, started: float) -> int:
    if options.native:
        os.environ["NONOBOT_KERNELS"] = NATIVE
    if not (options.files or options.warm_up or options.watch or options.dialogue) and os.isatty(_STDIN):
        for line in _WHAT_TO_TYPE.splitlines():
            report(line)
        return 2
    jobs = 1 if options.warm_up or options.watch else options.jobs or len(usable_cores())
    try:
        strategies = [make_strategy(options) for _ in range(jobs)]
        if options.dialogue:
            from nonobot.bot.dialogue import converse  # a tournament needs none of it

            return converse(strategies[0])
        for strategy in strategies:
            _prepare(strategy, options)
    except ValueError as error:
        raise UnusableError(str(error)) from None
    if options.warm_up:
        return 0
    if options.watch:
        from nonobot.bot.watch import watch  # a tournament needs none of it

        return watch(options, strategies[0], options.watch)
    _refuse_shared_files(options)
    try:
        run_log = RunLog(options.log, options.stats, on_failure=_say)
    except OSError as error:
        raise UnusableError(f"cannot write {with_file(error, options.log or options.stats)}") from None
    batch = _Batch(options, started, strategies, run_log)
    try:
        return batch.run()
    finally:
        run_log.close(None if batch.is_cut_off else time.monotonic() - started)


def _refuse_shared_files(options: Options) -> None:
    """Raise UnusableError if an output file is also read, or written twice, under any name."""
    read = [_STDIN if file == "-" else file for file in options.files] or [_STDIN]
    users = dict.fromkeys(map(_identity, read), "the puzzles are read from this file")
    written = {"standard output": _STDOUT, "--log": options.log, "--stats": options.stats}
    for name, place in written.items():
        if place is None or (identity := _identity(place)) is None:
            continue
        if user := users.get(identity):
            file = f"{name} {place}" if isinstance(place, Path) else name
            raise UnusableError(f"{file}: {user}; write to another one")
        users[identity] = f"{name} is written to this file"


def _identity(place: str | Path | int) -> object:
    """Return the identity of a file, whatever its name; None for one that may be shared, such as a pipe."""
    try:
        facts = os.stat(place)  # noqa: PTH116 (a descriptor, too)
    except OSError:
        return None if isinstance(place, int) else os.path.realpath(place)
    return (facts.st_dev, facts.st_ino) if stat.S_ISREG(facts.st_mode) else None


def _prepare(strategy: Strategy, options: Options) -> None:
    """Load the kernels; report each compilation, also later ones, and a warm-up without any."""
    before = time.monotonic()
    compiled: set[str] = set()
    notices = Notices(_say, _StatusLine() if _is_live() else None)

    def on_compile(part: str, share: float, seconds_left: float) -> None:
        compiled.add(part)
        notices(part, share, seconds_left)

    size = None if options.size == "auto" else options.size or DEFAULT_SIZE
    if options.warm_up:
        size = size or DEFAULT_SIZE
    elif options.files or options.watch or options.format != STREAM:
        size = None  # the input states it
    if not has_kernels():
        require_compiler()  # otherwise the message would appear for each board
    strategy.prepare(on_compile, size, everything=options.warm_up)
    if compiled:
        _say(f"compiled in {time.monotonic() - before:.1f} s")
    elif options.warm_up and os.isatty(_STDERR):  # the judge warms up before each run
        _say(f"the kernels of '{strategy.name}' are already compiled")


_Outcome = tuple[Result | None, list[str]]  # messages, and the result if the puzzle can be searched


class _Batch:
    """One run over the puzzles of files or of standard input."""

    def __init__(self, options: Options, started: float, strategies: Sequence[Strategy], run_log: RunLog) -> None:
        self._options = options
        self._strategies = strategies
        self._run_log = run_log
        self._deadline = None if options.time_limit is None else started + options.time_limit
        self._read = self._solved = self._faults = self._unreadable = 0
        self._early: list[Fault] = []  # faults before the first puzzle, reported once there is a puzzle
        self.is_cut_off = True  # until all puzzles are answered, or time is up
        self._is_seen = os.isatty(_STDOUT)  # output is a terminal: answers are drawn
        self._is_alone = False  # there is only one puzzle

    def run(self) -> int:
        """Answer all puzzles, and return the exit status."""
        options, head = self._options, bytearray()
        if "-" in options.files and os.isatty(_STDIN):
            _say("reading puzzles from the terminal; Ctrl-D ends the input")
        try:
            puzzles = read_puzzles(options.files, options.format, options.size, self._deadline, head)
            if self._is_seen and options.files and "-" not in options.files:
                puzzles = list(puzzles)
            self._is_alone = isinstance(puzzles, list) and len(puzzles) == 1
            self._answer_all(self._until_late(puzzles))
            self.is_cut_off = False
        except TimeoutError:
            self.is_cut_off = False
            self._report_early()
            solved = f"{self._solved} of {self._read} puzzles read are solved"
            _say(f"stopped at the time limit of {options.time_limit:g} s; {solved}")
            return 1
        except BrokenPipeError:
            return 1
        if self._unreadable or (self._faults and options.files and not self._read):
            return 2
        if not self._read and options.files:
            raise UnusableError(f"{', '.join(options.files)}: cannot find a puzzle")
        if not self._read:
            raise UnusableError(why_no_puzzle(options.format, bytes(head), is_blank=not self._early))
        return 0 if self._solved == self._read and not self._faults else 1

    def _report_early(self) -> None:
        for fault in self._early:
            report(str(fault))
        self._early.clear()

    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _until_late(self, puzzles: Iterable[Found]) -> Iterator[Found]:
        for puzzle in puzzles:
            if _is_puzzle(puzzle) and self._is_late():
                raise TimeoutError
            yield puzzle

    def _answer_all(self, puzzles: Iterable[Found]) -> None:
        """Answer all puzzles, in their order; TimeoutError when time is up."""
        workers = [partial(self._solve, strategy) for strategy in self._strategies]
        if len(workers) == 1:
            for puzzle in puzzles:
                self._deliver(puzzle, workers[0](puzzle))
            return

        def stop() -> None:
            for strategy in self._strategies:
                strategy.stop()

        sys.setswitchinterval(_SWITCH_SECONDS)
        deliver_in_order(puzzles, workers, self._deliver, stop)

    def _deliver(self, puzzle: Found, outcome: _Outcome) -> None:
        """Answer a puzzle, or report a fault that does not take the place of a puzzle."""
        if _is_puzzle(puzzle):
            self._report_early()
            self._answer(puzzle, *outcome)
            return
        assert isinstance(puzzle, Fault)
        self._faults += 1
        self._unreadable += puzzle.kind is FaultKind.UNREADABLE
        self._early.append(puzzle)
        if self._read or self._options.files:
            self._report_early()

    def _answer(self, puzzle: Found, result: Result | None, messages: Sequence[str]) -> None:
        """Write the answer to a puzzle, also if the time of the run was up before it was solved."""
        number = puzzle.number
        assert number is not None
        self._read += 1
        for message in messages:
            report(message)
        if isinstance(puzzle, Record) and result and result.solutions:
            self._solved += 1
            write_all(_STDOUT, b"".join(self._form_of(puzzle, solution) for solution in result.solutions))
        else:
            write_all(_STDOUT, self._no_solution(number, puzzle.size, result))
        self._run_log.add(number, result)
        if result and self._options.solutions > 1:
            report(located(_verdict(result), puzzle.file, number))

    def _solve(self, strategy: Strategy, puzzle: Found) -> _Outcome:
        if isinstance(puzzle, Fault):
            return None, [str(puzzle)] if puzzle.is_in_place else []
        messages = [f"warning: {warning}" for warning in puzzle.warnings]
        result = None
        try:
            result = self._search(strategy, puzzle, puzzle.start)
            problem = self._problem(strategy, puzzle, result)
        except ValueError as error:  # a board that the strategy has no room for
            problem = str(error)
        if problem:
            messages.append(located(problem, puzzle.file, puzzle.number, puzzle.line))
        return result, messages

    def _search(self, strategy: Strategy, record: Record, start: PartialGrid | None) -> Result:
        options = self._options
        limits = [] if options.puzzle_limit is None else [options.puzzle_limit]
        if self._deadline is not None:
            limits.append(max(0.0, self._deadline - time.monotonic()))
        seconds, line_limit = min(limits, default=None), options.line_limit
        solutions = options.solutions
        return strategy.solve(
            record.puzzle, start=start, solutions=solutions, seconds=seconds, line_limit=line_limit
        )

    def _problem(self, strategy: Strategy, record: Record, result: Result) -> str:
        """Return the reason for the missing solution; nothing if there is one."""
        if result.status == "timeout":
            if self._is_late():
                return f"not solved within the time limit of {self._options.time_limit:g} s"
            seconds, lines = self._options.puzzle_limit, self._options.line_limit
            limits = [] if seconds is None else [f"{seconds:g} s"]
            limits += [] if lines is None else [f"{lines} line solves"]
            return "not solved" + (f" within the limit of {' and '.join(limits)}" if limits else "")
        if result.status != "unsolvable":
            return ""
        if record.start is None:
            return "the puzzle has no solution"
        return {
            "solved": "the given cells contradict the clues: without them the puzzle has a solution",
            "unsolvable": "the puzzle has no solution, with or without its given cells",
            "timeout": "the puzzle has no solution with its given cells",
        }[self._search(strategy, record, None).status]

    def _form_of(self, record: Record, solution: Solution) -> bytes:
        """Return the text of an answer: for a terminal a drawing, otherwise the format of the tournaments."""
        if not self._is_seen:
            return format_answer(record.number, solution)
        from nonobot.bot.watch import picture_of  # a tournament needs none of it

        return picture_of(record, solution, self._is_alone)

    def _no_solution(self, number: int, size: tuple[int, int] | None, result: Result | None) -> bytes:
        """Return the answer to a puzzle without a solution."""
        if self._is_seen:
            return b""  # a message contains the reason
        header = b"$%d\n" % number
        if self._options.on_unsolved == "omit":
            return header
        if self._options.on_unsolved == "word":
            return header + (result.status if result else "invalid").encode() + b"\n"
        width, height = size or (0, 0)
        if not 0 < max(width, height) <= LONGEST_SIDE:
            return header
        return format_answer(number, Solution.from_bytes(bytes(width * height), (width, height)))


def _is_puzzle(puzzle: Found) -> bool:
    """Return whether this needs an answer: a puzzle, or a fault in the place of one."""
    return isinstance(puzzle, Record) or puzzle.is_in_place


def _verdict(result: Result) -> str:
    if result.verdict == "multiple":
        return f"multiple: {len(result.solutions)} solutions, {'no others' if result.exhausted else 'or more'}"
    if result.verdict == "unknown":
        return "unknown: out of time" + (" after one solution" if result.solutions else "")
    return result.verdict


def _is_live() -> bool:
    """Return whether standard error is a terminal, perhaps that of a judge, on which a line can be rewritten."""
    return (os.isatty(_STDERR) and os.environ.get("TERM") != "dumb") or "NONOBOT_PROGRESS" in os.environ


class _StatusLine:
    """A line on standard error that each text replaces in place; an empty text removes it."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, text: str) -> None:
        line = f"nonobot: {text}" if text else ""
        if line or self._width:
            end = "" if line else "\r"
            with contextlib.suppress(OSError):
                os.write(_STDERR, f"\r{line:<{self._width}}{end}".encode())
        self._width = len(line)


def _say(message: str) -> None:
    report(f"nonobot: {message}")
