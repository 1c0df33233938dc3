"""`nonojudge bisect`: find the commit that changed a bot's work or made it slower."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nonobot.arguments import Parser, seconds, whole_number
from nonobot.harness import EXIT_CANNOT_TELL, UnusableError, options
from nonobot.harness.bench.bisection import LIMIT_SECONDS, Bisection, Difference, Finding, Plan, Question, Work
from nonobot.harness.bench.trees import NAME_LENGTH, commit_of, shallow_hint, top_of, workshop
from nonobot.harness.commands.duel import DEFAULT_SET, ROUNDS
from nonobot.harness.compare.comparison import Limits
from nonobot.harness.compare.statistics import interval_in_words, needed_pairs, ratio_in_words
from nonobot.harness.play.run_state import OnVerdict
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.machine import can_pin
from nonobot.harness.process.nonobot_command import HOME, own_bot
from nonobot.harness.process.revisions import git
from nonobot.harness.profiling.profile_data import profile_of
from nonobot.harness.progress import Progress
from nonobot.harness.results.conditions import Configuration
from nonobot.harness.results.result_files import json_document
from nonobot.harness.results.run_result import Verdict
from nonobot.harness.results.terms import TERMS
from nonobot.harness.text import first_of
from nonobot.harness.user_files import loaded
from nonobot.protocol.clues import count as in_number
from nonobot.system import shortened, usable_cores
from nonobot.tournament_data import PuzzleSet

MOST_PUZZLES = 10  # shown of those on which a bot differs from itself

EXAMPLES = f"""\
examples:
  nonojudge bisect HEAD~12 HEAD                                    nonobot on {DEFAULT_SET}
  nonojudge bisect v1.0 main --set taai2011 --by time              only the slowdown
  nonojudge bisect v1.0 main --build 'g++ -O2 -o mybot mybot.cpp' -- ./mybot    the bot of the current repository

bisect first compares the two commits: the counts of `--stats` and the verdicts (exact), then the time, in a duel.
If one of them differs, bisect halves the commits between them until it finds the first such commit, on copies of
the commits. It skips a commit that cannot be built, whose duel is undecided, or whose work is that of neither end.
It compares a side branch with the commit where the branch began. It names a commit only if that differs from its
parents as the ends differ. By counts, it builds these commits again and runs their bots again, and names none if a
bot differs from itself from run to run (docs/compare.md).

By counts, bisect runs several bots at once, one on each core (--core N: one after the other). A duel runs alone.

CMD and the build run in the copy, in the same sub folder as your working folder is in its clone. A copy has the
files of a checkout, but no submodules, and git runs no filters for it, such as git-lfs.

bisect builds and warms up the code of the revisions without a sandbox, and runs git in their clone, so use it only
with code that you trust; --contain applies to the runs.

Exit status: 0 found a commit for each difference, 2 unusable arguments, or a bot that does not start,
3 no difference, or cannot distinguish the commits, 130 interrupted.
"""


def add_to(parser: Parser) -> None:
    parser.usage = "nonojudge bisect [options] GOOD BAD [-- CMD ARGS...]"
    parser.add_argument("good", metavar="GOOD", help="revision before the change")
    parser.add_argument("bad", metavar="BAD", help="revision after the change")
    options.add_set(parser, DEFAULT_SET)
    parser.add_argument("--by", choices=[*Question], metavar="WHAT", help="counts or time (default: both)")
    about = "shell command that builds the bot given after --, in a copy of its commit"
    parser.add_argument("--build", metavar="CMD", help=about)
    about = "time for a build in seconds; a commit that takes longer cannot be built (default: %(default)g)"
    parser.add_argument("--build-limit", type=seconds, default=LIMIT_SECONDS, metavar="S", help=about)
    about = "time for a run of a bot in seconds; what it answers until then counts (default: %(default)g)"
    options.add_terms(parser, "wall_limit_seconds", default=LIMIT_SECONDS, help=about)
    rounds = whole_number(needed_pairs(0.95), 999, "a number of rounds")
    about = "pairs of a duel on the whole set, if counts differ or are unknown (default: %(default)s)"
    parser.add_argument("--rounds", type=rounds, default=ROUNDS, metavar="N", help=about)
    options.add_tolerance(parser, Limits.tolerance)
    options.add_terms(parser, "core", "contain", "show", "environment")
    options.add_flags(parser, "quiet", "json")


def carry_out(arguments: argparse.Namespace) -> int:
    plan = _plan(arguments)
    questions = [Question(arguments.by)] if arguments.by else list(Question)
    with (
        Interrupts() as interrupts,
        workshop() as trees,
        Progress(None if arguments.quiet else 1.0) as progress,
        Bisection(plan, trees, interrupts, len(questions), progress.show) as bisection,
    ):
        bisection.make_ready()
        findings = [bisection.answer(question) for question in questions]
    count = len(bisection.commits)
    print(_as_json(plan, count, findings) if arguments.json else _as_text(plan, count, findings), end="")
    found = [finding.commit for finding in findings if finding.whole.differ is not False]
    return 0 if found and all(found) else EXIT_CANNOT_TELL


def _plan(arguments: argparse.Namespace) -> Plan:
    bot = arguments.bot_command
    if arguments.build and not bot:
        raise UnusableError("--build only applies to a bot given after --; nonobot needs no build command")
    repository = (top_of(Path.cwd()) or Path.cwd()) if bot else HOME
    good, bad = _ends(arguments.good, arguments.bad, repository)
    puzzle_set = loaded(arguments.set, arguments.size)
    given = vars(arguments)
    return Plan(
        repository,
        inside=str(Path.cwd().resolve().relative_to(repository)) if bot else ".",
        good=good,
        bad=bad,
        run=_work,
        puzzle_set=puzzle_set,
        configuration=options.configuration_of(given, None),
        show=[path.absolute() for path in given.get("show", [])],
        set=arguments.set,
        options=_given_options(arguments),
        own=own_bot(puzzle_set),
        bot=bot,
        build=arguments.build,
        rounds=arguments.rounds,
        tolerance=arguments.tolerance,
        cores=_cores(arguments),
        build_seconds=arguments.build_limit,
    )


def _ends(first: str, last: str, repository: Path) -> tuple[str, str]:
    """Return the good and the bad commit; UnusableError if there is nothing to bisect between them."""
    good, bad = (commit_of(revision, repository) for revision in (first, last))
    if good == bad:
        raise UnusableError(f"{first} and {last} are the same commit: no commits to bisect")
    if git(repository, "rev-list", "-1", f"{bad}..{good}"):
        swapped = not git(repository, "rev-list", "-1", f"{good}..{bad}")
        hint = f"; name {last} first" if swapped else shallow_hint(repository)
        raise UnusableError(f"{first} is not an ancestor of {last}: no commits to bisect{hint}")
    return good, bad


def _work(
    puzzle_set: PuzzleSet,
    command: Sequence[str],
    configuration: Configuration,
    show: Sequence[Path],
    on_verdict: OnVerdict,
) -> Work:
    """Run a bot and return its work; UnusableError if it cannot be run."""
    profile = profile_of(puzzle_set, command, configuration, on_verdict, show)
    puzzles = {puzzle.number: (puzzle.verdict.value, puzzle.counts) for puzzle in profile.puzzles}
    return Work(puzzles, profile.end.reason.value, profile.last_line or "")


def _cores(arguments: argparse.Namespace) -> list[int | None]:
    """Return a core for each of the runs for counts that may take place at the same time."""
    match vars(arguments).get("core", "each" if can_pin() else None):
        case "each":
            return [*usable_cores()]
        case None:
            return [None] * len(usable_cores())
        case core:
            return [core]


def _given_options(arguments: argparse.Namespace) -> list[str]:
    """Return the options of size, core, sandbox and environment as they were given."""
    given, line = vars(arguments), list[str]()
    if size := given["size"]:
        line += ["--size", size if isinstance(size, str) else f"{size[0]}x{size[1]}"]
    names = ("core", "contain", "show", "environment")
    return [*line, *(word for name in names if name in given for word in TERMS[name].given(given[name]))]


def _as_text(plan: Plan, count: int, findings: Sequence[Finding]) -> str:
    ends = [f"good: {_named(plan, plan.good)}", f"bad:  {_named(plan, plan.bad)}"]
    lines = [*ends, f"{in_number(count, 'commit')} to judge"]
    for finding in findings:
        lines += ["", *_outcome(finding, plan, count)]
        lines += [f"  good to bad: {line}" for line in _in_words(finding.whole)]
        lines += [f"  skipped {commit[:NAME_LENGTH]}: {shortened(why)}" for commit, why in finding.skipped.items()]
    return "".join(f"{line}\n" for line in lines)


def _named(plan: Plan, commit: str) -> str:
    shown = git(plan.repository, "log", "-1", "--format=%h %s (%an, %as)", commit)
    return shortened(shown.decode(errors="replace").strip())


def _outcome(finding: Finding, plan: Plan, count: int) -> Iterator[str]:
    question = finding.question
    if finding.commit:
        yield f"{question}: changed by {_named(plan, finding.commit)}"
        yield from (f"  this commit: {line}" for line in _in_words(finding.effect))
    elif finding.unsteady:
        yield f"{question}: cannot tell, a bot differs from itself from run to run"
        if finding.candidates:
            yield f"  changed by one of the {in_number(count, 'commit')} after the good one"
        for commit, puzzles in finding.unsteady.items():
            differ = first_of([f"${number}" for number in puzzles], MOST_PUZZLES)
            yield f"  {commit[:NAME_LENGTH]} twice: other work on {differ}"
    elif finding.whole.differ:
        several = f"one of these {len(finding.candidates)} commits"
        among = several if finding.candidates[1:] else "this commit or one before it"
        yield f"{question}: changed by {among}, cannot tell by which"
        yield from (f"  {_named(plan, commit)}" for commit in finding.candidates)
    else:
        yield f"{question}: {_no_difference(finding)}"


def _no_difference(finding: Finding) -> str:
    before, after = finding.whole.counts_before, finding.whole.counts_after
    if finding.whole.differ is None:
        return "cannot tell; more rounds may tell"
    if before and not before.keys() & after.keys() - {*Verdict}:
        return "the verdicts are the same; the bot states no counts to compare"
    return "not worse" if finding.question is Question.TIME else "the same"


def _in_words(difference: Difference | None) -> list[str]:
    """Return the difference between two commits' bots in a line or two."""
    if difference is None:
        return []
    if ratio := difference.ratio:
        return [f"{ratio_in_words(ratio.estimate)}, 95% interval {interval_in_words(ratio)}"]
    if not difference.differ:
        return []
    changed = [*_changed_counts(difference.counts_before, difference.counts_after)]
    ends = (difference.end_before, difference.end_after)
    changed += [f"end of the run {' -> '.join(map(str, ends))}"] if len({*ends}) > 1 else []
    return [f"other work on {in_number(len(difference.changed_puzzles), 'puzzle')}", *changed]


def _changed_counts(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, 0), after.get(name, 0)
        share = f" ({new / old - 1:+.1%})" if old and new else ""
        if old != new:
            yield f"{name.replace('_', ' ')} {old:,} -> {new:,}{share}"


def _as_json(plan: Plan, count: int, findings: Sequence[Finding]) -> str:
    commits = {"good": plan.good, "bad": plan.bad, "set": plan.set, "candidate_count": count}
    return json_document("bisect", **commits, findings={finding.question: finding for finding in findings})
