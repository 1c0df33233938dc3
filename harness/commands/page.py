"""`nonojudge page`: serve a local web page that solves and draws puzzles, or export it for any web server."""

from __future__ import annotations

import argparse
import shlex
import signal
import socket
from pathlib import Path
from tempfile import TemporaryDirectory

from nonobot.arguments import Parser, new_path, seconds, whole_number
from nonobot.harness import UnusableError, require_libraries

EXAMPLES = """\
examples:
  nonojudge page                         open the page in the browser; Ctrl-C exits
  nonojudge page --no-browser --port 9000
  nonojudge page --results results       and the runs of a folder, live; without the kernels for browsers,
                                         which only the puzzle page needs, the live view alone
  nonojudge page --export site           write the page as files for any web server

Paste, drop, draw or pick a puzzle. The page shows whether it has one solution and how to solve it, gives hints,
and writes it in any format. Everything runs in the browser, and nothing leaves it (docs/page.md). The first call
downloads Pyodide (Python for browsers, 6.5 MB).

Exit status: 0 ended by Ctrl-C or exported, 2 unusable arguments or input.
"""


def add_to(parser: Parser) -> None:
    about = "write the files of the page into a folder and exit"
    parser.add_argument("--export", type=new_path, metavar="FOLDER", help=about)
    about = "port to serve on; 0 picks a free one (default: %(default)s)"
    parser.add_argument("--port", type=whole_number(0, 65535, "a port"), default=8625, metavar="N", help=about)
    parser.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    about = "also show the runs of this folder live; it may be made later"
    parser.add_argument("--results", type=Path, metavar="FOLDER", help=about)
    about = "limit of the search for each puzzle in seconds (default: %(default)g)"
    parser.add_argument("--puzzle-limit", type=seconds, default=10.0, metavar="S", help=about)
    about = "address to serve on (default: %(default)s, only this machine)"
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help=about)


def carry_out(arguments: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C: no folder remains
    if arguments.export is not None:
        return _export(arguments.export, arguments.results, arguments.puzzle_limit)
    require_libraries("the page", "starlette", "uvicorn")
    results: Path | None = arguments.results
    if results is not None and results.exists() and not results.is_dir():
        raise UnusableError(f"--results {results}: not a folder")
    from nonobot.harness.page.site import write_common_files, write_site
    from nonobot.harness.text import say
    from nonobot.harness.web.server import listening_socket, open_browser, serve

    own = listening_socket(arguments.host, arguments.port)
    is_everywhere = arguments.host in ("0.0.0.0", "::")
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    port = own.getsockname()[1]
    address = f"http://{'localhost' if is_everywhere else host}:{port}/"

    def on_ready() -> None:
        print(f"page: {address} (Ctrl-C stops it)", flush=True)
        if is_everywhere:
            print(
                f"on other machines: http://{socket.gethostname()}:{port}/, or this machine's address", flush=True
            )
        if not arguments.no_browser and not open_browser(address):
            say("cannot open a browser; open the address yourself")

    with own, TemporaryDirectory(prefix="nonojudge-page-") as folder:
        site, note = Path(folder), ""
        try:
            write_site(site, arguments.puzzle_limit, has_live_view=results is not None, is_served=True)
        except UnusableError as error:
            if results is None:
                raise
            say(f"only the live view is here, without the puzzle page: {error}")
            note = "The puzzle page is not installed here."
            write_common_files(site)
        serve(own, arguments.host, site, results, on_ready, note)
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
