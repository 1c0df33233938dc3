"""`python -m nonobot.harness.opponents`: list the opponents."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

OPPONENTS = ("block_backtracking", "csp", "line_logic", "sat", "cp_sat")  # modules, weakest first


def summary(name: str) -> str:
    """Return the first line of an opponent's docstring; the module is read, not imported."""
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


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
        "compare all:          nonojudge tournament docs/samples/opponents.toml\n"
        "the papers' bot:      nonobot --strategy papers --probing fp1\n",
        end="",
    )
    return 0 if len(sys.argv) == 1 or sys.argv[1:] in (["-h"], ["--help"]) else 2


if __name__ == "__main__":
    sys.exit(main())
