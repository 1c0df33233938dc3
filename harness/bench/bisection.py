"""Search with `git bisect` for the commit that changed a bot's work or made it slower.

Git bisects in a worktree without files, and the judge runs copies of the commits, so no checkout changes. Commits
with the same sources of the bot are judged once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from nonobot.harness import UnusableError
from nonobot.harness.bench.trees import NAME_LENGTH, PACKAGES, extract
from nonobot.harness.compare.statistics import Outcome, Ratio, decide
from nonobot.harness.process.bot_command import OWN_JUDGE
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.revisions import git
from nonobot.harness.results.run_result import Verdict
from nonobot.harness.text import last_line
from nonobot.system import kernel_cache, usable_cores

OF_THE_BOT = ("bot", "protocol", "nonobot")  # packages that decide how nonobot works
IN_TREE = ("sh", "-c", 'cd "$0" && exec "$@"')  # runs a command in the folder that follows
MOST_ROUNDS = 30  # largest number of rounds of a duel whose rounds are parts of the set


State = Callable[[str, list[str]], str]


class Question(StrEnum):
    """What a bisection looks for."""

    COUNTS = "counts"
    TIME = "time"


class SkipError(Exception):
    """A commit cannot be judged; the message is one line that says why."""


@dataclass(frozen=True)
class Plan:
    """Two commits, their bot (nonobot's `own` command, or `bot` after `build`), and options of the judge."""

    repository: Path
    good: str
    bad: str
    set: str
    options: Sequence[str]
    own: Sequence[str]
    bot: Sequence[str]
    build: str | None
    rounds: int
    tolerance: float


@dataclass(frozen=True)
class Work:
    """What a bot did on a set: for each puzzle its verdict and its counts."""

    puzzles: dict[int, tuple[str, dict[str, int]]]

    def changed(self, other: Work) -> list[int]:
        """Return the puzzles on which another bot did different work, judged by the counts that both have."""
        names = self.totals.keys() & other.totals.keys()

        def of(work: Work, number: int) -> tuple[str, list[int | None]]:
            verdict, counts = work.puzzles.get(number, ("", {}))
            return verdict, [counts.get(name) for name in names]

        numbers = sorted(self.puzzles.keys() | other.puzzles.keys())
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


@dataclass
class Finding:
    """The answer to a question: the difference of the ends, and the commit that caused it, or the candidates."""

    question: Question
    whole: Difference
    commit: str | None = None
    effect: Difference | None = None
    candidates: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


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
        self._work_of = cache(self._work_of)  # type: ignore[method-assign]
        self._sources = cache(self._sources)  # type: ignore[method-assign]

    def answer(self, question: Question) -> Finding:
        """Return which commit is the first whose bot differs from the good one's, if the bad one's does."""
        plan, begin = self.plan, self._stage
        try:
            finding = Finding(question, self._difference(question, plan.good, plan.bad, plan.tolerance))
        except SkipError as problem:
            ends = " and ".join(one[:NAME_LENGTH] for one in (plan.good, plan.bad))
            raise UnusableError(f"cannot compare {ends}: {problem}") from None
        self._stage += 1
        if finding.whole.differ:
            self._bisect(finding)
        self._stage = begin + 2 + len(self.commits).bit_length()
        return finding

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
        known = {self._sources(plan.good): "good", self._sources(plan.bad): "bad"}
        # A slow commit is nearer to the bad end than to the good one.
        middle = finding.whole.ratio.estimate**0.5 - 1 if finding.whole.ratio else 0.0

        def state(commit: str, next_ones: list[str]) -> str:
            sources = self._sources(commit)
            if sources not in known:
                try:
                    self._build(commit, *next_ones[: len(usable_cores()) - 1])  # one core builds one bot
                    differ = self._difference(finding.question, plan.good, commit, middle).differ
                    known[sources] = {True: "bad", False: "good", None: "skip"}[differ]
                    if differ is None:
                        finding.skipped[commit] = "the duel is undecided"
                except SkipError as problem:
                    known[sources], finding.skipped[commit] = "skip", str(problem)
                self._stage += 1
            return known[sources]

        folder = self._trees / "bisect"
        finding.candidates = first_bad(plan.repository, folder, plan.good, plan.bad, self.paths, state)
        places = {commit: place for place, commit in enumerate(self.commits)}
        finding.candidates.sort(key=lambda one: places.get(one, 0), reverse=True)
        if len(finding.candidates) == 1:
            [finding.commit] = finding.candidates
            parent = git(plan.repository, "rev-parse", f"{finding.commit}^").decode().strip()
            with contextlib.suppress(SkipError):
                finding.effect = self._difference(finding.question, parent, finding.commit, plan.tolerance)

    def _difference(self, question: Question, before: str, after: str, tolerance: float) -> Difference:
        """Return how two commits' bots differ; SkipError if one cannot be run."""
        if self._sources(before) == self._sources(after):
            return Difference(before, after, False)
        self._build(before, after)
        for commit in (before, after):
            if why := self._ready[self._sources(commit)]:
                raise SkipError(why)
        old, new = self._work_of(before), self._work_of(after)
        changed = old.changed(new)
        if question is Question.COUNTS:
            return Difference(before, after, bool(changed), None, old.totals, new.totals, changed)
        # A different search is slower on one part of a set and faster on another: parts would not be pairs.
        ratio = self._duel(before, after, tolerance, by_parts=old.has_counts and new.has_counts and not changed)
        outcome = decide(ratio, tolerance)
        differ = None if outcome is Outcome.CANNOT_TELL else outcome is Outcome.WORSE
        return Difference(before, after, differ, ratio)

    # --- the bots ---

    def _sources(self, commit: str) -> str:
        """Return the digests of the files that decide how a commit's bot works."""
        return git(self.plan.repository, "ls-tree", commit, "--", *self.paths).decode()

    def _tree(self, commit: str) -> Path:
        return self._trees / commit[:NAME_LENGTH]

    def _bot(self, commit: str) -> list[str]:
        tree = str(self._tree(commit))
        if self.plan.bot:
            return [*IN_TREE, tree, *self.plan.bot]
        return ["env", f"PYTHONPATH={tree}", f"NONOBOT_CACHE_DIR={kernel_cache()}", *self.plan.own]

    def _build(self, *commits: str) -> None:
        """Build the bots of these commits that are not built yet, in parallel."""
        plan, missing = self.plan, list[str]()
        for commit in commits:
            if self._tree(commit).exists():
                continue
            try:
                extract(commit, plan.repository, self._tree(commit), () if plan.bot else PACKAGES)
            except UnusableError as problem:  # an older commit without one of the packages
                self._ready[self._sources(commit)] = str(problem)
                continue
            if plan.bot or self._sources(commit) not in map(self._sources, missing):
                missing.append(commit)
        build = ["sh", "-c", plan.build or ":"]
        in_tree = {one: [*IN_TREE, str(self._tree(one)), *build] for one in missing}
        commands = [in_tree[one] if plan.bot else [*self._bot(one), "--warm-up"] for one in missing]
        note = f"building {' and '.join(one[:NAME_LENGTH] for one in missing)}"
        for commit, (status, _, errors) in zip(missing, self._finished(*commands, note=note), strict=True):
            self._ready[self._sources(commit)] = (last_line(errors) or f"status {status}") if status else None

    def _work_of(self, commit: str) -> Work:
        options = ["--json", "--quiet", *self.plan.options, "--", *self._bot(commit)]
        profile = self._judged("profile", self.plan.set, *options, note=f"counts of {commit[:NAME_LENGTH]}")
        work = Work({one["number"]: (one["verdict"], one["counts"]) for one in profile["puzzles"]})
        if not work.totals.get(Verdict.RIGHT):
            raise SkipError(f"no puzzle is right ({profile['end']['reason']})")
        return work

    def _duel(self, before: str, after: str, tolerance: float, by_parts: bool) -> Ratio:
        """Return the ratio of the times of two bots, with its interval; a round is the set, or a part of it."""
        rounds = MOST_ROUNDS if by_parts else self.plan.rounds
        with tempfile.TemporaryDirectory(prefix="nonojudge-") as folder:
            words = ["--json", "--quiet", "--set", self.plan.set, *self.plan.options, "--results", folder]
            words += [*["--until"] * by_parts, "--rounds", str(rounds), "--tolerance", str(tolerance)]
            bots = [shlex.join(self._bot(commit)) for commit in (before, after)]
            note = f"{before[:NAME_LENGTH]} against {after[:NAME_LENGTH]}"
            played = Path(folder, "after")

            def done() -> float:
                return len(list(played.glob("*.json"))) / (rounds + 1)

            duel = self._judged("duel", *words, *bots, note=note, done=done)
        if not duel["cpu"]:
            raise SkipError("too few puzzles are right in both versions")
        ratio = duel["cpu"]["ratio"]
        return Ratio(**{name: float("inf") if value is None else value for name, value in ratio.items()})

    def _judged(self, *words: str, note: str, done: Callable[[], float] = lambda: 0.0) -> Any:
        """Return the JSON that a command of the judge prints; SkipError if it cannot be carried out."""
        [(status, out, errors)] = self._finished([*OWN_JUDGE, *words], note=note, done=done)
        if status not in (0, 1, 3):
            raise SkipError(last_line(errors).removeprefix("nonojudge: ") or f"status {status}")
        return json.loads(out)

    def _finished(
        self, *commands: Sequence[str], note: str, done: Callable[[], float] = lambda: 0.0
    ) -> list[tuple[int, bytes, bytes]]:
        """Return status, stdout and stderr of simultaneous programs; KeyboardInterrupt if the user stops them."""
        with contextlib.ExitStack() as files:
            pipes = [[files.enter_context(tempfile.TemporaryFile()) for _ in range(2)] for _ in commands]
            start = partial(subprocess.Popen, stdin=subprocess.DEVNULL, start_new_session=True)
            running = [
                start(command, stdout=out, stderr=errors)
                for command, (out, errors) in zip(commands, pipes, strict=True)
            ]
            while any(one.poll() is None for one in running):
                self._show((self._stage + done()) / self._stages, note)
                for one in running:
                    if self._interrupts.told and one.returncode is None:
                        os.killpg(one.pid, signal.SIGTERM)
                time.sleep(0.05)
            if self._interrupts.told:
                raise KeyboardInterrupt
            for file in chain.from_iterable(pipes):
                file.seek(0)
            written = ([file.read() for file in pair] for pair in pipes)
            return [(one.returncode, out, errors) for one, (out, errors) in zip(running, written, strict=True)]


def first_bad(
    repository: Path, folder: Path, good: str, bad: str, paths: Sequence[str], state: State
) -> list[str]:
    """Return the first bad commit that changed `paths`, or those that `git bisect` cannot distinguish.

    Git works in `folder`. `state` gets a commit and those that may come next; it returns good, bad or skip.
    """
    git(repository, "worktree", "add", "-f", "--no-checkout", "--detach", str(folder), bad)
    try:
        git(folder, "bisect", "start", "--no-checkout", bad, good, "--", *paths)
        while True:
            # Not from git's words, which change: the last commit that is left is the one known to be bad.
            left = ("rev-list", "refs/bisect/bad", "--not", "--glob=refs/bisect/good-*", "--", *paths)
            found = git(folder, *left).split()
            if found == [git(folder, "rev-parse", "refs/bisect/bad").strip()]:
                break
            at = git(folder, "rev-parse", "BISECT_HEAD").decode().strip()
            if_good, if_bad = (
                git(folder, "rev-list", *ends, "--", *paths).decode().split()
                for ends in (("refs/bisect/bad", "--not", at), (at, "--not", "--glob=refs/bisect/good-*"))
            )
            try:
                git(folder, "bisect", state(at, [one[len(one) // 2] for one in (if_good, if_bad) if one[1:]]))
            except subprocess.CalledProcessError as error:
                found = re.findall(rb"^[0-9a-f]{40,64}$", error.stdout, re.MULTILINE)
                if not found:
                    raise
                break
        return [one.decode() for one in found]
    finally:
        git(repository, "worktree", "remove", "--force", str(folder))
