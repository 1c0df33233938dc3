"""How often a duel is right: the same code against itself, and against really slowed code.

    python -m tools.compare_trials FOLDER                    an idle machine: 30 blocks of two duels, 50 minutes
    python -m tools.compare_trials FOLDER --busy 2           with two loops alongside: 30 blocks of one duel
    python -m tools.compare_trials FOLDER --apart            runs one after another, not at the same time
    python -m tools.compare_trials FOLDER --confidence 0.75  recordings of fewer rounds: of three, for example
    python -m tools.compare_trials FOLDER --until            duels that end as soon as they are decided: 20 minutes

A block is a duel of the same code and, on an idle machine, one with a copy that has a loop added to its line
kernel. Each duel is a trial, with all the rounds that were recorded. Blocks that FOLDER already contains are
evaluated, not recorded again, also those of earlier versions: a duel of five rounds needs a confidence of at most
0.93, one of three 0.75. With --until, recorded duels are evaluated as if they had ended at the first look that
decides. The first block then also has a duel of five rounds of the whole set, for its time.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np

from nonobot.harness import cli
from nonobot.harness.compare.compared_runs import read_version
from nonobot.harness.compare.comparison import Comparison, Limits, compare
from nonobot.harness.compare.statistics import Outcome, first_look
from nonobot.harness.results.result_files import read_result
from tests.helpers.patched import LINE_KERNEL, patched_house

SET = "boardgen:25x25x500:seed=7"
BLOCKS = 30
ROUNDS = 7
"""As `nonojudge duel` plays by default."""

FIVE_ROUNDS = "five-rounds"
SECONDS = "seconds.txt"

Played = Callable[[Mapping[str, Sequence[str]], int, Path], None]

A_TENTH_SLOWER = (
    "    cells = (m.one << length) - 1\n",
    "    cells = (m.one << length) - 1\n"
    "    spent = blocks + 1\n"
    "    for _ in range(120):\n"
    "        spent = (spent ^ (spent >> 7)) * 6364136223846793005\n"
    "    if spent == 0:  # never; a compiler does not know, and keeps the loop\n"
    "        return False, black, white\n",
)
"""A loop for each line, which makes the whole process take about a tenth longer."""


def main(arguments: Sequence[str]) -> int:
    """Record missing blocks and print the outcomes of all trials; return 1 if too many are wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare_trials", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the results are kept")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="loops that run alongside (default: 0)")
    parser.add_argument("--apart", action="store_true", help="runs one after another")
    parser.add_argument("--until", action="store_true", help="duels that end as soon as they are decided")
    default = Limits.confidence
    parser.add_argument("--confidence", type=float, default=default, metavar="SHARE", help="default: %(default)s")
    parsed = parser.parse_args(arguments)
    blocks = [parsed.folder / f"{number:02}" for number in range(1, BLOCKS + 1)]
    missing = [block for block in blocks if not block.exists()]
    if missing:
        rounds = 0 if parsed.until and not parsed.apart else ROUNDS
        record(missing, rounds, parsed.busy, apart if parsed.apart else side_by_side)
    return show(blocks, Limits(confidence=parsed.confidence, sequential=parsed.until))


def record(blocks: Sequence[Path], rounds: int, loops: int, played: Played) -> None:
    """Record blocks; `played` plays some commands for some rounds, into a folder."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as alongside:
        commands = {"same": command(Path(folder, "same"))}
        if not loops:
            commands["slow"] = command(Path(folder, "slow"), A_TENTH_SLOWER)
        for _ in range(loops):
            loop = alongside.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            alongside.callback(loop.kill)
        for block in blocks:
            part = block.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            played(commands, rounds, part)
            part.rename(block)
            print(f"block {block.name}", file=sys.stderr)


def command(folder: Path, *changes: tuple[str, str]) -> list[str]:
    """Make a copy of the bot and compile its kernels; return the command that runs it."""
    environment = patched_house(folder, LINE_KERNEL, *changes)
    variables = [f"{name}={environment[name]}" for name in ("PYTHONPATH", "NONOBOT_CACHE_DIR")]
    start = ["env", *variables, sys.executable, "-P", "-m", "nonobot"]
    subprocess.run([*start, "--warm-up"], check=True, stderr=subprocess.DEVNULL)
    return start


def side_by_side(commands: Mapping[str, Sequence[str]], rounds: int, block: Path) -> None:
    """Play the duels of a block; with 0 rounds until they are decided, and in the first block five rounds, too."""
    options = ("--rounds", str(rounds)) if rounds else ("--until",)
    for name, slower in commands.items():
        duel(block / name, commands["same"], slower, *options)
    if not rounds and block.stem == "01":
        duel(block / FIVE_ROUNDS, commands["same"], commands["same"], "--rounds", "5")


def duel(folder: Path, before: Sequence[str], after: Sequence[str], *options: str) -> None:
    """Play a duel; its results go into `folder`, and its time into a file."""
    began = time.monotonic()
    options = ("--quiet", "--set", SET, "--results", str(folder), *options)
    judge("duel", *options, shlex.join(before), shlex.join(after))
    (folder / SECONDS).write_text(f"{time.monotonic() - began:.2f}\n", encoding="utf-8")


def apart(commands: Mapping[str, Sequence[str]], rounds: int, block: Path) -> None:
    """Play the runs of a block one after another, alternating."""
    for name, slower in commands.items():
        for number in range(1, rounds + 1):
            for version, bot in (("before", commands["same"]), ("after", slower)):
                result = block / name / version / f"{number}.json"
                options = ["--quiet", "--set", SET, "--name", "nonobot", "--result", str(result)]
                judge("run", *options, "--", *bot)


def judge(*arguments: str) -> None:
    """Carry out a command of the judge, whatever it finds."""
    with contextlib.redirect_stdout(io.StringIO()):
        status = cli.run(arguments)
    assert status in (0, 1, 3), f"the command ended with {status}"


def show(blocks: Sequence[Path], limits: Limits) -> int:
    """Print the outcomes of all trials and the spread of the runs; return the exit status."""
    duels: dict[str, list[tuple[Comparison, float | None]]] = {}
    for block in blocks:
        for folder in (block / "same", block / "slow"):
            if folder.exists():
                comparison, seconds = compared(folder, limits), folder / SECONDS
                rounds = "until decided" if limits.sequential else f"{comparison.deciding.pairs} pairs"
                took = float(seconds.read_text()) if seconds.exists() else None
                duels.setdefault(f"{folder.name} code, {rounds}", []).append((comparison, took))
    alarms = missed = 0
    for trial, played in duels.items():
        counted = Counter(result.outcome for result, _ in played)
        print(f"{trial}: {', '.join(f'{number} {outcome}' for outcome, number in counted.most_common())}")
        decided = [result.deciding for result, _ in played]
        lowest = min(run.ratio.low for run in decided)
        change = geometric_mean(run.ratio.estimate for run in decided) - 1
        print(f"  takes {change:+.1%}; lowest end of an interval {lowest - 1:+.1%}")
        if limits.sequential:
            pairs = [run.pairs for run in decided]
            print(f"  pairs: median {median(pairs):g}, {min(pairs)} to {max(pairs)}")
        if times := [took for _, took in played if took is not None]:
            print(f"  median {median(times):.1f} s, {min(times):.1f} s to {max(times):.1f} s")
        if trial.startswith("same"):
            alarms += counted[Outcome.WORSE] + counted[Outcome.FASTER]
        else:
            missed += counted.total() - counted[Outcome.WORSE]
    for place in (block / FIVE_ROUNDS / SECONDS for block in blocks):
        if place.exists():
            print(f"five rounds: {place.read_text().strip()} s")
    of_runs, of_pairs = spreads(blocks)
    more = "" if limits.sequential else f"runs of a block spread by {of_runs:.2%}, "
    print(f"CPU time of the same code: {more}pairs differ by {of_pairs:.2%}")
    return int(alarms > len(blocks) // 60 or missed > len(blocks) // 15)


def compared(folder: Path, limits: Limits) -> Comparison:
    """Return the comparison of a duel's rounds: all of them, or those up to the first look that decides."""
    numbers = sorted(int(file.stem) for file in (folder / "before").glob("*.json"))
    look = first_look(limits.confidence) if limits.sequential else len(numbers)
    for rounds in range(look, len(numbers) + 1, look):
        files = [[folder / label / f"{run}.json" for run in numbers[:rounds]] for label in ("before", "after")]
        before, after = read_version("before", files[0]), read_version("after", files[1])
        comparison = compare(before, after, limits)
        if comparison.outcome is not Outcome.CANNOT_TELL:
            break
    return comparison


def spreads(blocks: Sequence[Path]) -> tuple[float, float]:
    """Return how far the CPU times of the same code spread: runs of a block, and runs of a pair."""
    variances, squares = [], []
    for block in blocks:
        before, after = (sorted((block / "same" / label).glob("*.json")) for label in ("before", "after"))
        logs = np.log([[read_result(file).usage.cpu_seconds for file in files] for files in (before, after)])
        variances.append(logs.var(ddof=1))
        squares += list((logs[1] - logs[0]) ** 2)
    return float(np.sqrt(np.mean(variances))), float(np.sqrt(np.mean(squares)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
