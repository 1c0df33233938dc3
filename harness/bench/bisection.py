"""Search by halving, also across merges, for the commit that changed a bot's work or made it slower.

It halves as `git bisect` does, but git only reads the clone. The judge runs copies of the commits, so no checkout
changes. Commits with the same sources of the bot are judged once.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace as replace_fields

from nonobot.arguments import MOST_SHARE
from nonobot.harness import UnusableError
from nonobot.harness.bench.trees import NAME_LENGTH, extract, shallow_hint
from nonobot.harness.compare.statistics import Outcome, Ratio, decide
from nonobot.harness.play.judge_process import JudgeProcess
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.nonobot_command import OWN_JUDGE, PACKAGES
from nonobot.harness.process.paths import is_in, real_path
from nonobot.harness.process.revisions import git
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.run_result import EndReason, Verdict
from nonobot.harness.text import last_line
from nonobot.system import kernel_cache, usable_cores
from nonobot.tournament_data import PuzzleSet

OF_THE_BOT = ("bot", "protocol", "nonobot")  # packages that decide how nonobot works
LIMIT_SECONDS = 600.0  # default limit of a build, and of a run
MOST_LINES = 3  # last lines of a failed build to show
CONFIRMING_RUNS = 3  # a bot of which half of the runs differ then passes once in 8 times, and its parent's as well
MANY_PUZZLES = 10  # one run confirms an effect on so many: a bot that varies hardly does the same on all of them
MOST_ROUNDS = 30  # largest number of rounds of a duel whose rounds are parts of the set
GOLDEN_RATIO = 0.618  # its multiples fall evenly into an interval
LOOK_SECONDS = 0.05  # interval between looks at programs and signals

State = Callable[[str, list[str]], str]


class Question(StrEnum):
    """What a bisection looks for."""

    COUNTS = "counts"
    TIME = "time"


class SkipError(Exception):
    """A commit cannot be judged; the message is one line that says why."""


@dataclass(frozen=True)
class Plan:
    """Two commits, their bot (nonobot's `own` command, or `bot` after `build`), and how to judge it.

    `bot` and `build` run in the folder `inside` of a copy, such as `.`. Runs for counts take place at the same
    time, one for each item of `cores` (None: any core); a duel runs alone, with the `options` on `set`.
    """

    repository: Path
    inside: str
    good: str
    bad: str
    run: Run
    puzzle_set: PuzzleSet
    configuration: Configuration
    show: Sequence[Path]
    set: str
    options: Sequence[str]
    own: Sequence[str]
    bot: Sequence[str]
    build: str | None
    rounds: int
    tolerance: float
    cores: Sequence[int | None] = (None,)
    build_seconds: float = LIMIT_SECONDS


@dataclass(frozen=True)
class Work:
    """What a bot did on a set: for each puzzle its verdict and its counts; how the run ended, and stderr."""

    puzzles: dict[int, tuple[str, dict[str, int]]]
    end: str
    last_line: str

    def changed(self, other: Work, among: Iterable[int] | None = None) -> list[int]:
        """Return the puzzles on which another bot did different work, judged by the counts that both have.

        `among` are the puzzles to look at (default: all).
        """
        names = self.totals.keys() & other.totals.keys()

        def of(work: Work, number: int) -> tuple[str, list[int | None]]:
            verdict, counts = work.puzzles.get(number, (Verdict.MISSING.value, {}))
            return verdict, [counts.get(name) for name in names]

        numbers = sorted(self.puzzles.keys() | other.puzzles.keys()) if among is None else among
        return [number for number in numbers if of(self, number) != of(other, number)]

    @property
    def has_counts(self) -> bool:
        """Whether the bot prints counts."""
        return any(counts for _, counts in self.puzzles.values())

    @property
    def totals(self) -> dict[str, int]:
        """The number of puzzles with each verdict, and the sum of each count."""
        totals = Counter[str](verdict for verdict, _ in self.puzzles.values())
        for _, counts in self.puzzles.values():
            totals.update(counts)
        return totals


Run = Callable[..., Work]
"""Runs a bot, given a set, its command, a configuration, what to show it, and by name `on_verdict`."""


@dataclass(frozen=True)
class Difference:
    """How the bots of two commits differ (None: undecided): in their work, or by the ratio of their times."""

    before: str
    after: str
    differ: bool | None
    ratio: Ratio | None = None
    counts_before: dict[str, int] = field(default_factory=dict)
    counts_after: dict[str, int] = field(default_factory=dict)
    changed_puzzles: list[int] = field(default_factory=list)
    end_before: str | None = None  # how the run of each ended
    end_after: str | None = None


@dataclass
class Finding:
    """The answer to a question: the difference of the ends, and the commit that caused it, or the candidates."""

    question: Question
    whole: Difference
    commit: str | None = None
    effect: Difference | None = None
    candidates: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    unsteady: dict[str, list[int]] = field(default_factory=dict)  # puzzles on which a commit differs from itself


class _Program:
    """A program that was started, in a session of its own, with its output in files."""

    def __init__(self, command: Sequence[str]) -> None:
        self._output = out, errors = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115, until the end
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True
        )
        self._is_asked_to_end = self._is_late = False

    def is_running(self) -> bool:
        return self._process.poll() is None

    def ask_to_end(self) -> None:
        """Ask it once: a second signal would interrupt what it removes."""
        if self.is_running() and not self._is_asked_to_end:
            self._is_asked_to_end = True
            os.killpg(self._process.pid, signal.SIGTERM)

    def kill(self) -> None:
        self._is_late = True
        os.killpg(self._process.pid, signal.SIGKILL)

    def finished(self) -> tuple[int | None, bytes, bytes]:
        """Wait for its end; return status (None: killed), stdout and stderr."""
        status = self._process.wait()
        for file in self._output:
            file.seek(0)
        out, errors = (file.read() for file in self._output)
        for file in self._output:
            file.close()
        return None if self._is_late else status, out, errors


class Bisection:
    """The trees of a plan in a folder, and the runs of their bots; `show` gets the share done and a note."""

    def __init__(
        self, plan: Plan, trees: Path, interrupts: Interrupts, questions: int, show: Callable[[float, str], None]
    ) -> None:
        self.plan = plan
        self._trees = trees
        self._interrupts = interrupts
        self._show = show
        self.paths = () if plan.bot else OF_THE_BOT
        between = ("rev-list", f"{plan.good}..{plan.bad}", "--", *self.paths)
        self.commits = git(plan.repository, *between).decode().split()
        self._stages = 1 + questions * (2 + len(self.commits).bit_length())
        self._stage = 0
        self._ready: dict[str, str | None] = {}  # by sources: why the bot cannot be run
        self._works: dict[str, Work] = {}
        # Cores and their judges: those without a run, and those with a run for counts of a commit
        self._free = [(core, JudgeProcess[Work]()) for core in plan.cores]
        self._ahead: dict[str, tuple[int | None, JudgeProcess[Work]]] = {}
        self._sources = cache(self._sources)  # type: ignore[method-assign]

    def answer(self, question: Question) -> Finding:
        """Return which commit is the first whose bot differs from the good one's, if the bad one's does."""
        plan, begin = self.plan, self._stage
        self._begin_first_runs(plan.good, plan.bad)
        try:
            self._require_answers(plan.good)
            finding = Finding(question, self._difference(question, plan.good, plan.bad, plan.tolerance))
        except SkipError as problem:
            ends = " and ".join(commit[:NAME_LENGTH] for commit in (plan.good, plan.bad))
            raise UnusableError(f"cannot compare {ends}: {problem}") from None
        self._stage += 1
        if question is Question.COUNTS and finding.whole.differ:
            finding.unsteady = self._unsteady(plan.good, plan.bad)
            if finding.unsteady:
                finding.whole = replace(finding.whole, differ=None)
        if finding.whole.differ:
            self._bisect(finding)
        self._stage = begin + 2 + len(self.commits).bit_length()
        return finding

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()
        for _core, judge in self._free:
            judge.end()

    def make_ready(self) -> None:
        """Build the good and the bad bot, both at the same time; UnusableError if that fails."""
        both = dict.fromkeys((self.plan.good, self.plan.bad))
        self._build(*both)
        for commit in both:
            if why := self._ready[self._sources(commit)]:
                raise UnusableError(f"{commit[:NAME_LENGTH]} cannot be built: {why}")
        self._stage = 1

    def _bisect(self, finding: Finding) -> None:
        """Add to a finding the commit that made the difference, and its effect."""
        plan = self.plan
        ends = {plan.good: "good", plan.bad: "bad"}
        known: dict[tuple[str, str | None], str]  # by sources and where the branch began
        known = {(self._sources(end), plan.good): state for end, state in ends.items()}
        # A slow commit is nearer to the bad end than to the good one.
        middle = min(finding.whole.ratio.estimate**0.5 - 1, MOST_SHARE) if finding.whole.ratio else 0.0

        def state(commit: str, next_ones: list[str]) -> str:
            base = self._base(commit)
            key = (self._sources(commit), base)  # what is bad on main may be old on a side branch
            if key not in known:
                try:
                    if commit not in self._ahead:
                        self._drop()
                        commits = (commit, *next_ones[: len(usable_cores()) - 1])  # one core builds one bot
                        self._build(*commits)
                        if finding.question is Question.COUNTS:
                            self._begin_first_runs(*commits)
                    known[key] = self._state(finding, base, commit, middle)
                except SkipError as problem:
                    known[key], finding.skipped[commit] = "skip", str(problem)
                self._stage += 1
            return known[key]

        finding.candidates = first_bad(plan.repository, plan.good, plan.bad, self.paths, state)
        if len(finding.candidates) == 1:
            [commit] = finding.candidates
            try:
                parents = parents_of(commit, plan.repository)
                effects = [self._effect(finding, parent, commit) for parent in parents]
                if not all(effect.differ for effect in effects):
                    return
                if finding.question is Question.COUNTS:
                    fewest = min(len(effect.changed_puzzles) for effect in effects)
                    count = 1 if fewest >= MANY_PUZZLES else CONFIRMING_RUNS
                    finding.unsteady = self._unsteady_built_again(count, commit, *parents)
            except SkipError as problem:
                finding.skipped[f"{commit}^"] = str(problem)
                return
            if finding.unsteady:  # also the other verdicts may then be chance
                finding.candidates = self.commits[::-1]
            else:
                finding.commit, finding.effect = commit, effects[0]

    def _base(self, commit: str) -> str | None:
        """Return where a commit's branch began, the good commit for its descendants; None if nowhere."""
        try:
            return git(self.plan.repository, "merge-base", self.plan.good, commit).decode().strip()
        except subprocess.CalledProcessError:
            return None

    def _state(self, finding: Finding, base: str | None, commit: str, middle: float) -> str:
        """Return whether a commit is good, or bad since it shows what separates the ends; otherwise SkipError.

        A side branch may lack what the good end has, so it is compared with its `base`, the commit where it began.
        """
        plan = self.plan
        if base is None:
            raise SkipError("it has no history in common with the good commit")
        if finding.question is Question.TIME:
            differ = self._difference(finding.question, base, commit, middle).differ
            if differ is None:
                raise SkipError("the duel is undecided")
            return "bad" if differ else "good"
        self._require_ready(commit)
        work, bad = self._work_of(commit), self._work_of(plan.bad)
        if bad.totals.get(Verdict.RIGHT) or work.end != bad.end:
            self._require_answers(commit)  # to answer nothing, in the same way, may be what separates the ends
        effect = finding.whole.changed_puzzles
        for start in dict.fromkeys((plan.good, base)):
            self._build(start)
            self._require_ready(start)
            if not self._work_of(start).changed(work, effect):
                return "good"
        if len(bad.changed(work, effect)) < len(effect):
            return "bad"
        raise SkipError("its work is that of neither end")

    def _effect(self, finding: Finding, parent: str, commit: str) -> Difference:
        """Return how a commit differs from a parent; in counts, as far as the ends differ in the same way."""
        effect = self._difference(finding.question, parent, commit, self.plan.tolerance)
        if finding.question is Question.COUNTS and effect.differ:
            ends = finding.whole.changed_puzzles
            others = self._work_of(self.plan.bad).changed(self._work_of(commit), ends)
            shared = set(ends) & set(effect.changed_puzzles) - set(others)
            return replace(effect, differ=bool(shared))
        return effect

    def _unsteady(self, *commits: str) -> dict[str, list[int]]:
        """Return the puzzles on which another run of a commit's bot does other work than the first."""
        changed = {}
        for place, commit in enumerate(commits):
            self._begin_runs(*commits[place:])
            changed[commit] = self._work_of(commit).changed(self._run_again(commit))
        return {commit: puzzles for commit, puzzles in changed.items() if puzzles}

    def _unsteady_built_again(self, count: int, *commits: str) -> dict[str, list[int]]:
        """Return the same of some runs after a new build: a build may depend on what ran before it."""
        self._drop()
        for commit in commits:
            shutil.rmtree(self._tree(commit))
        self._build(*commits)
        self._require_ready(*commits)
        runs = (self._unsteady(*commits) for _ in range(count))
        return next(filter(None, runs), {})

    def _difference(self, question: Question, before: str, after: str, tolerance: float) -> Difference:
        """Return how two commits' bots differ; SkipError if one cannot be run."""
        if self._sources(before) == self._sources(after):
            return Difference(before, after, False)
        self._build(before, after)
        self._require_ready(before, after)
        self._begin_first_runs(before, after)
        old, new = self._work_of(before), self._work_of(after)
        changed = old.changed(new)
        if question is Question.COUNTS:
            totals = (old.totals, new.totals)
            return Difference(before, after, bool(changed), None, *totals, changed, old.end, new.end)
        for commit in (before, after):
            self._require_answers(commit)
            if self._work_of(commit).end == EndReason.TIME_LIMIT:
                raise SkipError(
                    f"{commit[:NAME_LENGTH]} takes longer than "
                    f"{self.plan.configuration.wall_limit_seconds:g} s (--time-limit)"
                )
        # A different search is slower on one part of a set and faster on another: parts would not be pairs.
        ratio = self._duel(before, after, tolerance, by_parts=old.has_counts and new.has_counts and not changed)
        outcome = decide(ratio, tolerance)
        differ = None if outcome is Outcome.CANNOT_TELL else outcome is Outcome.WORSE
        return Difference(before, after, differ, ratio)

    def _require_ready(self, *commits: str) -> None:
        """Raise SkipError if the bot of a commit cannot be run."""
        for commit in commits:
            if why := self._ready[self._sources(commit)]:
                raise SkipError(why)

    def _require_answers(self, commit: str) -> None:
        """Raise SkipError if the bot of a commit has no right answer."""
        if not (work := self._work_of(commit)).totals.get(Verdict.RIGHT):
            last_line = f": {work.last_line}" if work.last_line else ""
            raise SkipError(f"{commit[:NAME_LENGTH]}: no puzzle is right ({work.end}){last_line}")

    # --- the bots ---

    def _sources(self, commit: str) -> str:
        """Return the digests of the files that decide how a commit's bot works."""
        return git(self.plan.repository, "ls-tree", commit, "--", *self.paths).decode()

    def _tree(self, commit: str) -> Path:
        return self._trees / commit[:NAME_LENGTH]

    def _bot(self, commit: str) -> list[str]:
        if self.plan.bot:
            return [*self._in_tree(commit), *self.plan.bot]
        return ["env", f"PYTHONPATH={self._tree(commit)}", f"NONOBOT_CACHE_DIR={kernel_cache()}", *self.plan.own]

    def _in_tree(self, commit: str) -> list[str]:
        """Return the beginning of a command that runs in the copy of a commit."""
        return ["sh", "-c", f'cd "$0"/{shlex.quote(self.plan.inside)} && exec "$@"', str(self._tree(commit))]

    def _build(self, *commits: str) -> None:
        """Build the bots of these commits that are not built yet, in parallel."""
        plan, missing = self.plan, self._extracted(commits)
        build = ["sh", "-c", plan.build or ":"]
        commands = [
            [*self._in_tree(commit), *build] if plan.bot else [*self._bot(commit), "--warm-up"]
            for commit in missing
        ]
        note = f"building {' and '.join(commit[:NAME_LENGTH] for commit in missing)}"
        finished = self._finished(*map(_Program, commands), note=note, limit_seconds=plan.build_seconds)
        for commit, built in zip(missing, finished, strict=True):
            self._ready[self._sources(commit)] = self._fault_of_build(commit, *built)

    def _extracted(self, commits: Iterable[str]) -> list[str]:
        """Copy the commits that have no copy yet, and return those to build: of the same sources, one."""
        missing: dict[str, str] = {}  # by sources, or by themselves
        for commit in commits:
            if self._tree(commit).exists():
                continue
            try:
                extract(commit, self.plan.repository, self._tree(commit), () if self.plan.bot else PACKAGES)
                missing.setdefault(commit if self.plan.bot else self._sources(commit), commit)
            except UnusableError as problem:  # an older commit without one of the packages
                self._ready[self._sources(commit)] = str(problem)
        return [*missing.values()]

    def _fault_of_build(self, commit: str, status: int | None, out: bytes, errors: bytes) -> str | None:
        if status is None:
            return f"not built within {self.plan.build_seconds:g} s (--build-limit)"
        last_line = last_lines(errors) or last_lines(out) or f"status {status}"
        return last_line if status else self._fault_in_command(commit)

    def _fault_in_command(self, commit: str) -> str | None:
        """Return why the bot's command does not start the bot in a commit's copy, which is built."""
        plan, tree = self.plan, self._tree(commit)
        if plan.bot and "/" in plan.bot[0] and not (tree / plan.inside / plan.bot[0]).exists():
            return f"it has no {plan.bot[0]}; build it with --build 'CMD'"
        for word in filter(os.path.isabs, plan.bot):
            path = real_path(Path(word).parent) / Path(word).name  # the clone's path has no links
            if is_in(path, plan.repository) and (tree / path.relative_to(plan.repository)).exists():
                name = os.path.relpath(path, plan.repository / plan.inside)
                return f"{word}: each commit needs its own; name it from your working folder: {name}"
        return None

    def _work_of(self, commit: str) -> Work:
        if commit not in self._works:
            self._works[commit] = self._run_again(commit)
        return self._works[commit]

    def _begin_first_runs(self, *commits: str) -> None:
        """Begin the runs for counts of the commits that are built and were not run yet."""
        built = [commit for commit in commits if self._ready.get(self._sources(commit), "not built") is None]
        self._begin_runs(*(commit for commit in built if commit not in self._works))

    def _begin_runs(self, *commits: str) -> None:
        """Begin a run for counts of these commits that :meth:`_run_again` ends, as far as cores are free."""
        plan = self.plan
        for commit in commits:
            if self._free and commit not in self._ahead:
                core, judge = self._free.pop()
                configuration = replace_fields(plan.configuration, core=core)
                judge.begin(plan.run, plan.puzzle_set, self._bot(commit), configuration, plan.show)
                self._ahead[commit] = core, judge

    def _run_again(self, commit: str) -> Work:
        """Return the work of a run that goes on, or else of a new one; SkipError if the bot cannot be run."""
        if commit not in self._ahead:
            if not self._free:
                self._drop()
            self._begin_runs(commit)
        core, judge = self._ahead.pop(commit)
        self._free.append((core, judge))
        try:
            while (work := judge.result(LOOK_SECONDS)) is None:
                self._show(self._stage / self._stages, f"counts of {commit[:NAME_LENGTH]}")
                if self._interrupts.stop_requested:
                    raise KeyboardInterrupt
        except UnusableError as problem:
            raise SkipError(str(problem)) from None
        return work

    def _drop(self) -> None:
        """End the runs that go on."""
        for core, judge in self._ahead.values():
            judge.end()
            self._free.append((core, judge))
        self._ahead.clear()

    def _duel(self, before: str, after: str, tolerance: float, by_parts: bool) -> Ratio:
        """Return the ratio of the times of two bots, with its interval; a round is the set, or a part of it."""
        self._drop()  # nothing else may run meanwhile
        rounds = MOST_ROUNDS if by_parts else self.plan.rounds
        with tempfile.TemporaryDirectory(prefix="nonojudge-") as folder:
            arguments = ["--json", "--quiet", "--set", self.plan.set, *self.plan.options, "--results", folder]
            arguments += [*["--until"] * by_parts, "--rounds", str(rounds), "--tolerance", str(tolerance)]
            bots = [shlex.join(self._bot(commit)) for commit in (before, after)]
            note = f"{before[:NAME_LENGTH]} against {after[:NAME_LENGTH]}"
            played = Path(folder, "after")

            def done() -> float:
                return len(list(played.glob("*.json"))) / (rounds + 1)

            duel = self._judged(_Program([*OWN_JUDGE, "duel", *arguments, *bots]), note, done)
        if not duel["cpu"]:
            raise SkipError("too few puzzles are right in both versions")
        ratio = duel["cpu"]["ratio"]
        return Ratio(**{name: float("inf") if value is None else value for name, value in ratio.items()})

    def _judged(self, command: _Program, note: str, done: Callable[[], float] = lambda: 0.0) -> Any:
        """Return the JSON that a command of the judge prints; SkipError if it cannot be carried out."""
        [(status, out, errors)] = self._finished(command, note=note, done=done)
        if status not in (0, 1, 3):
            raise SkipError(last_line(errors).removeprefix("nonojudge: ") or f"status {status}")
        return json.loads(out)

    def _finished(
        self,
        *programs: _Program,
        note: str,
        done: Callable[[], float] = lambda: 0.0,
        limit_seconds: float = math.inf,
    ) -> list[tuple[int | None, bytes, bytes]]:
        """Return what each program returns when it has finished; KeyboardInterrupt if the user stops them.

        A program is killed at the limit.
        """
        until = time.monotonic() + limit_seconds
        while still := [program for program in programs if program.is_running()]:
            self._show((self._stage + done()) / self._stages, note)
            if self._interrupts.stop_requested:
                for program in still:
                    program.ask_to_end()
            if time.monotonic() > until:
                for program in still:
                    program.kill()
            time.sleep(LOOK_SECONDS)
        finished = [program.finished() for program in programs]
        if self._interrupts.stop_requested:
            raise KeyboardInterrupt
        return finished


def last_lines(output: bytes) -> str:
    """Return the last lines of a program's output that are not blank, in one."""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    return " | ".join(lines[-MOST_LINES:])


def parents_of(commit: str, repository: Path) -> list[str]:
    """Return the parents of a commit; SkipError if the clone lacks them."""
    _, *parents = git(repository, "rev-list", "--parents", "-n", "1", commit).decode().split()
    if not parents:
        raise SkipError(f"{commit[:NAME_LENGTH]} has no parent{shallow_hint(repository)}")
    return parents


def first_bad(repository: Path, good: str, bad: str, paths: Sequence[str], state: State) -> list[str]:
    """Return the first bad commit that changed `paths`, or those among which it is, the oldest first.

    `state` gets a commit and those that may come next; it returns good, bad or skip.
    """
    goods, skipped = [good], set[str]()

    def between(bad: str, *goods: str) -> list[str]:
        """Return the commits among which the first bad one is, those first that halve them best."""
        command = ("rev-list", "--bisect-all", bad, "--not", *goods, "--")
        # A merge may have taken back one side: then no commit that git lists for `paths` is the cause.
        listed = git(repository, *command, *paths) or git(repository, *command)
        return [line.split()[0] for line in listed.decode().splitlines()]

    while True:
        left = between(bad, *goods)
        untested = [commit for commit in left if commit not in (bad, *skipped)]
        if not untested:
            break
        # After a skip, anywhere: what is next to a commit that cannot be judged often cannot be judged either.
        commit = untested[int(GOLDEN_RATIO * len(skipped.intersection(left)) % 1 * len(untested))]
        nearest = (between(commit, *goods), between(bad, *goods, commit))
        match state(commit, [commits[0] for commits in nearest if commits[1:]]):
            case "good":
                goods.append(commit)
            case "bad":
                bad = commit
            case _:
                skipped.add(commit)
    in_order = git(repository, "rev-list", "--reverse", "--topo-order", bad, "--not", *goods).decode().split()
    return [commit for commit in in_order if commit in left]
