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

__all__ = ["bound_socket", "open_browser", "serve"]

MOST_PROCESSES = 8

SECONDS_TO_FINISH = 1

TEXT_BROWSERS = {"www-browser", "links", "elinks", "lynx", "w3m"}
"""They would take the terminal."""


def bound_socket(host: str, port: int) -> socket.socket:
    """Return the socket of the page, which nobody can connect to yet.

    Raises
    ------
    UnusableError
        If it cannot be had.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        own = socket.socket(family, kind, protocol)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UnusableError(
                f"port {port} is in use; --port N takes another, --port 0 any that is free"
            ) from None
        raise UnusableError(f"cannot serve a page at {host}, port {port}: {error.strerror or error}") from None
    except OverflowError as error:
        raise UnusableError(f"cannot serve a page at {host}, port {port}: {error}") from None
    return own


def serve(
    own: socket.socket,
    host: str,
    results: Path | None,
    puzzle_seconds: float,
    on_ready: Callable[[], None],
) -> None:
    """Serve the page until a Ctrl-C or SIGTERM; the bot's processes are gone then.

    Parameters
    ----------
    own : socket.socket
        As :func:`bound_socket` returns it.
    host : str
        What was bound to: the page may be called so.
    results : Path or None
        The folder of results to be shown.
    puzzle_seconds : float
    on_ready : callable
        Called once the page can be reached.
    """
    solves = Solves(min(len(usable_cores()), MOST_PROCESSES))
    app = make_app(solves, Live(results) if results else None, puzzle_seconds)
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
    server = _Server(config, on_ready)
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(own):
        asyncio.run(server.serve(sockets=[own]))


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()


def open_browser(address: str) -> bool:
    """Open the user's browser in a window of its own; False if there is none."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    if os.path.basename(getattr(browser, "name", "")) in TEXT_BROWSERS:  # noqa: PTH119 - no path, a command's name
        return False
    try:
        return bool(browser.open(address))
    except OSError:
        return False
