"""The process: how long from its start until it has answered one easy puzzle and ended."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from nonobot.harness.bench.job import require

__all__ = ["check", "command"]

QUESTION = Path(__file__).with_name("question.txt")
"""A board of 2x2."""

ANSWER = b"$1\n1\t0\n0\t0\n"


def command(cold: bool) -> list[str]:
    """Return the command of a warm or a cold start.

    A shell gives the bot its puzzle, since pyperf gives a command no input; that takes a millisecond.
    """
    bot = f"{shlex.quote(sys.executable)} -m nonobot --size 2x2 < {shlex.quote(str(QUESTION))}"
    if not cold:
        return ["/bin/sh", "-c", f"exec {bot}"]
    script = f'cache=$(mktemp -d) && NONOBOT_CACHE_DIR="$cache" {bot} 2> /dev/null; status=$?'
    return ["/bin/sh", "-c", f'{script}; rm -rf "$cache"; exit $status']


def check() -> None:
    """See that the answer is right; the kernels are compiled afterwards."""
    done = subprocess.run(command(cold=False), stdin=subprocess.DEVNULL, capture_output=True)
    words = done.stderr.decode(errors="replace").strip() or f"status {done.returncode}"
    require(done.stdout == ANSWER, f"the bot does not answer: {words}")
