"""`nonojudge report`: write results as one self-contained HTML page: ranking, plots, pictures, machine facts."""

from __future__ import annotations

import argparse
from pathlib import Path

from nonobot import __version__
from nonobot.arguments import Parser
from nonobot.harness import UnusableError, options, require_libraries
from nonobot.harness.progress import Progress
from nonobot.harness.results.result_files import read_results
from nonobot.harness.results.run_result import RunResult
from nonobot.harness.text import say_left_out
from nonobot.harness.user_files import require_writable, write_output
from nonobot.system import printable

EXAMPLES = """\
examples:
  nonojudge report results/*.json
  nonojudge report results -o tournament.html --title "Spring tournament"
  nonojudge report before.json after.json -o today.html

The page is one file without scripts or network access, to mail or to publish. Of several runs of a bot on a set,
it shows the median one. Checked answer files and logs of bots have no plots, because the judge did not measure
their time (docs/report.md).

Exit status: 0 the page was written, 1 written without unreadable files, 2 unusable arguments or input.
"""


OUTPUT = Path("report.html")
OTHER_ENDINGS = (".pdf", ".xlsx", ".csv", ".md", ".json", ".txt")


def add_to(parser: Parser) -> None:
    options.add_results(parser)
    about = f"HTML file (default: {OUTPUT})"
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help=about)
    about = "title of the page (default: %(default)s)"
    parser.add_argument("--title", default="Nonogram bots compared", help=about)


def carry_out(arguments: argparse.Namespace) -> int:
    require_libraries("a report", "numpy", "matplotlib", "jinja2")
    from nonobot.harness.report.contents import Report
    from nonobot.harness.report.report_page import STEPS, page_of

    results, problems = read_results(arguments.results)
    say_left_out(problems)
    if not any(isinstance(result, RunResult) for result in results.values()):
        raise UnusableError("no run results found; create one with `nonojudge run`")
    output = arguments.output or OUTPUT
    if output.suffix.lower() in OTHER_ENDINGS:
        raise UnusableError(f"-o {output}: a report is an HTML file; name it {output.with_suffix('.html')}")
    require_writable(output)
    report = Report(results)
    with Progress(STEPS * len(report.sets)) as progress:
        page = page_of(report, arguments.title, __version__, progress.show)
    data = page.encode(errors="backslashreplace")
    write_output(output, data, follows=arguments.output is not None)
    if str(output) != "-":
        print(printable(f"report: {output}"))
    return 1 if problems else 0
