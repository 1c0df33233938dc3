"""`nonojudge history`: show the times and counts of a bot's results, revision by revision."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
from collections.abc import Iterable, Sequence
from itertools import chain, starmap
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from nonobot.arguments import Parser
from nonobot.harness import UnusableError, options, require_libraries
from nonobot.harness.process.bot_command import name_of
from nonobot.harness.process.revisions import git_in_own_clone
from nonobot.harness.profiling.profile_data import Profile, read_profile
from nonobot.harness.report.file_plots import Point, drawing_of_history, short
from nonobot.harness.results.comparability import MACHINE_AND_CONFIGURATION, differences
from nonobot.harness.results.result_files import OtherDocumentError, json_document, read_documents, read_result
from nonobot.harness.results.run_result import RunResult, VerifyResult
from nonobot.harness.text import (
    NOTHING,
    drawn,
    duration,
    new_table,
    on_terminal,
    say,
    say_left_out,
    spaced,
    styled,
)
from nonobot.harness.user_files import require_writable, write_output
from nonobot.system import printable

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLES = """\
examples:
  nonojudge history results/                 a table for each bot and set
  nonojudge history results/ -o history.png  also as a plot (or .svg)

history reads results of `nonojudge run` and profiles (`nonojudge profile -o FILE.json`) of bots in git clones.
Times are medians over the runs of a revision; counts come from profiles (docs/compare.md). Revisions of nonobot
have git's order, others that of their first runs.

Exit status: 0 all shown, 1 some files could not be read, 2 nothing to show or unusable arguments.
"""


def add_to(parser: Parser) -> None:
    options.add_results(parser)
    about = "plot file, .png or .svg; needs matplotlib"
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help=about)
    options.add_flags(parser, "json")


def carry_out(arguments: argparse.Namespace) -> int:
    if arguments.output:
        _require_plot(arguments.output)
    results, problems = _read(arguments.results)
    say_left_out(problems)
    stated = [result for result in results if result.revision]
    if without := len(results) - len(stated):
        say(f"left out: {without} of {len(results)} results state no revision (docs/compare.md)")
    if not stated:
        remedy = "the bot has to be in a git clone; nonobot, installed in place: pip install -e '.[judge]'"
        raise UnusableError(f"no result that states a revision: {remedy}")
    groups = _groups(stated)
    if arguments.output:
        write_output(arguments.output, drawing_of_history(groups, arguments.output.suffix.removeprefix(".")))
    print(_as_json(groups) if arguments.json else _as_text(groups, stated, on_terminal()), end="")
    return 1 if problems else 0


def _require_plot(output: Path) -> None:
    if output.suffix not in (".png", ".svg"):
        raise UnusableError(f"--output {output}: a plot ends in .png or .svg")
    require_libraries("a plot", "matplotlib")
    require_writable(output)


def _read(places: Sequence[Path]) -> tuple[list[RunResult | Profile], list[str]]:
    """Return the runs and profiles in files and folders, and a line on each file that is neither."""
    documents, problems = read_documents(places, (".json",), _read_file)
    return [document for document in documents.values() if not isinstance(document, VerifyResult)], problems


def _read_file(path: Path) -> RunResult | VerifyResult | Profile:
    try:
        return read_result(path)
    except OtherDocumentError as other:
        try:
            return read_profile(path)
        except OtherDocumentError:
            raise other from None


def _groups(results: Sequence[RunResult | Profile]) -> Groups:
    """Return the points of each bot and set, in the order of their revisions."""
    by_group: dict[tuple[str, str, str], dict[str, list[RunResult | Profile]]] = {}
    for result in sorted(results, key=lambda result: result.started_at):
        bot = result.bot if isinstance(result, RunResult) else name_of(result.command)
        revisions = by_group.setdefault((bot, result.set.name, result.set.sha256), {})
        revisions.setdefault(result.revision or "", []).append(result)
    places = _places_of_commits(dict.fromkeys(_commit(result.revision or "") for result in results))
    groups = {}
    for (bot, name, _), revisions in sorted(by_group.items()):
        points = list(starmap(_point, revisions.items()))
        if places.keys() >= set(map(_commit, revisions)):
            points.sort(key=lambda point: (places[_commit(point.revision)], point.revision))
        groups[bot, name] = points
    return groups


def _commit(revision: str) -> str:
    return revision.removesuffix("-dirty")


def _places_of_commits(known: Iterable[str]) -> dict[str, int]:
    """Return the places in git's order of the commits that this clone of nonobot has."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        listed = git_in_own_clone("rev-list", "--topo-order", "--reverse", "--ignore-missing", *known, "--")
        return {name: place for place, name in enumerate(listed.decode().split())}
    return {}


def _point(revision: str, results: Sequence[RunResult | Profile]) -> Point:
    runs = [result for result in results if isinstance(result, RunResult)]
    profiles = [result for result in results if isinstance(result, Profile)]
    alone = [run for run in runs if not run.configuration.shared_core]
    walls = [result.usage.wall_seconds for result in alone or profiles]
    return Point(
        revision,
        results[0].started_at,
        median(result.right for result in results),
        median(walls) if walls else None,
        [result.usage.cpu_seconds for result in runs or profiles],
        _median_counts([profile.totals for profile in profiles]),
    )


def _median_counts(totals: Sequence[dict[str, int]]) -> dict[str, float]:
    names = dict.fromkeys(chain(*totals))
    return {name: median(counts.get(name, 0) for counts in totals) for name in names}


Groups = dict[tuple[str, str], list[Point]]  # by bot and set


def _as_json(groups: Groups) -> str:
    histories = [{"bot": bot, "set": name, "points": points} for (bot, name), points in groups.items()]
    return json_document("history", histories=histories)


def _as_text(groups: Groups, results: Sequence[RunResult | Profile], terminal: bool) -> str:
    runs = [(short(run.revision or ""), run) for run in results if isinstance(run, RunResult)]
    doubts = differences(runs, MACHINE_AND_CONFIGURATION)
    tables = [(styled(f"{bot} on {name}", "bold"), _table(points)) for (bot, name), points in groups.items()]
    return drawn(spaced(*tables, [styled(line, "yellow") for line in doubts]), terminal)


def _table(points: Sequence[Point]) -> Table:
    counts = list(dict.fromkeys(count for point in points for count in point.counts))
    headers = ("revision", "first run", "runs", "right", "CPU time", "wall time")
    table = new_table((*headers, *(printable(count.replace("_", " ")) for count in counts)), left=(0, 1))
    for point in points:
        wall = NOTHING if point.wall_seconds is None else duration(point.wall_seconds)
        of_counts = [f"{point.counts[count]:,.0f}" if count in point.counts else NOTHING for count in counts]
        times = (duration(median(point.cpu_seconds)), wall)
        figures = (str(len(point.cpu_seconds)), f"{point.right:,.0f}", *times, *of_counts)
        table.add_row(short(point.revision), point.first_run_at[:10], *figures)
    return table
