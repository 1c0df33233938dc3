"""`nonojudge table`: rank the results of several bots by the official rules."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from nonobot.arguments import Parser
from nonobot.harness import UnusableError, options
from nonobot.harness.ranking.standings import Ranking, rankings
from nonobot.harness.ranking.table_text import as_csv, as_json, as_markdown, as_text
from nonobot.harness.results.result_files import read_results
from nonobot.harness.text import on_terminal, say_left_out
from nonobot.harness.user_files import write_output
from nonobot.system import printable

VIEWS: dict[str, Callable[[Sequence[Ranking], bool], str]] = {
    "text": as_text,
    "markdown": lambda ranked, _: as_markdown(ranked),
    "csv": lambda ranked, _: as_csv(ranked),
}
FORMATS = (*VIEWS, "json")
FORMAT_OF_ENDING = {"": "text", ".txt": "text", ".md": "markdown", ".csv": "csv", ".json": "json"}

EXAMPLES = """\
examples:
  nonojudge table results/                          all results in a folder
  nonojudge table ours.json theirs.json
  nonojudge table results/ -o ranking.md            also .csv (for spreadsheets), .json and .txt
  nonojudge table results/ --format csv | cut -d, -f4,5,9,16

The ranking is most right, then least time: for each set, and over the sets that every bot has played. Of several
runs of a bot (by its name) on a set, the median one counts. Bots' own logs have a separate ranking; checked answer
files (nonojudge verify --json) are ranked with the runs, without a time (docs/ranking.md).

Exit status: 0 all shown, 1 some files could not be read, 2 nothing to show or unusable arguments.
"""


def add_to(parser: Parser) -> None:
    options.add_results(parser)
    about = "output format (default: from the extension of FILE, otherwise text)"
    parser.add_argument("--format", choices=FORMATS, help=about)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="output file (default: stdout)")


def carry_out(arguments: argparse.Namespace) -> int:
    output: Path | None = arguments.output
    form = _form(output, arguments.format)
    results, problems = read_results(arguments.results)
    say_left_out(problems)
    if not results:
        raise UnusableError("no result to show")
    ranked = rankings(results)
    terminal = output is None and on_terminal()
    text = as_json(ranked, problems) if form == "json" else VIEWS[form](ranked, terminal)
    if output is None:
        print(text, end="")
    else:
        write_output(output, text.encode(errors="backslashreplace"))
        if str(output) != "-":
            print(printable(f"table: {output}"))
    return 1 if problems else 0


def _form(output: Path | None, asked: str | None) -> str:
    """Return the format that was asked for, otherwise that of the file's ending."""
    form = asked or FORMAT_OF_ENDING.get(output.suffix.lower() if output else "")
    if form is None:
        others = "`nonojudge report` writes .html, and spreadsheets read .csv"
        remedy = f"use .csv, .md, .json or .txt, or add --format; {others}"
        raise UnusableError(f"-o {output}: no format for such a file; {remedy}")
    return form
