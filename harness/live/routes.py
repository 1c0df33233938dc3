"""The addresses of the live view on the server: its page, its stream of events, its plots."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from nonobot.harness.live.events import MOST_WATCHERS, Live

STATIC = Path(__file__).with_name("static")


def live_routes(live: Live | None) -> list[Route]:
    """Return the routes of the live view; without one, its page has no events."""

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

    return [
        Route("/live", lambda _: FileResponse(STATIC / "live.html")),
        Route("/static/live.js", lambda _: FileResponse(STATIC / "live.js")),
        Route("/api/live", live_events),
        Route("/api/cactus/{key}", cactus),
    ]


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
