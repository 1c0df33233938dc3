"""`python -m nonobot.harness.opponents`: which opponents there are."""

from __future__ import annotations

import sys

from nonobot.harness.opponents.catalogue import OPPONENTS, summary


def main() -> int:
    """List the opponents; the exit status is returned."""
    width = max(map(len, OPPONENTS))
    print("Opponents: bots that speak the TAAI protocol on standard input and output.\n")
    for name in OPPONENTS:
        print(f"  {name:{width}}  {summary(name)}")
    print(
        "\nstart one:            python -m nonobot.harness.opponents.NAME --size 25x25 < questions.txt\n"
        "what it does:         python -m nonobot.harness.opponents.NAME --help\n"
        "judge one:            nonojudge run --set questions.txt -- python -m nonobot.harness.opponents.NAME\n"
        "all, side by side:    python -m nonobot.harness.opponents.benchmark --help"
    )
    return 0 if len(sys.argv) == 1 or sys.argv[1:] in (["-h"], ["--help"]) else 2


if __name__ == "__main__":
    sys.exit(main())
