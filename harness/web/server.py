"""The web server: its address, the files and routes that it serves, how it starts and ends; opens the browser."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from nonobot.harness import UnusableError
from nonobot.harness.live.events import Live
from nonobot.harness.live.routes import live_routes
from nonobot.harness.web.guard import Guard
from nonobot.system import reason_of

SECONDS_TO_FINISH = 1
TEXT_BROWSERS = {"www-browser", "links", "elinks", "lynx", "w3m"}  # these browsers would use the terminal


def listening_socket(host: str, port: int) -> socket.socket:
    """Return the socket of the page, which browsers can connect to; UnusableError if the address is unusable."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with contextlib.ExitStack() as unless_it_listens:
            own = unless_it_listens.enter_context(socket.socket(family, kind, protocol))
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            own.bind(address)
            own.listen()
            unless_it_listens.pop_all()
    except (OSError, UnicodeError) as error:  # the latter for a name such as a..b
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            why = f"port {port} is in use; --port N takes another, --port 0 any that is free"
        else:
            why = f"cannot serve a page at {host}, port {port}: {reason_of(error)}"
            if not isinstance(error, PermissionError):  # which is about the port
                why += "; type --host 0.0.0.0 for all addresses of this machine, or a name or address of it"
        raise UnusableError(why) from None
    return own


def serve(
    own: socket.socket, host: str, site: Path, results: Path | None, on_ready: Callable[[], None], note: str = ""
) -> None:
    """Serve the page until Ctrl-C or SIGTERM; `on_ready` is called as soon as browsers can connect to `host`.

    The live view shows `note`, which says why the puzzle page is missing.
    """
    app = make_app(site, Live(results, note) if results else None)
    guarded = Guard(app, {"localhost", host, socket.gethostname()})
    quiet: dict[str, Any] = {"log_level": "critical", "access_log": False, "server_header": False}
    limits: dict[str, Any] = {"ws": "none", "lifespan": "off", "timeout_graceful_shutdown": SECONDS_TO_FINISH}
    config = uvicorn.Config(guarded, http="h11", **quiet, **limits)
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(own):
        on_ready()
        asyncio.run(uvicorn.Server(config).serve(sockets=[own]))


def open_browser(address: str) -> bool:
    """Open a new window of the user's browser; False if there is no browser."""
    try:
        browser = webbrowser.get()
        is_text = os.path.basename(getattr(browser, "name", "")) in TEXT_BROWSERS  # noqa: PTH119 - a command
        return not is_text and bool(browser.open(address))
    except (webbrowser.Error, OSError):
        return False


def make_app(site: Path, live: Live | None) -> Starlette:
    """Return the application that serves a site's folder and, if there is one, the live view."""
    has_puzzle_page = (site / "index.html").exists()
    routes = [
        *([] if has_puzzle_page else [Route("/", lambda _: RedirectResponse("/live"))]),
        *live_routes(live),
        Mount("/", StaticFiles(directory=site, html=True)),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _error})


def _error(_: Request, error: Any) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)
