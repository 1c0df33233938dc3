"""Does `nonojudge bisect` find the commits, and how fast? On an idle machine: `python -m tools.bisect_trial`.

Each run makes a repository of twelve commits after the first: one slows the line kernel by about a tenth, one
changes the search, three touch the bot without an effect, and seven touch other files. Their order and the cache
of kernels are new for each run. The bars: the commit that changed counts within a minute, both within ten minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.helpers.benching import Clone
from tools.compare_trials import A_TENTH_SLOWER

BARS = {"counts": 60.0, "time": 600.0, "both": 600.0}
"""Most seconds for what `--by` asks for, or for both."""

SLOW, SEARCH = "slow", "search"
QUIET = ("bot/watch.py", "bot/cli.py", "protocol/scene.py", *["harness/text.py", "tournament_data/select.py"] * 3)
OTHER = "README.md"


def main(arguments: Sequence[str]) -> int:
    """Print what was found in each run, and the time; return 1 if a commit was missed or a bar was not kept."""
    parser = argparse.ArgumentParser(prog="python -m tools.bisect_trial", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="default: %(default)s")
    parser.add_argument("--by", choices=BARS, action="append", help="counts, time or both (default: each of them)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the orders (default: %(default)s)")
    parser.add_argument("options", nargs="*", metavar="OPTION", help="after --: for nonojudge bisect")
    parsed = parser.parse_args(arguments)
    failed = 0
    for number in range(parsed.seed, parsed.seed + parsed.runs):
        for by in parsed.by or BARS:
            with tempfile.TemporaryDirectory() as folder:
                failed += not tried(Path(folder), number, by, parsed.options)
    return int(failed > 0)


def tried(folder: Path, seed: int, by: str, options: Sequence[str]) -> bool:
    """Make a repository and bisect it; return whether the right commits were found in time."""
    clone = Clone(folder)
    commits = twelve_commits(clone, random.Random(seed))
    arguments = ["bisect", "HEAD~12", "HEAD", "--json", *options, *([] if by == "both" else ["--by", by])]
    begin = time.monotonic()
    done = clone.judge(*arguments)
    seconds = time.monotonic() - begin
    right = False
    if done.returncode in (0, 3):
        findings = json.loads(done.stdout)["findings"]
        wanted = {"counts": commits[SEARCH], "time": commits[SLOW]}
        found = {question: finding["commit"] for question, finding in findings.items()}
        right = all(commit == wanted[question] for question, commit in found.items())
        ratio = findings["time"]["effect"]["ratio"] if right and "time" in findings else {}
        note = f"right {ratio}" if right else f"WRONG: {wanted} are right, not {done.stdout}"
    else:
        note = f"FAILED: {done.stderr}"
    print(f"seed {seed}, {by}: {seconds:.0f} s of {BARS[by]:.0f} s; {note}", flush=True)
    return right and seconds <= BARS[by]


def twelve_commits(clone: Clone, order: random.Random) -> dict[str, str]:
    """Commit twelve times; return the commits that have an effect, by kind."""
    kinds = [SLOW, SEARCH, *QUIET, OTHER]
    order.shuffle(kinds)
    commits = {}
    for number, kind in enumerate(kinds):
        if kind == SLOW:
            clone.replace("bot/line.py", *A_TENTH_SLOWER)
        elif kind == SEARCH:
            clone.replace("bot/champion/search.py", "RECONSIDERED = 20 ", "RECONSIDERED = 15 ")
        else:
            with (clone.folder / kind).open("a") as file:
                file.write(f"# {number}\n")
        clone.commit(f"{number}: {kind}")
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone.folder, capture_output=True, text=True)
        commits[kind] = head.stdout.strip()
    return commits


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
