"""The page's server: its socket, its start and its end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from nonobot.harness.errors import UnusableError
from nonobot.harness.page.app import make_app
from nonobot.harness.page.guard import Guard, Listener
from nonobot.harness.page.live import Live
from nonobot.harness.page.solves import Solves
from nonobot.system import usable_cores

MOST_PROCESSES = 8
SECONDS_TO_FINISH = 1
TEXT_BROWSERS = {"www-browser", "links", "elinks", "lynx", "w3m"}
"""They would take the terminal."""


def listening_socket(host: str, port: int) -> socket.socket:
    """Return the socket of the page, which browsers can connect to; UnusableError if the address is unusable."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        own = socket.socket(family, kind, protocol)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind(address)
        own.listen()
    except (OSError, OverflowError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            why = f"port {port} is in use; --port N takes another, --port 0 any that is free"
        else:
            why = f"cannot serve a page at {host}, port {port}: {getattr(error, 'strerror', None) or error}"
        raise UnusableError(why) from None
    return own


def serve(
    own: socket.socket, host: str, results: Path | None, puzzle_seconds: float, on_ready: Callable[[], None]
) -> None:
    """Serve the page until a Ctrl-C or SIGTERM; the bot's processes are gone then.

    `own` is the page's socket, `host` its address as the user gave it, `results` the folder of results to show,
    `puzzle_seconds` the limit of the search of a board. `on_ready` is called once browsers can connect.
    """
    solves = Solves(min(len(usable_cores()), MOST_PROCESSES))
    app = make_app(solves, Live(results) if results else None, puzzle_seconds, on_ready)
    config = uvicorn.Config(
        Guard(app, {"localhost", host, socket.gethostname()}),
        http=Listener,
        ws="none",
        lifespan="on",
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(own):
        asyncio.run(uvicorn.Server(config).serve(sockets=[own]))


def open_browser(address: str) -> bool:
    """Open the user's browser in a window of its own; False if there is none."""
    try:
        browser = webbrowser.get()
        is_text = os.path.basename(getattr(browser, "name", "")) in TEXT_BROWSERS  # noqa: PTH119 - a command
        return not is_text and bool(browser.open(address))
    except (webbrowser.Error, OSError):
        return False
