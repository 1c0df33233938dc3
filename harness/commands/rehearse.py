"""`nonojudge rehearse`: is a bot ready to hand in? Its check, a run by the event's rules, and its answer file."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nonobot.arguments import Parser, seconds, size, whole_number
from nonobot.harness import UnusableError, options
from nonobot.harness.check.self_test import musts_passed
from nonobot.harness.check.step import StepResult, StepVerdict
from nonobot.harness.commands.check import checked
from nonobot.harness.commands.run_bot import played
from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.process.paths import is_here
from nonobot.harness.results.conditions import Contain
from nonobot.harness.results.run_result import EndReason, RunResult, Verdict
from nonobot.harness.results.run_text import end_in_words, last_words, log_doubts
from nonobot.harness.text import duration, ranges
from nonobot.protocol import DEFAULT_SIZE
from nonobot.protocol.clues import count, plural
from nonobot.system import printable

EVENT_PUZZLES = 1000

EXAMPLES = """\
examples:
  nonojudge rehearse -- ./mybot
  nonojudge rehearse --puzzles 1000 --seed 7 -- ./mybot          as long as the event itself
  nonojudge rehearse --reads input.txt --writes solution.txt --logs log.txt -- ./start.sh     named files

The rehearsal carries out all checks of `nonojudge check`, plays a new set of the event's form by its rules in a
sandbox, and plays a few puzzles once more, from a file to a file, which it verifies. Its verdict is "ready to hand
in", or what is missing, the most important first. A bot that gives up puzzles is ready "by the rules". A bot that
breaks down in a check is not run.

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
    options.add_timeouts(parser)
    options.add_terms(parser, "warm_up", "warm_up_limit")
    options.add_terms(parser, "contain", default="auto")
    options.add_terms(parser, "show", "environment")
    options.add_terms(parser, "reads", "writes", "logs", default=None)


@dataclass(frozen=True)
class _Rehearsal:
    """A bot's command, the event, and the options of every run."""

    arguments: argparse.Namespace
    folder: Path

    @property
    def on_files(self) -> bool:
        """Whether the bot works on files."""
        return bool(self.arguments.reads or self.arguments.writes or self.arguments.logs)

    @property
    def limit_seconds(self) -> float:
        """The event's time for as many puzzles as the rehearsal has."""
        return self.arguments.time_limit * min(1.0, self.arguments.puzzles / EVENT_PUZZLES)

    def check(self) -> list[StepResult]:
        """Carry out all checks, and return their results."""
        return checked(self._with(only=[], json=True, verbose=False)).checks

    def run(self, name: str, puzzles: int, **other: object) -> RunResult:
        """Play puzzles of the event's form, with `other` arguments, and return the result."""
        width, height = self.arguments.size
        chosen = f"boardgen:{width}x{height}x{puzzles}:seed={self.arguments.seed}"
        limit = max(self.limit_seconds, 1.0)
        arguments = self._with(set=chosen, size=None, wall_limit_seconds=limit, quiet=False, **other)
        result = played(arguments, self.folder / f"{name}.json")
        if result.end.reason is EndReason.INTERRUPTED:
            raise KeyboardInterrupt
        return result

    def _with(self, **other: object) -> argparse.Namespace:
        return argparse.Namespace(**{**vars(self.arguments), **other})


def carry_out(arguments: argparse.Namespace) -> int:
    if not arguments.bot_command:
        raise UnusableError("name the bot's command after --, such as: nonojudge rehearse -- ./mybot")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C: no folder remains
    with tempfile.TemporaryDirectory(prefix="nonojudge-rehearse-") as folder:
        missing, unsolved = _carried_out(_Rehearsal(arguments, Path(folder).resolve()))
    if note := sandbox_note(Contain(arguments.contain)):
        print(f"note: {note}")
    if missing:
        print("not ready to hand in:")
        for number, text in enumerate(missing, 1):
            print(f"{number}. " + "\n     ".join(map(printable, text.split("\n"))))
        return 1
    puzzles = f"{unsolved} of {count(arguments.puzzles, 'puzzle')}"
    more = f" by the rules; {puzzles} unsolved: see docs/first-bot.md, Make it faster"
    print(f"ready to hand in{more if unsolved else ''}")
    return 0


def _carried_out(rehearsal: _Rehearsal) -> tuple[list[str], int]:
    """Return what is missing, the most important first, and the number of puzzles that the bot did not solve."""
    missing: list[str] = []
    if rehearsal.on_files:
        print("check: left out, since the bot works on files; check the program that it starts")
    else:
        missing, first = _missing_of_check(rehearsal.check())
        if first:
            print(f"run, answer file: left out until check {first} passes")
            return missing, 0
    run = rehearsal.run("run", rehearsal.arguments.puzzles)
    print(f"run: {_counts(run)} in {duration(run.usage.wall_seconds)}")
    faults = _faults(run, rehearsal)
    missing += [*faults.values(), *(f"its log: {doubt}" for doubt in log_doubts(run))]
    if not rehearsal.on_files:
        again = _run_on_files(rehearsal)
        print(f"answer file, of another run (`... < questions.txt > answers.txt`): {_counts(again)}")
        others = {kind: text for kind, text in _faults(again, rehearsal).items() if kind not in faults}
        missing += [f"as `... < questions.txt > answers.txt`, {text}" for text in others.values()]
    return missing, len(run.score.puzzles) - run.score.right


def _missing_of_check(checks: Sequence[StepResult]) -> tuple[list[str], int | None]:
    """Return what is missing, and the first check without which a run shows nothing more, if it did not pass."""
    print(f"check: {musts_passed(checks)}")
    failed = [check for check in checks if check.verdict is StepVerdict.FAILED]
    others = [check for check in failed if not check.breakdown]
    first_checks = {check.breakdown: check for check in reversed(failed)}
    first_checks.pop(None, None)
    _print_notes([check for check in checks if check.breakdown not in first_checks])
    missing = [_item(_breakdown(first, checks), first) for first in reversed(first_checks.values())]
    missing += [_item(f"check {check.number}, a bot {check.title}", check) for check in others]
    fatal = [check.number for check in failed if check.breakdown or check.number == 1]
    return missing, min(fatal, default=None)


def _print_notes(checks: Sequence[StepResult]) -> None:
    for check in checks:
        if check.verdict is StepVerdict.WARNING:
            print(printable(f"  note: a careful bot {check.title} (check {check.number})"))


def _breakdown(first: StepResult, checks: Sequence[StepResult]) -> str:
    numbers = [check.number for check in checks if check.breakdown == first.breakdown]
    return f"it {first.breakdown} ({plural(len(numbers), 'check')} {ranges(numbers)})"


def _item(title: str, result: StepResult) -> str:
    """Return the lines on a check that did not pass."""
    return f"{title}\ngot  {result.got}\ndo   {result.advice}"


def _run_on_files(rehearsal: _Rehearsal) -> RunResult:
    """Play a few puzzles as at an event: `./mybot < questions.txt > answers.txt`."""
    program, *words = rehearsal.arguments.bot_command
    pairs = zip([program, *words], words, strict=False)  # a module after -m may have the name of a folder
    full = [str(Path(word).absolute()) if is_here(word) and before != "-m" else word for before, word in pairs]
    program = str(Path(program).absolute()) if os.sep in program else program
    start = ["sh", "-c", f"exec {shlex.join([program, *full])} < questions.txt > answers.txt"]
    files = {"reads": "questions.txt", "writes": "answers.txt"}
    return rehearsal.run("files", min(rehearsal.arguments.puzzles, 5), bot_command=start, **files)


def _faults(run: RunResult, rehearsal: _Rehearsal) -> dict[str, str]:
    """Return what keeps a run from counting, by its kind, the worst first."""
    faults = _fault_of_end(run, rehearsal)
    for verdict in [verdict for verdict in run.score.others if verdict is not Verdict.GIVEN_UP]:
        first, *others = run.score.having(verdict)
        detail = f": {first.detail}" if first.detail else ""
        text = f"{count(1 + len(others), 'puzzle')} {verdict.value}, the first is ${first.number}{detail}"
        if verdict is Verdict.MISSING and faults:  # that is why
            faults = {kind: f"{why}; {text}" for kind, why in faults.items()}
        else:
            faults[verdict.value] = text
    return faults


def _fault_of_end(run: RunResult, rehearsal: _Rehearsal) -> dict[str, str]:
    in_all, allowed = rehearsal.arguments.time_limit, rehearsal.limit_seconds
    if run.end.reason is EndReason.TIME_LIMIT or run.usage.wall_seconds > allowed:
        limits = f"{EVENT_PUZZLES} puzzles have {duration(in_all)}, which is {duration(allowed)}"
        number = f"{allowed / in_all * EVENT_PUZZLES:g}"
        return {"slow": f"it is too slow: {limits} for {number}; let it give up hard puzzles"}
    if run.end.reason is EndReason.FINISHED and not run.answers_due:
        return {}
    _, _, end = end_in_words(run.end, run.configuration).partition(": ")
    last_line = last_words(run)
    return {"end": f"it does not reach its end: {end}" + (f"; last on stderr: {last_line}" if last_line else "")}


def _counts(run: RunResult) -> str:
    numbers = [f"{number} {verdict.value}" for verdict, number in run.score.verdicts.items() if number]
    return f"{', '.join(numbers)} of {count(len(run.score.puzzles), 'puzzle')}"
