"""`nonojudge page`: a local web page to paste, draw, step and see; or its files, for any web server."""

from __future__ import annotations

import argparse
import shlex
import signal
from pathlib import Path
from tempfile import TemporaryDirectory

from nonobot.arguments import Parser, seconds, whole_number
from nonobot.harness import UnusableError, require_libraries
from nonobot.harness.cli import say

EXAMPLES = """\
examples:
  nonojudge page                         opens in the browser; Ctrl-C ends it
  nonojudge page --no-browser --port 9000
  nonojudge page --results results       and a tournament as it goes on: runs under way and done
  nonojudge page --export site           writes the page as files for any web server

Puzzles are pasted, dropped, drawn or picked; the page says whether each has one solution, shows how it is
solved, gives hints, and writes it in any format. All of that happens in the browser: nothing leaves it.
docs/page.md explains the page.

The first call fetches Pyodide (Python for browsers, 6.5 MB). Serving needs starlette and uvicorn, --export does
not; where they are missing, a line says how to install them.
Exit status: 0 ended by Ctrl-C or exported, 2 unusable arguments or input.
"""


def add_to(parser: Parser) -> None:
    parser.description = "Serve or write a web page to paste, draw, step and see puzzles."
    parser.epilog = EXAMPLES
    parser.add_argument(
        "--export", type=Path, metavar="FOLDER", help="write the page's files into a folder, and serve nothing"
    )
    parser.add_argument(
        "--port",
        type=whole_number(0, 65535, "a port"),
        default=8625,
        metavar="N",
        help="port to serve on; 0 picks a free one (default: %(default)s)",
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
        help="search a puzzle for S seconds (default: %(default)g)",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="serve other machines too, at this address of the machine (default: %(default)s, this machine alone)",
    )
    parser.set_defaults(carry_out=carry_out)


def carry_out(arguments: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as at Ctrl-C: no folder stays
    if arguments.export is not None:
        return _export(arguments.export, arguments.results, arguments.puzzle_limit)
    require_libraries("the page", "starlette", "uvicorn")
    results: Path | None = arguments.results
    if results is not None and not results.is_dir():
        raise UnusableError(f"there is no folder {results}")
    from nonobot.harness.page.server import listening_socket, open_browser, serve
    from nonobot.harness.page.site import write_site

    own = listening_socket(arguments.host, arguments.port)
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    address = f"http://{host}:{own.getsockname()[1]}/"

    def on_ready() -> None:
        print(f"page: {address} (Ctrl-C ends it)", flush=True)
        if not arguments.no_browser and not open_browser(address):
            say("no browser here that can be opened; open the page in one yourself")

    with own, TemporaryDirectory(prefix="nonojudge-page-") as folder:
        write_site(Path(folder), arguments.puzzle_limit, has_live_view=results is not None, is_served=True)
        serve(own, arguments.host, Path(folder), results, on_ready)
    return 0


def _export(folder: Path, results: Path | None, puzzle_seconds: float) -> int:
    from nonobot.harness.page.site import write_site

    if results is not None:
        raise UnusableError("--results: an exported page has no live view; leave out --results or --export")
    files, size = write_site(folder, puzzle_seconds)
    print(f"page: {folder} ({files} files, {size / 1e6:.1f} MB)")
    command = f"python3 -m http.server --directory {shlex.quote(str(folder))}"
    print(f"serve it with any web server, for instance: {command}")
    return 0
