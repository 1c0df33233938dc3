"""The page's server: the files of the site, and the live view of a folder of results."""

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
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from nonobot.harness import UnusableError
from nonobot.harness.page.guard import Guard
from nonobot.harness.page.live import MOST_WATCHERS, Live
from nonobot.harness.page.site import STATIC
from nonobot.system import reason_of

SECONDS_TO_FINISH = 1
TEXT_BROWSERS = {"www-browser", "links", "elinks", "lynx", "w3m"}  # these browsers would use the terminal


def listening_socket(host: str, port: int) -> socket.socket:
    """Return the socket of the page, which browsers can connect to; UnusableError if the address is unusable."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        own = socket.socket(family, kind, protocol)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind(address)
        own.listen()
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

    async def live_events(_: Request) -> Response:
        if live is None:
            raise HTTPException(404, "no folder of results is shown: nonojudge page --results FOLDER")
        return _Watching(live)

    async def cactus(request: Request) -> Response:
        """Return the sorted times of a set's runs, as a picture."""
        svg = live and await live.cactus(request.path_params["key"])
        if not svg:
            raise HTTPException(404, "there is no such plot")
        policy = "default-src 'none'; style-src 'unsafe-inline'"  # a picture must load nothing and run nothing
        return Response(svg, media_type="image/svg+xml", headers={"content-security-policy": policy})

    has_puzzle_page = (site / "index.html").exists()
    routes = [
        *([] if has_puzzle_page else [Route("/", lambda _: RedirectResponse("/live"))]),
        Route("/live", lambda _: FileResponse(STATIC / "live.html")),
        Route("/api/live", live_events),
        Route("/api/cactus/{key}", cactus),
        Mount("/", StaticFiles(directory=site, html=True)),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _error})


class _Watching(StreamingResponse):
    """A stream of events, which counts from its first moment to its end, however that comes; or HTTPException."""

    def __init__(self, live: Live) -> None:
        super().__init__(live.events(), media_type="text/event-stream")
        self._live = live

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, unless MOST_WATCHERS streams are open."""
        if self._live.watchers >= MOST_WATCHERS:  # no other request runs between this and the next line
            raise HTTPException(503, "too many tabs watch already")
        self._live.watchers += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._live.watchers -= 1


def _error(_: Request, error: Any) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)
