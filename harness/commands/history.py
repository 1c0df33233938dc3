"""`nonojudge history`: show the times and counts of a bot's results, revision by revision."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

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
    options.add_json(parser)


def carry_out(arguments: argparse.Namespace) -> int:
    output: Path | None = arguments.output
    if output:
        if output.suffix not in (".png", ".svg"):
            raise UnusableError(f"--output {output}: a plot ends in .png or .svg")
        require_libraries("a plot", "matplotlib")
        require_writable(output)
    results, problems = _read(arguments.results)
    say_left_out(problems)
    stated = [result for result in results if result.revision]
    if without := len(results) - len(stated):
        say(f"left out: {without} of {len(results)} results state no revision (docs/compare.md)")
    groups = _groups(stated)
    if not groups:
        remedy = "the bot has to be in a git clone; nonobot, installed in place: pip install -e '.[judge]'"
        raise UnusableError(f"no result that states a revision: {remedy}")
    if output:
        write_output(output, drawing_of_history(groups, output.suffix.removeprefix(".")))
    if arguments.json:
        histories = [{"bot": bot, "set": name, "points": points} for (bot, name), points in groups.items()]
        print(json_document("history", histories=histories), end="")
    else:
        runs = [(short(run.revision or ""), run) for run in stated if isinstance(run, RunResult)]
        print(_as_text(groups, differences(runs, MACHINE_AND_CONFIGURATION), on_terminal()), end="")
    return 1 if problems else 0


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


def _groups(results: Sequence[RunResult | Profile]) -> dict[tuple[str, str], list[Point]]:
    """Return the points of each bot and set, in the order of their revisions."""
    by_group: dict[tuple[str, str, str], dict[str, list[RunResult | Profile]]] = {}
    for result in sorted(results, key=lambda result: result.started_at):
        bot = result.bot if isinstance(result, RunResult) else name_of(result.command)
        revisions = by_group.setdefault((bot, result.set.name, result.set.sha256), {})
        revisions.setdefault(result.revision or "", []).append(result)
    known = dict.fromkeys((result.revision or "").removesuffix("-dirty") for result in results)
    places: dict[str, int] = {}
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        listed = git_in_own_clone("rev-list", "--topo-order", "--reverse", "--ignore-missing", *known, "--")
        places = {name: place for place, name in enumerate(listed.decode().split())}
    groups = {}
    for (bot, name, _), revisions in sorted(by_group.items()):
        points = [_point(revision, runs) for revision, runs in revisions.items()]
        if all(point.revision.removesuffix("-dirty") in places for point in points):
            points.sort(key=lambda point: (places[point.revision.removesuffix("-dirty")], point.revision))
        groups[bot, name] = points
    return groups


def _point(revision: str, results: Sequence[RunResult | Profile]) -> Point:
    runs = [result for result in results if isinstance(result, RunResult)]
    profiles = [result for result in results if isinstance(result, Profile)]
    alone = [run for run in runs if not run.configuration.shared_core]
    totals = [profile.totals for profile in profiles]
    names = dict.fromkeys(name for counts in totals for name in counts)
    right = [result.score.right if isinstance(result, RunResult) else result.right for result in results]
    return Point(
        revision,
        results[0].started_at,
        median(right),
        median(result.usage.wall_seconds for result in alone or profiles) if alone or profiles else None,
        [result.usage.cpu_seconds for result in runs or profiles],
        {name: median(counts.get(name, 0) for counts in totals) for name in names},
    )


def _as_text(groups: dict[tuple[str, str], list[Point]], doubts: Sequence[str], terminal: bool) -> str:
    blocks: list[list[Any]] = []
    for (bot, name), points in groups.items():
        counts = list(dict.fromkeys(count for point in points for count in point.counts))
        headers = ("revision", "first run", "runs", "right", "CPU time", "wall time")
        table = new_table((*headers, *(printable(count.replace("_", " ")) for count in counts)), left=(0, 1))
        for point in points:
            wall = NOTHING if point.wall_seconds is None else duration(point.wall_seconds)
            of_counts = [f"{point.counts[count]:,.0f}" if count in point.counts else NOTHING for count in counts]
            times = (duration(median(point.cpu_seconds)), wall)
            figures = (str(len(point.cpu_seconds)), f"{point.right:,.0f}", *times, *of_counts)
            table.add_row(short(point.revision), point.first_run_at[:10], *figures)
        blocks.append([styled(f"{bot} on {name}", "bold"), table])
    return drawn(spaced(*blocks, [styled(line, "yellow") for line in doubts]), terminal)
