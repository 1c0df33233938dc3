"""Requests that the page's server refuses: of other hosts and sites, with too large bodies, or too slow.

Another site's page may send requests to 127.0.0.1, and a name of its own may lead there (DNS rebinding): the
headers Host and Origin, which no script of a page can forge, show both.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import Iterable
from http import HTTPStatus
from typing import NoReturn
from urllib.parse import urlsplit

import h11
import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from nonobot.harness.text import print_line
from nonobot.protocol.formats import MOST_BYTES

MOST_BODIES_BYTES = 8 * MOST_BYTES  # of all requests together
HEAD_SECONDS = 10.0  # for the head of a request to arrive
BODY_SECONDS = 30.0  # for its body
DRAIN_SECONDS = 5.0  # for a refused body to be read and dropped, so that its sender can read the reason
MOST_HALF_OPEN = 256  # connections without a request yet; where there are more, the oldest is closed
PATHS_OF_LINKS = ("/", "/live")  # where a link of another site may lead; the page itself asks for all else

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Guard:
    """An application that gets only the requests that the page answers, each with its whole body.

    The page goes by `names`, and by addresses in numbers: no other site can have one as its name.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app = app
        self._names = {name.lower() for name in names}
        self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        held = 0
        unread: Receive | None = receive  # the rest of the body; read and dropped after a refusal
        try:
            self._check_origin(scope, headers)
            body = b""
            if scope["method"] not in ("GET", "HEAD"):
                held = self._hold(headers)
                body = await _body(receive)
            unread = None
            await self._app(scope, _with_body(body, receive), send_guarded)
        except HTTPException as error:
            if error.status_code == HTTPStatus.REQUEST_TIMEOUT or "expect" in headers:
                unread = None  # nothing comes: a client that waits for "100 Continue" has sent nothing yet
            await _refuse(error, unread, send_guarded)
        except ClientDisconnect:
            pass
        except Exception as error:
            words = " ".join(f"{type(error).__name__}: {error}".split())
            print_line(f"nonojudge: page: {scope['path'][:80]!r}: {words[:300]}")
            if not has_begun:
                refused = HTTPException(500, "an error in nonojudge page; see its terminal")
                await _refuse(refused, None, send_guarded)
        finally:
            self._bytes -= held

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._is_own(host):
            _fail(HTTPStatus.MISDIRECTED_REQUEST, f"this is not {host[:80] or 'a page without a name'}")
        is_foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        is_link = (
            scope["method"] == "GET"
            and scope["path"] in PATHS_OF_LINKS
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest", "document") == "document"  # no frame within another page
        )
        if headers.get("origin", f"http://{host}") != f"http://{host}" or (is_foreign and not is_link):
            _fail(HTTPStatus.FORBIDDEN, "requests of other sites' pages are not answered")

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name in self._names or bool(ipaddress.ip_address(name))
        except ValueError:
            return False

    def _hold(self, headers: Headers) -> int:
        """Reserve room for a body, and return how much."""
        length = headers.get("content-length", "")
        size = int(length) if length.isdigit() and len(length) < 16 else MOST_BYTES
        _require_small(size)
        if self._bytes + size > MOST_BODIES_BYTES:
            _fail(HTTPStatus.SERVICE_UNAVAILABLE, "too much is being sent at once; try again in a moment")
        self._bytes += size
        return size


def _fail(status: HTTPStatus, why: str) -> NoReturn:
    raise HTTPException(status, why)


def _require_small(size: int) -> None:
    if size > MOST_BYTES:
        _fail(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MOST_BYTES >> 20} MiB; puzzles are smaller")


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in Request({"type": "http"}, receive).stream():
                body += part
                _require_small(len(body))
    except TimeoutError:
        _fail(HTTPStatus.REQUEST_TIMEOUT, "the request does not arrive")
    return bytes(body)


def _with_body(body: bytes, receive: Receive) -> Receive:
    """Return a function that hands over the body first, and then the end of the connection."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


async def _refuse(refused: HTTPException, unread: Receive | None, send: Send) -> None:
    """Answer at once, and read the rest of the body: otherwise its sender would only see a broken connection."""
    body = msgspec.json.encode({"error": refused.detail})
    headers = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    await send({"type": "http.response.start", "status": refused.status_code, "headers": Headers(headers).raw})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while unread and (message := await unread())["type"] != "http.disconnect" and message.get("more_body"):
                pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})


class Listener(H11Protocol):
    """A connection that is closed if the head of a request does not arrive in time, whatever trickles in."""

    _half_open: dict[Listener, None] = {}  # noqa: RUF012 - of all connections, the oldest first
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the time for a request runs from its first byte to the end of its head."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._expect()  # a request has begun
        elif self.conn.their_state is not h11.IDLE:
            self._expect_nothing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._expect_nothing()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._close_late)
            self._half_open[self] = None
            if len(self._half_open) > MOST_HALF_OPEN:
                next(iter(self._half_open))._close_late()

    def _expect_nothing(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._half_open.pop(self, None)

    def _close_late(self) -> None:
        self._expect_nothing()
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            self.transport.close()
