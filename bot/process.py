"""The long-running process: puzzles in, answers out, one after the other."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from nonobot.bot import LONGEST_SIDE
from nonobot.bot.cli import Options
from nonobot.bot.input import STREAM, Item, UnreadableError, items_of, problem_of, why_no_puzzle
from nonobot.bot.log import RunLog
from nonobot.bot.result import Result
from nonobot.bot.strategy import Strategy, make_strategy
from nonobot.bot.workers import deliver_in_order
from nonobot.protocol import DEFAULT_SIZE, Record, Solution, format_answer
from nonobot.system import usable_cores

__all__ = ["run"]

_STDIN, _STDOUT, _STDERR = 0, 1, 2

_SWITCH_SECONDS = 0.0001
"""A worker that comes back from its kernel waits about so long for one that reads or writes; else it is 5 ms."""

_WHAT_TO_TYPE = """\
nonobot: no puzzles, as standard input is this terminal; type one of
  nonobot puzzle.non                       solve a puzzle file of any form
  nonobot < questions.txt > answers.txt    play a tournament's batch
  nonobot -                                read what is typed here, up to Ctrl-D
  nonobot --help                           see all there is"""


def run(options: Options, started: float) -> int:
    """Answer the puzzles of files, or of the batch on standard input, and return the exit status.

    Parameters
    ----------
    options : Options
    started : float
        When the process started, on the clock of `time.monotonic`.
    """
    if options.dialogue:
        from nonobot.bot.dialogue import converse  # nothing of it is needed in a tournament

        return converse(make_strategy(options))
    if not (options.files or options.warm_up or options.watch) and os.isatty(_STDIN):
        _complain(_WHAT_TO_TYPE)
        return 2
    jobs = 1 if options.warm_up or options.watch else options.jobs or len(usable_cores())
    strategies = [make_strategy(options) for _ in range(jobs)]
    try:
        for strategy in strategies:
            _prepare(strategy, options)
    except ValueError as error:
        return _unusable(str(error))
    if options.warm_up:
        return 0
    if options.watch:
        return _watched(options, strategies[0], options.watch)
    try:
        run_log = RunLog(options.log, options.stats, on_failure=_say)
    except OSError as error:
        return _unusable(f"cannot write {error.filename}: {error.strerror}")
    batch = _Batch(options, started, strategies, run_log)
    try:
        return batch.run()
    finally:
        run_log.close(time.monotonic() - started)


def _watched(options: Options, strategy: Strategy, path: Path) -> int:
    from nonobot.bot.watch import UnwatchableError, watch  # nothing of it is needed in a tournament

    try:
        return watch(options, strategy, path, _complain)
    except UnwatchableError as error:
        return _unusable(str(error))


def _prepare(strategy: Strategy, options: Options) -> None:
    """Load the kernels, or compile them and say so, now or when a board needs them; say so if that is all."""
    before = time.monotonic()
    compiled = False

    def on_compile(what: str) -> None:
        nonlocal compiled
        compiled = True
        _say(f"compiling {what}, once for this version and this machine ...")

    size = None if options.size == "auto" else options.size or DEFAULT_SIZE
    if options.warm_up:
        size = size or DEFAULT_SIZE
    elif options.files or options.watch or options.format != STREAM:
        size = None  # the boards will tell
    strategy.prepare(on_compile, size, everything=options.warm_up)
    if compiled:
        _say(f"compiled in {time.monotonic() - before:.1f} s")
    elif options.warm_up:
        _say(f"the kernels of '{strategy.name}' are compiled already")


class _Outcome(NamedTuple):
    """What came of a puzzle: no result of one that cannot be solved as it stands."""

    result: Result | None
    seconds: float
    complaints: list[str]


class _Batch:
    """One run over the puzzles on standard input."""

    def __init__(self, options: Options, started: float, strategies: Sequence[Strategy], run_log: RunLog) -> None:
        self._options = options
        self._strategies = strategies
        self._run_log = run_log
        self._deadline = None if options.time_limit is None else started + options.time_limit
        self._read = 0
        self._solved = 0
        self._faults = 0
        self._unreadable = 0
        self._early: list[str] = []  # what was found before the first puzzle, until it is known that there is one
        self._is_out_of_time = False
        self._is_seen = os.isatty(_STDOUT)  # by a person, for whom answers are pictures

    def run(self) -> int:
        """Answer all puzzles, and return the exit status."""
        head = bytearray()
        if "-" in self._options.files and os.isatty(_STDIN):
            _say("reading puzzles from the terminal; end them with Ctrl-D")
        try:
            options = self._options
            items = items_of(options.files, options.format, options.size, self._deadline, head)
            self._run(self._until_late(items))
            if self._is_out_of_time:
                raise TimeoutError
        except TimeoutError:
            self._complain_of_early()
            limit = self._options.time_limit
            _say(
                f"stopped at the time limit of {limit:g} s; {self._solved} of {self._read} puzzles read are solved"
            )
            return 1
        except BrokenPipeError:
            return 1
        except UnreadableError as error:
            return _unusable(f"standard input: {error}")
        except OSError as error:
            return _unusable(f"input or output failed: {error.strerror}")
        if self._unreadable:
            return 2
        if not self._read and self._options.files:
            return 2 if self._faults else _unusable(f"no puzzle in {', '.join(self._options.files)}")
        if not self._read:
            return _unusable(why_no_puzzle(self._options.format, bytes(head), is_blank=not self._early))
        return 0 if self._solved == self._read and not self._faults else 1

    def _complain_of_early(self) -> None:
        for what in self._early:
            _complain(what)
        self._early.clear()

    def _late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _run(self, items: Iterable[Item]) -> None:
        """Deal with all items, in their order; TimeoutError when time is up."""
        workers = [partial(self._solve, strategy) for strategy in self._strategies]
        if len(workers) > 1:
            sys.setswitchinterval(_SWITCH_SECONDS)
            deliver_in_order(items, workers, self._deliver, stop=self._stop)
            return
        for item in items:
            self._deliver(item, workers[0](item))

    def _deliver(self, item: Item, outcome: _Outcome) -> None:
        """Answer a puzzle, or say what else there is."""
        if item.is_puzzle:
            self._complain_of_early()
            self._answer(item, outcome)
            return
        self._faults += 1
        self._unreadable += isinstance(item.found, UnreadableError)
        self._early.append(item.named(str(item.found)))
        if self._read or self._options.files:
            self._complain_of_early()

    def _until_late(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            if item.is_puzzle and self._late():
                raise TimeoutError
            yield item

    def _stop(self) -> None:
        for strategy in self._strategies:
            strategy.stop()

    def _answer(self, item: Item, outcome: _Outcome) -> None:
        """Write the answer of a puzzle; none of one that the time of the batch was not enough for."""
        found = item.found
        assert not isinstance(found, UnreadableError)
        assert found.number is not None
        self._read += 1
        result = outcome.result
        for complaint in outcome.complaints:
            _complain(item.named(complaint))
        if (result is None or not result.solutions) and self._late():
            self._is_out_of_time = True
            return
        if isinstance(found, Record) and result and result.solutions:
            self._solved += 1
            _write(b"".join(self._form_of(item, found, solution) for solution in result.solutions))
        else:
            _write(self._no_solution(found.number, found.size, result))
        self._run_log.add(found.number, outcome.seconds, result)
        if result and self._options.solutions > 1:
            _complain(item.named(f"${found.number}: {_verdict(result)}"))

    def _solve(self, strategy: Strategy, item: Item) -> _Outcome:
        """Return what comes of a puzzle, or of a fault in the place of one."""
        before = time.monotonic()
        found = item.found
        if isinstance(found, UnreadableError):
            return _Outcome(None, 0.0, [])
        problem = problem_of(found)
        complaints = [str(remark) for remark in found.remarks] if isinstance(found, Record) else []
        result = None
        if isinstance(found, Record) and not problem:
            try:
                result = self._search(strategy, found)
            except ValueError as error:  # a board that the strategy has no room for
                complaints.append(f"{_place(found)}: {error}")
            else:
                complaints += self._shortcomings(strategy, found, result)
        elif problem and item.is_puzzle:
            complaints.append(str(problem))
        loading = result.loading_seconds if result else 0.0
        return _Outcome(result, time.monotonic() - before - loading, complaints)

    def _search(self, strategy: Strategy, record: Record) -> Result:
        return strategy.solve(
            record.puzzle,
            start=record.start,
            solutions=self._options.solutions,
            seconds=self._seconds_for_puzzle(),
            line_limit=self._options.line_limit,
        )

    def _shortcomings(self, strategy: Strategy, record: Record, result: Result) -> list[str]:
        """Return why there is no solution, in a line; nothing if there is one, or the time of the batch is up."""
        if result.status == "unsolvable":
            return [f"{_place(record)}: {self._why_unsolvable(strategy, record)}"]
        if result.status == "timeout" and not self._late():
            seconds, lines = self._options.puzzle_limit, self._options.line_limit
            limits = [] if seconds is None else [f"{seconds:g} s"]
            limits += [] if lines is None else [f"{lines} lines"]
            within = f" within the limit of {' and '.join(limits)}" if limits else ""
            return [f"{_place(record)}: not solved{within}"]
        return []

    def _why_unsolvable(self, strategy: Strategy, record: Record) -> str:
        """Return why a puzzle has no solution; its board to start from may be at fault."""
        if record.start is None:
            return "the puzzle has no solution"
        without = self._search(strategy, replace(record, start=None))
        return {
            "solved": "the board to start from contradicts the clues: without it the puzzle has a solution",
            "unsolvable": "the puzzle has no solution, with its board to start from or without",
            "timeout": "the puzzle has no solution with its board to start from",
        }[without.status]

    def _seconds_for_puzzle(self) -> float | None:
        limits = [] if self._options.puzzle_limit is None else [self._options.puzzle_limit]
        if self._deadline is not None:
            limits.append(max(0.0, self._deadline - time.monotonic()))
        return min(limits, default=None)

    def _form_of(self, item: Item, record: Record, solution: Solution) -> bytes:
        """Return an answer: a picture, where a person looks on."""
        if not self._is_seen:
            return format_answer(record.number, solution)
        from nonobot.bot.on_terminal import picture_of  # nothing of it is needed in a tournament

        return picture_of(record, solution, item.file, item.is_alone)

    def _no_solution(self, number: int, size: tuple[int, int] | None, result: Result | None) -> bytes:
        """Return what stands in the answer stream for a puzzle without a solution."""
        if self._is_seen:
            return b""  # the line that said why is there to be read
        header = b"$%d\n" % number
        if self._options.on_unsolved == "omit":
            return header
        if self._options.on_unsolved == "word":
            return header + (result.status if result else "invalid").encode() + b"\n"
        width, height = size or (0, 0)
        if not 0 < max(width, height) <= LONGEST_SIDE:
            return header
        return format_answer(number, Solution.from_bytes(bytes(width * height), (width, height)))


def _place(record: Record) -> str:
    return f"${record.number}: line {record.line}"


def _verdict(result: Result) -> str:
    if result.verdict == "multiple":
        return f"multiple: {len(result.solutions)} solutions" + (
            ", no others" if result.exhausted else ", or more"
        )
    if result.verdict == "unknown":
        return "unknown: out of time" + (" after one solution" if result.solutions else "")
    return result.verdict


def _write(answer: bytes) -> None:
    """Write to standard output, whole and at once."""
    rest = memoryview(answer)
    while rest:
        rest = rest[os.write(_STDOUT, rest) :]


def _complain(line: str) -> None:
    """Write a line to standard error; if nobody can read it, that costs no answer."""
    with contextlib.suppress(OSError):
        os.write(_STDERR, f"{line}\n".encode())


def _say(message: str) -> None:
    _complain(f"nonobot: {message}")


def _unusable(message: str) -> int:
    _say(message)
    return 2
