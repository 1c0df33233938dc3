"""Every opponent beside the champion: CPU milliseconds for each puzzle, as a Markdown table.

A bot is started once for a file of puzzles. It gets a first board that is white all over, so that starting,
importing and compiling are done, then one puzzle after the other, each when the last one was answered. The time of
a puzzle is the CPU time that the bot's process took meanwhile. Every answer is verified.
"""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from types import TracebackType

from nonobot.harness.opponents.catalogue import OPPONENTS
from nonobot.harness.own_bot import OWN_BOT
from nonobot.protocol import (
    DEFAULT_SIZE,
    AnswerReader,
    Fault,
    Puzzle,
    Record,
    Solution,
    format_puzzle,
    mismatches,
    read_batch,
)

__all__ = ["CHAMPION", "Player", "Timing", "command_of", "main"]

CHAMPION = "champion"

_SMALL = Path(__file__).parents[2] / "tournaments" / "small"
_GRACE_SECONDS = 2.0  # behind the limit; then the bot is ended

_EPILOG = """\
examples:
  python -m nonobot.harness.opponents.benchmark --tries 3     the boards of tournaments/small, up to 10 s each
  python -m nonobot.harness.opponents.benchmark --limit 1 --only sat,csp_gac tournaments/small/20x20.txt
  python -m nonobot.harness.opponents.benchmark --total --only sat,cp_sat --every 10 --limit 300 questions.txt

A file's board size is in its name, as in 27x23.txt; otherwise the boards are 25x25.
exit status: 0 measured; 1 an answer was wrong; 2 unusable arguments or input."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What became of a puzzle.

    Attributes
    ----------
    status : {'solved', 'wrong', 'timeout', 'unsolved'}
        'unsolved' if the bot gave up before the limit; `reason` says why.
    seconds : float
        CPU time of the bot's process.
    reason : str
        The last line that the bot wrote to standard error, if it did not solve the puzzle.
    """

    status: str
    seconds: float
    reason: str = ""

    def __str__(self) -> str:
        if self.status != "solved":
            return self.status
        milliseconds = 1000 * self.seconds
        return f"{milliseconds:.{2 if milliseconds < 10 else 1 if milliseconds < 100 else 0}f}"


def command_of(name: str) -> list[str]:
    """Return the command that starts an opponent, or the champion."""
    return [*OWN_BOT] if name == CHAMPION else [sys.executable, "-P", "-m", f"nonobot.harness.opponents.{name}"]


class Player:
    """A bot's process, which has its start behind it.

    Parameters
    ----------
    command : sequence of str
    size : (int, int)
        Width and height of all boards.
    limit : float
        Wall time that the bot may take for a puzzle, in seconds.

    Raises
    ------
    RuntimeError
        If the bot does not answer a board that is white all over; the message is what it wrote to standard error.
    """

    def __init__(self, command: Sequence[str], size: tuple[int, int], limit: float) -> None:
        width, height = size
        self._limit = limit
        self._reader = AnswerReader(width, height)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the process
        self._process = subprocess.Popen(
            [*command, "--size", f"{width}x{height}", "--puzzle-limit", f"{limit:g}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )
        if self._ask(1, Puzzle(columns=((),) * width, rows=((),) * height)) is None:
            self.close()
            raise RuntimeError(self._last_words() or "the bot ended without a word")

    def __enter__(self) -> Player:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        """Whether the process can take another puzzle."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def play(self, entry: Record) -> Timing:
        """Return what becomes of one puzzle."""
        before, started = self._cpu_seconds(), time.monotonic()
        watchdog = Timer(self._limit + _GRACE_SECONDS, self._process.kill)
        watchdog.start()
        answer = self._ask(entry.number, entry.puzzle)
        watchdog.cancel()
        if not self.is_running:
            if self._process.returncode == -signal.SIGKILL:
                return Timing("timeout", self._limit, f"ended {_GRACE_SECONDS:g} s after the limit")
            return Timing("unsolved", 0.0, f"the bot ended: {self._last_words() or 'without a word'}")
        seconds = self._cpu_seconds() - before
        if answer and answer.cells.any():
            return Timing("wrong" if mismatches(entry.puzzle, answer) else "solved", seconds)
        is_late = time.monotonic() - started >= 0.95 * self._limit
        return Timing("timeout" if is_late else "unsolved", seconds, self._last_words())

    def _ask(self, number: int, puzzle: Puzzle) -> Solution | None:
        """Return the answer to a puzzle, zeros if it was not solved; None if no grid comes."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(format_puzzle(number, puzzle))
            self._process.stdin.flush()
            for line in self._process.stdout:
                for answer in self._reader.feed(line):
                    return answer.solution
        except BrokenPipeError:
            pass
        self._process.wait()  # it has closed a stream; if it lives on, the watchdog ends it
        return None

    def _cpu_seconds(self) -> float:
        # Linux's number for the CPU-time clock of another process (MAKE_PROCESS_CPUCLOCK); /proc counts by 10 ms.
        return time.clock_gettime((~self._process.pid << 3) | 2)

    def _last_words(self) -> str:
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").splitlines()
        return lines[-1] if lines else ""


def _least(player: Player, entry: Record, tries: int) -> Timing:
    """Return the fastest of some tries, or the first that did not solve the puzzle."""
    best = player.play(entry)
    for _ in range(1, tries):
        if best.status != "solved":
            break
        again = player.play(entry)
        if again.status != "solved" or again.seconds < best.seconds:
            best = again
    return best


def _play_all(
    name: str, files: dict[Path, list[Record]], limit: float, tries: int
) -> Iterable[tuple[str, Timing]]:
    """Yield the label and the timing of every puzzle."""
    for path, entries in files.items():
        player = None
        for entry in entries:
            player = player or Player(command_of(name), entries[0].size, limit)
            timing = _least(player, entry, tries)
            if not player.is_running:  # the next puzzle gets another process
                player.close()
                player = None
            yield f"{path.stem} ${entry.number}", timing
        if player:
            player.close()


def _puzzle_table(timings: dict[str, dict[str, Timing]]) -> list[str]:
    """Return a Markdown table with a line for each puzzle, times in milliseconds."""
    names = list(timings)
    lines = [f"| puzzle | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    lines += [
        f"| {puzzle} | {' | '.join(str(timings[name][puzzle]) for name in names)} |"
        for puzzle in timings[names[0]]
    ]
    return lines


def _total_table(timings: dict[str, dict[str, Timing]]) -> list[str]:
    """Return a Markdown table with a line for each bot."""
    lines = ["| bot | solved | CPU seconds | times the champion |", "|---|---:|---:|---:|"]
    champion = sum(timing.seconds for timing in timings[CHAMPION].values())
    for name, by_puzzle in timings.items():
        solved = sum(timing.status == "solved" for timing in by_puzzle.values())
        seconds = sum(timing.seconds for timing in by_puzzle.values())
        lines.append(f"| {name} | {solved} of {len(by_puzzle)} | {seconds:.2f} | {seconds / champion:.1f} |")
    return lines


def _notes(timings: dict[str, dict[str, Timing]]) -> list[str]:
    return [
        f"- {name}, {puzzle}: {timing.reason or timing.status}"
        for name, by_puzzle in timings.items()
        for puzzle, timing in by_puzzle.items()
        if timing.status in ("wrong", "unsolved")
    ]


def _read(paths: Sequence[Path], every: int) -> dict[Path, list[Record]]:
    """Return the puzzles of each file; ValueError names what cannot be used."""
    files = {}
    for path in paths:
        match = re.search(r"(\d+)x(\d+)", path.stem)
        size = (int(match[1]), int(match[2])) if match else DEFAULT_SIZE
        with path.open("rb") as lines:
            items = list(read_batch(lines, size))
        for fault in items:
            if isinstance(fault, Fault):
                raise ValueError(f"{path}: {fault}")
        files[path] = [item for item in items if isinstance(item, Record)][::every]
        if not files[path]:
            raise ValueError(f"{path}: no puzzle; one starts with '$1'")
    return files


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m nonobot.harness.opponents.benchmark",
        description=(__doc__ or "").strip(),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="question files (default: the small ones)"
    )
    parser.add_argument(
        "--only", default=",".join(OPPONENTS), metavar="NAME[,NAME]", help="opponents (default: all)"
    )
    parser.add_argument(
        "--limit", type=float, default=10.0, metavar="S", help="wall seconds a puzzle (default 10)"
    )
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="every Nth puzzle of a file, from the first"
    )
    parser.add_argument(
        "--tries", type=int, default=1, metavar="N", help="play each puzzle N times; the least time counts"
    )
    parser.add_argument("--total", action="store_true", help="a line for each bot, with the sum of all puzzles")
    return parser


def _measure(
    names: Sequence[str], files: dict[Path, list[Record]], limit: float, tries: int
) -> dict[str, dict[str, Timing]]:
    from rich.console import Console
    from rich.progress import Progress

    timings: dict[str, dict[str, Timing]] = {name: {} for name in names}
    count = sum(map(len, files.values()))
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(names) * count)
        for name in names:
            progress.update(task, description=name)
            for puzzle, timing in _play_all(name, files, limit, tries):
                timings[name][puzzle] = timing
                progress.advance(task)
    return timings


def main() -> int:
    """Measure and print; the exit status is returned."""
    parser = _parser()
    arguments = parser.parse_args()
    chosen = [name.strip() for name in arguments.only.split(",")]
    for name in chosen:
        if name not in OPPONENTS:
            parser.error(f"--only: {name!r} is not an opponent; there are {', '.join(OPPONENTS)}")
    if arguments.limit <= 0 or arguments.every < 1 or arguments.tries < 1:
        parser.error("--limit must be above 0, --every and --tries 1 or more")
    paths = arguments.files or sorted(_SMALL.glob("*.txt"), key=lambda path: [*map(int, path.stem.split("x"))])
    if not paths:
        parser.error(f"{_SMALL} holds no puzzles here; name question files")
    try:
        timings = _measure([CHAMPION, *chosen], _read(paths, arguments.every), arguments.limit, arguments.tries)
    except (OSError, ValueError, RuntimeError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        return 130
    table = _total_table(timings) if arguments.total else _puzzle_table(timings)
    notes = _notes(timings)
    print("\n".join([*table, *([""] if notes else []), *notes]))
    wrong = any(timing.status == "wrong" for by_puzzle in timings.values() for timing in by_puzzle.values())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
