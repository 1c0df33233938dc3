"""How often `nonojudge compare` is right: the same code against itself, and against really slowed code.

    python -m tests.compare_trials FOLDER              an idle machine: 30 blocks of 11 runs, eight minutes
    python -m tests.compare_trials FOLDER --busy 2     with two loops beside it: 30 blocks of 6 runs

A block is recorded in one go, by turns: the same code six times and, on an idle machine, a copy with a loop added
to the line kernel after each of the first five. From each block come one trial with one run a side, one with three
and, with the slowed copy, one with five. What FOLDER holds already is not recorded again.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from nonobot.harness import cli
from nonobot.harness.ranking.compared_runs import read_side
from nonobot.harness.ranking.comparison import Comparison, Limits, Outcome, compare
from nonobot.harness.results.result_files import read_result
from tests.patched import LINE_KERNEL, patched_house

SET = "boardgen:25x25x500:seed=7"
BLOCKS = 30
SAME, SLOWED = 6, 5

A_TENTH_SLOWER = (
    "    cells = (m.one << length) - 1\n",
    "    cells = (m.one << length) - 1\n"
    "    spent = blocks + 1\n"
    "    for _ in range(125):\n"
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
    parser.add_argument("--set", default=SET, metavar="SET", help="default: %(default)s")
    parser.add_argument("--blocks", type=int, default=BLOCKS, metavar="N", help="default: %(default)s")
    parsed = parser.parse_args(arguments)
    blocks = [parsed.folder / f"{number:02}" for number in range(1, parsed.blocks + 1)]
    record(blocks, parsed.set, parsed.busy)
    return tell(blocks)


def record(blocks: Sequence[Path], puzzle_set: str, loops: int) -> None:
    """Record the blocks that are not there."""
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
            part.mkdir(parents=True)
            for number in range(1, SAME + 1):
                play(commands["same"], puzzle_set, part / f"same-{number}.json")
                if "slow" in commands and number <= SLOWED:
                    play(commands["slow"], puzzle_set, part / f"slow-{number}.json")
            part.rename(block)
            print(f"block {block.name}", file=sys.stderr)


def command(folder: Path, *changes: tuple[str, str]) -> list[str]:
    """Make a copy of the bot and compile its kernels; return the command that runs it."""
    environment = patched_house(folder, LINE_KERNEL, *changes)
    words = [f"{name}={environment[name]}" for name in ("PYTHONPATH", "NONOBOT_CACHE_DIR")]
    found = ["env", *words, sys.executable, "-P", "-m", "nonobot"]
    subprocess.run([*found, "--warm-up"], check=True, stderr=subprocess.DEVNULL)
    return found


def play(bot: Sequence[str], puzzle_set: str, result: Path) -> None:
    """Run a bot as `nonojudge run` does."""
    with contextlib.redirect_stdout(io.StringIO()):
        options = ["--quiet", "--set", puzzle_set, "--name", "nonobot", "--result", str(result)]
        status = cli.run(["run", *options, "--", *bot])
    assert status == 0, f"the run ended with {status}"


def trials(block: Path) -> Iterator[tuple[str, Comparison]]:
    """Yield the comparisons of a block, and what each shows."""
    same, slow = (sorted(block.glob(f"{name}-*.json")) for name in ("same", "slow"))
    yield "same code, 1 run a side", compared(same[:1], same[1:2])
    yield "same code, 3 runs a side", compared(same[::2], same[1::2])
    if slow:
        yield "slowed code, 5 runs a side", compared(same[:SLOWED], slow)


def compared(before: Sequence[Path], after: Sequence[Path]) -> Comparison:
    """Compare two sides with the defaults of `nonojudge compare`."""
    return compare(read_side("before", before), read_side("after", after), Limits())


def tell(blocks: Sequence[Path]) -> int:
    """Print the outcomes of all trials and what moved; return the exit status."""
    outcomes: dict[str, Counter[Outcome]] = {}
    slower = []
    for block in blocks:
        for name, found in trials(block):
            outcomes.setdefault(name, Counter())[found.outcome] += 1
            if name.startswith("slowed") and found.deciding:
                slower.append(found.deciding.ratio.estimate)
    for name, counted in outcomes.items():
        print(f"{name}: {', '.join(f'{number} {outcome}' for outcome, number in counted.most_common())}")
    runs = [[read_result(block / f"same-{number}.json") for number in range(1, SAME + 1)] for block in blocks]
    for clock in ("cpu_seconds", "wall_seconds"):
        logs = np.log([[getattr(run.usage, clock) for run in block] for block in runs])
        within = np.sqrt(logs.var(axis=1, ddof=1).mean())
        worst = np.exp(np.abs(np.diff(logs, axis=1)).max())
        print(
            f"{clock}: spread {within:.3f} in a block, {logs.std():.3f} in all; neighbours up to {worst:.2f} times"
        )
    if slower:
        print(f"the slowed code takes {np.exp(np.mean(np.log(slower))) - 1:.1%} longer")
    most = len(blocks) // 30
    false = [
        counted[Outcome.WORSE] + counted[Outcome.FASTER]
        for name, counted in outcomes.items()
        if name.startswith("same")
    ]
    missed = [
        len(blocks) - counted[Outcome.WORSE] for name, counted in outcomes.items() if name.startswith("slowed")
    ]
    return int(max(false) > most or any(one > 2 * most for one in missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
