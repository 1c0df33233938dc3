"""What the page's server refuses: other hosts and sites, bodies that are too large, what comes too slowly.

Another site's page may send requests to 127.0.0.1, and a name of its own may lead there (DNS rebinding): both are
told by the headers Host and Origin, which no script of a page can forge.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import sys
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from nonobot.protocol.formats import MOST_BYTES

__all__ = ["Guard", "Listener"]

MOST_BODIES_BYTES = 8 * MOST_BYTES
"""Of all requests together."""

BODY_SECONDS = 30.0
HEAD_SECONDS = 10.0
"""What a request may take to arrive: its body, and what comes before it."""

DRAIN_SECONDS = 5.0
"""For how long a body that was refused is still read and dropped, so that its sender can read why."""

MOST_HALF_OPEN = 256
"""Connections on which no request is there yet; where there are more, the oldest is closed."""

PATHS_OF_LINKS = ("/", "/live")
"""Where a link of another site may lead; all else is asked for by the page itself."""

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


class _RefusedError(Exception):
    """A request that is not carried out."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Guard:
    """The application behind its walls.

    Parameters
    ----------
    app : ASGI application
    names : iterable of str
        What the page may be called in an address; an address in numbers always may, as no other site can be
        called so.
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
                own = {name.decode().lower() for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name not in own]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        held = 0
        unread: Receive | None = receive  # what is still to come of the body; read and dropped after a refusal
        try:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            self._check_origin(scope, headers)
            body = bytearray()
            if scope["method"] not in ("GET", "HEAD"):
                held = self._hold(headers)
                await _take_body(receive, body)
            unread = None
            await self._app(scope, _replayed(bytes(body), receive), send_guarded)
        except _RefusedError as refused:
            if refused.status is HTTPStatus.REQUEST_TIMEOUT or "expect" in headers:
                unread = None  # nothing comes: who waits to be told to go on has sent nothing yet
            await _refuse(refused, unread, send_guarded)
        except _GoneError:
            pass
        except Exception as error:
            words = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"nonojudge: page: {scope['path'][:80]!r}: {words[:300]}", file=sys.stderr, flush=True)
            if not has_begun:
                failed = _RefusedError(
                    HTTPStatus.INTERNAL_SERVER_ERROR, "an error in nonojudge page; see its terminal"
                )
                await _refuse(failed, None, send_guarded)
        finally:
            self._bytes -= held

    def _check_origin(self, scope: Scope, headers: dict[str, str]) -> None:
        host = headers.get("host", "")
        if not self._is_own(host):
            raise _RefusedError(
                HTTPStatus.MISDIRECTED_REQUEST, f"this is not {host[:80] or 'a page without a name'}"
            )
        is_foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        is_link = (
            scope["method"] == "GET"
            and scope["path"] in PATHS_OF_LINKS
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest", "document") == "document"  # no frame within another page
        )
        if headers.get("origin", f"http://{host}") != f"http://{host}" or (is_foreign and not is_link):
            raise _RefusedError(HTTPStatus.FORBIDDEN, "requests of other sites' pages are not answered")

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _hold(self, headers: dict[str, str]) -> int:
        """Set room for a body aside, and return how much."""
        length = headers.get("content-length", "")
        size = int(length) if length.isdigit() and len(length) < 16 else MOST_BYTES
        if size > MOST_BYTES:
            raise _too_large()
        if self._bytes + size > MOST_BODIES_BYTES:
            raise _RefusedError(
                HTTPStatus.SERVICE_UNAVAILABLE, "too much is being sent at once; try again in a moment"
            )
        self._bytes += size
        return size


class _GoneError(Exception):
    """Nobody waits for the answer any more."""


def _too_large() -> _RefusedError:
    return _RefusedError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MOST_BYTES >> 20} MiB; puzzles are smaller"
    )


async def _take_body(receive: Receive, body: bytearray) -> None:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _GoneError
                body += message.get("body", b"")
                if len(body) > MOST_BYTES:
                    raise _too_large()
                if not message.get("more_body"):
                    return
    except TimeoutError:
        raise _RefusedError(HTTPStatus.REQUEST_TIMEOUT, "the request does not arrive") from None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what hands the body over, and then what else comes: the end of the connection."""
    is_due = True

    async def receive_again() -> Message:
        nonlocal is_due
        if is_due:
            is_due = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return receive_again


async def _refuse(refused: _RefusedError, unread: Receive | None, send: Send) -> None:
    """Answer at once, and read what is still being sent: else its sender would see a broken connection alone."""
    body = json.dumps({"error": str(refused)}).encode()
    headers: list[Any] = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": int(refused.status), "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while unread and (message := await unread())["type"] != "http.disconnect" and message.get("more_body"):
                pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})


class Listener(H11Protocol):
    """A connection that has so long to say what it wants, whatever trickles in."""

    _half_open: dict[Listener, None] = {}  # noqa: RUF012 - of all connections, the oldest first
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take what arrives; the time for a request runs from its first byte to the end of its head."""
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
