"""`nonojudge rehearse`: is a bot ready to hand in? Its check, a run by the event's rules, and its answer file."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from nonobot.arguments import Parser, seconds, size, whole_number
from nonobot.harness import EXIT_INTERRUPTED, EXIT_UNUSABLE, UnusableError, options
from nonobot.harness.check.self_test import CheckResult
from nonobot.harness.check.step import Level, StepVerdict
from nonobot.harness.process.bot_command import OWN_JUDGE, is_here
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.sandbox import sandbox_note
from nonobot.harness.results.conditions import Contain
from nonobot.harness.results.result_files import read_result
from nonobot.harness.results.run_result import EndReason, RunResult, Verdict
from nonobot.harness.results.run_text import log_doubts
from nonobot.harness.text import duration
from nonobot.protocol import DEFAULT_SIZE
from nonobot.protocol.clues import count
from nonobot.system import printable

EVENT_PUZZLES = 1000
HARMLESS = (Verdict.RIGHT, Verdict.GIVEN_UP)

EXAMPLES = """\
examples:
  nonojudge rehearse -- ./mybot
  nonojudge rehearse --puzzles 1000 --seed 7 -- ./mybot          as long as the event itself
  nonojudge rehearse --reads input.txt --writes solution.txt --logs log.txt -- ./start.sh     named files

The rehearsal carries out all checks of `nonojudge check`, plays a new set of the event's form by its rules in a
sandbox, and plays a few puzzles from a file to a file, which it verifies. Its verdict is "ready to hand in", or
what is missing, the most important first. Puzzles that the bot gives up do not matter for it.

Exit status: 0 ready, 1 not, 2 the bot does not start or the arguments are unusable, 130 interrupted.
"""


def add_to(parser: Parser) -> None:
    parser.usage = "nonojudge rehearse [options] -- CMD [ARGS...]"
    about = "size of the event's boards (default: 25x25)"
    parser.add_argument("--size", type=size, default=DEFAULT_SIZE, metavar="WxH", help=about)
    about = "number of puzzles to play (default: %(default)s; an event has 1000)"
    number = whole_number(1, 9999, "a number of puzzles")
    parser.add_argument("--puzzles", type=number, default=25, metavar="N", help=about)
    about = "seed of the set (default: today's date)"
    seed = whole_number(0, 2**31 - 1, "a seed")
    parser.add_argument("--seed", type=seed, default=int(f"{datetime.now(UTC):%Y%m%d}"), metavar="S", help=about)
    about = "time limit of the event, for 1000 puzzles, in seconds (default: %(default)g)"
    parser.add_argument("--time-limit", type=seconds, default=7200.0, metavar="S", help=about)
    options.add_contain(parser, default="auto")
    for name, about in (
        ("reads", "file that contains the questions, in the bot's own folder"),
        ("writes", "file that the bot writes its answers to"),
        ("logs", "file that the bot writes its own times to"),
    ):
        parser.add_argument(f"--{name}", metavar="NAME", help=about)


@dataclass(frozen=True)
class _Rehearsal:
    """A bot's command, the event, and the options of every run."""

    command: list[str]
    arguments: argparse.Namespace
    folder: Path

    @property
    def files(self) -> list[str]:
        """The options for a bot that works on files."""
        named = ((name, getattr(self.arguments, name)) for name in ("reads", "writes", "logs"))
        return [word for name, value in named if value for word in (f"--{name}", value)]

    @property
    def limit_seconds(self) -> float:
        """The event's time for as many puzzles as the rehearsal has."""
        return self.arguments.time_limit * min(1.0, self.arguments.puzzles / EVENT_PUZZLES)

    def judge(self, *words: str, command: list[str]) -> bytes:
        """Run a command of the judge, its progress on stderr, and return what it prints."""
        with Interrupts() as interrupts, tempfile.TemporaryFile() as out:
            judge = subprocess.Popen([*OWN_JUDGE, *words, "--", *command], stdin=subprocess.DEVNULL, stdout=out)
            while judge.poll() is None and not interrupts.told:
                time.sleep(0.05)
            if interrupts.told:
                judge.terminate()  # once: it stops its bot first
            judge.wait()
            if interrupts.told or judge.returncode == EXIT_INTERRUPTED:
                raise KeyboardInterrupt
            if judge.returncode == EXIT_UNUSABLE:
                raise UnusableError("the rehearsal ends here; see the message above")
            out.seek(0)
            return out.read()

    def run(self, name: str, puzzles: int, *words: str, command: list[str]) -> RunResult:
        """Play puzzles of the event's form, and return the result."""
        width, height = self.arguments.size
        chosen = f"boardgen:{width}x{height}x{puzzles}:seed={self.arguments.seed}"
        path = self.folder / f"{name}.json"
        fixed = ["--set", chosen, "--result", str(path), "--contain", self.arguments.contain]
        fixed += ["--time-limit", f"{max(self.limit_seconds, 1.0):g}"]
        self.judge("run", *fixed, *words, command=command)
        result = read_result(path)
        assert isinstance(result, RunResult)
        return result


def carry_out(arguments: argparse.Namespace) -> int:
    if not arguments.bot_command:
        raise UnusableError("name the bot's command after --, such as: nonojudge rehearse -- ./mybot")
    with tempfile.TemporaryDirectory(prefix="nonojudge-rehearse-") as folder:
        rehearsal = _Rehearsal(arguments.bot_command, arguments, Path(folder).resolve())
        if rehearsal.files:
            print("check: left out, since the bot works on files; check the program that it starts")
        missing = [] if rehearsal.files else _missing_of_check(rehearsal)
        missing += _missing_of_run(rehearsal)
        if not rehearsal.files:
            missing += _missing_of_files(rehearsal)
    if note := sandbox_note(Contain(arguments.contain)):
        print(f"note: {note}")
    if missing:
        print("not ready to hand in:")
        print("\n".join(f"{number}. {printable(text)}" for number, text in enumerate(missing, 1)))
        return 1
    print("ready to hand in")
    return 0


def _missing_of_check(rehearsal: _Rehearsal) -> list[str]:
    width, height = rehearsal.arguments.size
    words = ["check", "--json", "--size", f"{width}x{height}", "--contain", rehearsal.arguments.contain]
    result = msgspec.json.decode(rehearsal.judge(*words, command=rehearsal.command), type=CheckResult)
    musts = [one for one in result.checks if one.level is Level.MUST]
    passed = [one for one in musts if one.verdict in (StepVerdict.PASSED, StepVerdict.WARNING)]
    failed = [one for one in musts if one.verdict is StepVerdict.FAILED]
    skipped = len(musts) - len(passed) - len(failed)
    print(f"check: {len(passed)} of {len(musts)} musts passed" + (f", {skipped} not reached" if skipped else ""))
    for one in result.checks:
        if one.verdict is StepVerdict.WARNING:
            print(printable(f"  note: a careful bot {one.title}"))
    return [f"check {one.number}, a bot {one.title}: {one.advice or one.note or one.got}" for one in failed]


def _missing_of_run(rehearsal: _Rehearsal) -> list[str]:
    arguments = rehearsal.arguments
    limit = rehearsal.limit_seconds
    run = rehearsal.run("run", arguments.puzzles, *rehearsal.files, command=rehearsal.command)
    took = run.usage.wall_seconds
    print(f"run: {_counts(run)} in {duration(took)}")
    missing = _faults(run)
    share = limit / arguments.time_limit * EVENT_PUZZLES
    if run.end.reason is EndReason.TIME_LIMIT or took > limit:
        missing.append(
            f"it is too slow: {EVENT_PUZZLES} puzzles have {duration(arguments.time_limit)}, which is "
            f"{duration(limit)} for {share:g}; let it give up hard puzzles"
        )
    return missing + [f"its log: {doubt}" for doubt in log_doubts(run)]


def _missing_of_files(rehearsal: _Rehearsal) -> list[str]:
    """Play a few puzzles as at an event: `./mybot < questions.txt > answers.txt`."""
    program, *words = rehearsal.command
    pairs = zip([program, *words], words, strict=False)  # a module after -m may have the name of a folder
    full = [str(Path(word).absolute()) if is_here(word) and before != "-m" else word for before, word in pairs]
    program = str(Path(program).absolute()) if os.sep in program else program
    start = ["sh", "-c", f"exec {shlex.join([program, *full])} < questions.txt > answers.txt"]
    files = ["--reads", "questions.txt", "--writes", "answers.txt"]
    run = rehearsal.run("files", min(rehearsal.arguments.puzzles, 5), *files, command=start)
    print(f"answer file: {_counts(run)}")
    return [f"as `... < questions.txt > answers.txt`, {text}" for text in _faults(run)]


def _faults(run: RunResult) -> list[str]:
    """Return what keeps a run from counting, the worst first."""
    faults = []
    if run.end.reason not in (EndReason.FINISHED, EndReason.TIME_LIMIT):
        faults.append(f"it does not reach its end: {run.end.reason.meaning}")
    for verdict, number in run.score.verdicts.items():
        if number and verdict not in HARMLESS:
            first = next(one for one in run.score.puzzles if one.verdict is verdict)
            detail = f": {first.detail}" if first.detail else ""
            faults.append(f"{count(number, 'puzzle')} {verdict.value}, the first is ${first.number}{detail}")
    return faults


def _counts(run: RunResult) -> str:
    numbers = [f"{number} {verdict.value}" for verdict, number in run.score.verdicts.items() if number]
    return f"{', '.join(numbers)} of {count(len(run.score.puzzles), 'puzzle')}"
