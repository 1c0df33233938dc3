"""Requests that the web server refuses: those of other hosts and sites, and those that bring something.

A page of another site can send requests to 127.0.0.1, also under its own name (DNS rebinding). The headers Host
and Origin show both, and no script can forge them.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nonobot.harness.page.site import POLICY
from nonobot.harness.text import say
from nonobot.protocol.clues import shown

PATHS_OF_LINKS = ("/", "/live")  # where a link of another site may lead; the page itself asks for all else

HEADERS = {
    "content-security-policy": f"{POLICY}; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Guard:
    """An application that gets only the requests that the page answers.

    Its hosts are `names` and numeric addresses, which no other site can have as its name.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app = app
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        has_begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            self._check_origin(scope, Headers(scope=scope))
            await self._app(scope, receive, send_guarded)
        except HTTPException as error:
            await _refuse(error, send_guarded)
        except Exception as error:
            say(f"page: {shown(scope['path'])}: {type(error).__name__}: {error}")
            if not has_begun:
                await _refuse(HTTPException(500, "an error in nonojudge page; see its terminal"), send_guarded)

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._is_own(host):
            remedy = "type the address in numbers, or start the page with `--host NAME`"
            refused = f"this page does not answer to {host[:80] or 'an empty name'}; {remedy}"
            raise HTTPException(HTTPStatus.MISDIRECTED_REQUEST, refused)
        is_foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        is_link = (
            scope["method"] == "GET"
            and scope["path"] in PATHS_OF_LINKS
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest", "document") == "document"  # no frame within another page
        )
        if headers.get("origin", f"http://{host}") != f"http://{host}" or (is_foreign and not is_link):
            raise HTTPException(HTTPStatus.FORBIDDEN, "requests of other sites' pages are not answered")
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, "this server only sends files; it takes nothing")

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name in self._names or bool(ipaddress.ip_address(name))
        except ValueError:
            return False


async def _refuse(refused: HTTPException, send: Send) -> None:
    body = json.dumps({"error": refused.detail}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    await send({"type": "http.response.start", "status": refused.status_code, "headers": Headers(headers).raw})
    await send({"type": "http.response.body", "body": body})
