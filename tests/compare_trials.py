"""How often a duel is right: the same code against itself, and against really slowed code.

    python -m tests.compare_trials FOLDER              an idle machine: 30 blocks of two duels, half an hour
    python -m tests.compare_trials FOLDER --busy 2     with two loops beside it: 30 blocks of one duel
    python -m tests.compare_trials FOLDER --apart      runs one after another, and not side by side

A block is a duel of the same code in three rounds and, on an idle machine, one of five rounds with a copy that has
a loop added to its line kernel. From each block come one trial with one run a side, one with three and, with the
slowed copy, one with five. What FOLDER holds already is not recorded again.
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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from nonobot.harness import cli
from nonobot.harness.ranking.compared_runs import read_side
from nonobot.harness.ranking.comparison import Comparison, Limits, Outcome, compare
from nonobot.harness.results.result_files import read_result
from tests.patched import LINE_KERNEL, patched_house

SET = "boardgen:25x25x500:seed=7"
BLOCKS = 30
SAME, SLOWED = 3, 5
"""Runs a side."""

Played = Callable[[Mapping[str, Sequence[str]], str, Path], None]

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
    """Record what is missing and say what came of the trials; return 1 if they are not what is promised."""
    parser = argparse.ArgumentParser(prog="python -m tests.compare_trials", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the results are kept")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="so many loops run beside (default: 0)")
    parser.add_argument("--apart", action="store_true", help="runs one after another")
    parser.add_argument("--set", default=SET, metavar="SET", help="default: %(default)s")
    parser.add_argument("--blocks", type=int, default=BLOCKS, metavar="N", help="default: %(default)s")
    parsed = parser.parse_args(arguments)
    blocks = [parsed.folder / f"{number:02}" for number in range(1, parsed.blocks + 1)]
    record(blocks, parsed.set, parsed.busy, apart if parsed.apart else side_by_side)
    return tell(blocks)


def record(blocks: Sequence[Path], puzzle_set: str, loops: int, played: Played) -> None:
    """Record the blocks that are not there; `played` plays one of some commands on a set, into a folder."""
    missing = [block for block in blocks if not block.exists()]
    if not missing:
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as beside:
        commands = {"same": command(Path(folder, "same"))}
        if not loops:
            commands["slow"] = command(Path(folder, "slow"), A_TENTH_SLOWER)
        for _ in range(loops):
            loop = beside.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            beside.callback(loop.kill)
        for block in missing:
            part = block.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            played(commands, puzzle_set, part)
            part.rename(block)
            print(f"block {block.name}", file=sys.stderr)


def command(folder: Path, *changes: tuple[str, str]) -> list[str]:
    """Make a copy of the bot and compile its kernels; return the command that runs it."""
    environment = patched_house(folder, LINE_KERNEL, *changes)
    words = [f"{name}={environment[name]}" for name in ("PYTHONPATH", "NONOBOT_CACHE_DIR")]
    found = ["env", *words, sys.executable, "-P", "-m", "nonobot"]
    subprocess.run([*found, "--warm-up"], check=True, stderr=subprocess.DEVNULL)
    return found


def side_by_side(commands: Mapping[str, Sequence[str]], puzzle_set: str, block: Path) -> None:
    """Play the duels of a block."""
    for name, rounds in (("same", SAME), ("slow", SLOWED)):
        if name in commands:
            bots = [shlex.join(commands[one]) for one in ("same", name)]
            judge(
                *("duel", "--quiet", "--set", puzzle_set, "--rounds", str(rounds), "--results", str(block / name)),
                *bots,
            )


def apart(commands: Mapping[str, Sequence[str]], puzzle_set: str, block: Path) -> None:
    """Play the runs of a block one after another, by turns."""
    for name, rounds in (("same", SAME), ("slow", SLOWED)):
        for number in range(1, rounds + 1 if name in commands else 1):
            for side, bot in (("before", "same"), ("after", name)):
                result = block / name / side / f"{number}.json"
                options = ["--quiet", "--set", puzzle_set, "--name", "nonobot", "--result", str(result)]
                judge("run", *options, "--", *commands[bot])


def judge(*arguments: str) -> None:
    """Carry out a command of the judge, whatever it finds."""
    with contextlib.redirect_stdout(io.StringIO()):
        status = cli.run(arguments)
    assert status in (0, 1, 3), f"the command ended with {status}"


def trials(block: Path) -> Iterator[tuple[str, Comparison]]:
    """Yield the comparisons of a block, and what each shows."""
    sides = [block / "same" / side for side in ("before", "after")]
    yield "same code, 1 run a side", compared(*(side / "1.json" for side in sides))
    yield "same code, 3 runs a side", compared(*sides)
    if (block / "slow").exists():
        sides = [block / "slow" / side.name for side in sides]
        yield "slowed code, 1 run a side", compared(*(side / "1.json" for side in sides))
        yield "slowed code, 5 runs a side", compared(*sides)


def compared(before: Path, after: Path) -> Comparison:
    """Compare two sides with the defaults of `nonojudge compare`."""
    return compare(read_side("before", [before]), read_side("after", [after]), Limits())


def tell(blocks: Sequence[Path]) -> int:
    """Print the outcomes of all trials and what moved; return the exit status."""
    outcomes: dict[str, Counter[Outcome]] = {}
    slower = []
    for block in blocks:
        for name, found in trials(block):
            outcomes.setdefault(name, Counter())[found.outcome] += 1
            if "5 runs" in name and found.deciding:
                slower.append(found.deciding.ratio.estimate)
    for name, counted in outcomes.items():
        print(f"{name}: {', '.join(f'{number} {outcome}' for outcome, number in counted.most_common())}")
    logs = np.log(
        [
            [
                [
                    read_result(block / "same" / side / f"{number}.json").usage.cpu_seconds
                    for side in ("before", "after")
                ]
                for number in range(1, SAME + 1)
            ]
            for block in blocks
        ]
    )
    runs, pairs = np.sqrt(logs.var(axis=(1, 2), ddof=1).mean()), np.sqrt((np.diff(logs, axis=2) ** 2).mean())
    print(f"CPU time of the same code: runs of a block spread by {runs:.2%}, pairs differ by {pairs:.2%}")
    if slower:
        print(f"the slowed code takes {np.exp(np.mean(np.log(slower))) - 1:.1%} longer")
    most = len(blocks) // 30
    false = [
        counted[Outcome.WORSE] + counted[Outcome.FASTER]
        for name, counted in outcomes.items()
        if name.startswith("same")
    ]
    missed = [len(blocks) - counted[Outcome.WORSE] for name, counted in outcomes.items() if "5 runs" in name]
    return int(max(false) > most or any(one > 2 * most for one in missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
