"""Makes benchmarks ready: `python -m nonobot.harness.bench.ready NAMES`, one JSON line for each.

Each is made, which compiles its kernels, run once, and its result checked. The line says why a benchmark cannot be
run; of another tree's bot that is no mishap: it lacks what the benchmark needs.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence

from nonobot.harness.bench.catalogue import BENCHMARKS, COLD_START, CheckError, make_job
from nonobot.harness.bench.jobs import process_start

__all__ = ["main"]


def main(names: Sequence[str]) -> int:
    """Make every benchmark ready, and say of each what came of it."""
    for name in names:
        with contextlib.redirect_stdout(sys.stderr):  # nothing but the lines goes to stdout
            problem = _problem(name)
        print(json.dumps({"name": name, "problem": problem}), flush=True)
    return 0


def _problem(name: str) -> str | None:
    try:
        if not BENCHMARKS[name].is_command:
            make_job(name).check()
        elif name != COLD_START:
            process_start.check(name)
    except CheckError as error:
        return f"its result is wrong: {error}"
    except Exception as error:  # whatever another revision's bot cannot do
        return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
