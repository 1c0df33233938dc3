"""How long a bot's first byte takes, with and without a sandbox, on an idle machine: `python -m tools.first_byte`.

The bot is `cat`, which gets one byte. As in a run, time counts from the start of the process. The kinds alternate.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Sequence

from nonobot.arguments import whole_number
from nonobot.harness.process.bot_process import BotProcess, LastWords
from nonobot.harness.results.conditions import Configuration, Contain


def seconds_to_first_byte(contain: Contain) -> float:
    with BotProcess(["cat"], LastWords(), Configuration(contain=contain)) as bot:
        bot.send(b"x", last=True)
        while not bot.read(math.inf):
            pass
        return time.monotonic() - bot.started


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    number = whole_number(1, 9999, "a number of starts")
    parser.add_argument("--starts", type=number, default=40, help="starts of each kind (default: %(default)s)")
    given = parser.parse_args(arguments)
    kinds = {"in a sandbox": Contain.YES, "without": Contain.NO}
    times = {kind: list[float]() for kind in kinds}
    for start in range(given.starts + 1):
        for kind, contain in kinds.items():
            seconds = seconds_to_first_byte(contain)
            times[kind] += [seconds] if start else []  # the first one also finds files that only root may read
    for kind, found in times.items():
        low, middle, high = (f"{1000 * span:.1f}" for span in (min(found), statistics.median(found), max(found)))
        print(f"{kind}: median of {given.starts} {middle} ms, range {low} to {high} ms")


if __name__ == "__main__":
    main()
