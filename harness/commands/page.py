"""`nonojudge page`: a local web page to paste, draw, step and see."""

from __future__ import annotations

import argparse
from pathlib import Path

from nonobot.arguments import Parser, seconds, whole_number
from nonobot.harness import UnusableError, require_libraries
from nonobot.harness.cli import say

EXAMPLES = """\
examples:
  nonojudge page                         opens in the browser; Ctrl-C ends it
  nonojudge page --no-browser --port 9000
  nonojudge page --results results       and a tournament as it goes on: runs under way and done

Puzzles are pasted, dropped, drawn or picked; the page says whether each has one solution, shows how it is
solved, gives hints, and writes it in any format. Nothing leaves this machine: the page is served to it
alone, and asks nobody else. docs/page.md tells what it does, and what it refuses.

Needs starlette and uvicorn; where they are missing, a line says how to install them.
Exit status: 0 ended by Ctrl-C, 2 unusable arguments or input.
"""


def add_to(parser: Parser) -> None:
    parser.description = "Serve a local web page to paste, draw, step and see puzzles."
    parser.epilog = EXAMPLES
    parser.add_argument(
        "--port",
        type=whole_number(0, 65535, "a port"),
        default=8625,
        metavar="N",
        help="the port of the page (%(default)s); 0: any that is free",
    )
    parser.add_argument("--no-browser", action="store_true", help="only say where the page is")
    parser.add_argument(
        "--results", type=Path, metavar="FOLDER", help="show the runs of this folder too, as their results come"
    )
    parser.add_argument(
        "--puzzle-limit",
        type=seconds,
        default=10.0,
        metavar="S",
        help="search a puzzle for S seconds (%(default)g)",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="serve other machines too, at this address of the machine (default: %(default)s, this machine "
        "alone); whoever reaches it may let puzzles be solved",
    )
    parser.set_defaults(carry_out=carry_out)


def carry_out(arguments: argparse.Namespace) -> int:
    require_libraries("the page", "starlette", "uvicorn")
    results: Path | None = arguments.results
    if results is not None and not results.is_dir():
        raise UnusableError(f"there is no folder {results}")
    from nonobot.harness.page.server import listening_socket, open_browser, serve

    own = listening_socket(arguments.host, arguments.port)
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    address = f"http://{host}:{own.getsockname()[1]}/"

    def on_ready() -> None:
        print(f"page: {address} (Ctrl-C ends it)", flush=True)
        if not arguments.no_browser and not open_browser(address):
            say("no browser here that can be opened; open the page in one yourself")

    serve(own, arguments.host, results, arguments.puzzle_limit, on_ready)
    return 0
