"""The page's server: its socket, its addresses, and the answers to the questions that a browser may ask."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from nonobot.harness import UnusableError
from nonobot.harness.page.boards import (
    LONGEST_SIDE,
    SAMPLES,
    Board,
    Selection,
    puzzle_of_file,
    puzzle_of_set,
)
from nonobot.harness.page.guard import Guard, Listener
from nonobot.harness.page.live import MOST_WATCHERS, Live
from nonobot.harness.page.solves import BusyError, LateError, Solves
from nonobot.harness.pictures.drawings import png_of
from nonobot.harness.results.result_files import UNDECODABLE
from nonobot.protocol import Record
from nonobot.protocol.formats import MOST_BYTES, FormatError, formats, write
from nonobot.protocol.scene import SMALLEST_CELL_WITH_CLUES, Picture, scene_of
from nonobot.protocol.svg import DARK, LIGHT, svg_of
from nonobot.system import usable_cores
from nonobot.tournament_data.registry import State, official_sets, state_of

STATIC = Path(__file__).with_name("static")

MOST_PROCESSES = 8
SECONDS_TO_FINISH = 1
TEXT_BROWSERS = {"www-browser", "links", "elinks", "lynx", "w3m"}  # they would take the terminal

LINE_SECONDS = 30.0  # for the bot where it looks at single lines only
MOST_STEPS = 4000
MOST_READERS = 22  # files being read, and those that wait for it
MOST_PICTURE_PIXELS = 2000  # on the longer side of a picture to take away

T = TypeVar("T")


class Question(msgspec.Struct):
    """A question of a browser's tab about a board.

    `cells` are those that the user has set, as in a board; `format` is the name of a format to write, `svg`, `png`
    or `link`. One solution is found quickly; looking for two shows whether there is only one.
    """

    board: Board
    tab: str = ""
    cells: str | None = None
    solutions: Literal[1, 2] = 2
    format: str = ""
    dark: bool = False


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

    `host` is the address as the user gave it. `on_ready` is called as soon as browsers can connect.
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
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(own):
        on_ready()
        asyncio.run(uvicorn.Server(config).serve(sockets=[own]))


def open_browser(address: str) -> bool:
    """Open the user's browser in a window of its own; False if there is none."""
    try:
        browser = webbrowser.get()
        is_text = os.path.basename(getattr(browser, "name", "")) in TEXT_BROWSERS  # noqa: PTH119 - a command
        return not is_text and bool(browser.open(address))
    except (webbrowser.Error, OSError):
        return False


def make_app(solves: Solves, live: Live | None, puzzle_seconds: float) -> Starlette:
    """Return the application, which starts and closes `solves`."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        solves.start()
        try:
            yield
        finally:
            await solves.close()

    page = _Page(solves, live, puzzle_seconds)
    posted = (page.read, page.solve, page.steps, page.hint, page.check, page.write)
    routes = [
        Route("/", lambda _: FileResponse(STATIC / "index.html")),
        Route("/live", lambda _: FileResponse(STATIC / "live.html")),
        Route("/api/facts", page.facts),
        Route("/api/sample", page.sample),
        Route("/api/set", page.of_set),
        Route("/api/live", page.live_events),
        Route("/api/cactus/{key}", page.cactus),
        *(Route(f"/api/{one.__name__}", one, methods=["POST"]) for one in posted),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    errors = (UnusableError, FormatError, BusyError, LateError, HTTPException, ClientDisconnect)
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=dict.fromkeys(errors, _error))


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def _error(_: Request, error: Exception) -> Response:
    """Answer a request that failed with a line of text for people."""
    match error:
        case ClientDisconnect():
            return Response(status_code=499)  # nobody reads it
        case HTTPException():
            return _json({"error": error.detail}, error.status_code, error.headers)
        case BusyError():
            return _json({"error": str(error)}, 503)
        case LateError():
            return _json({"error": f"no answer: {error}"}, 504)
    return _json({"error": str(error)}, 400)


def _number(request: Request, name: str, most: int = 10**9) -> int:
    """Return a number of the address, 1 if it has none."""
    text = request.query_params.get(name) or "1"
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
        raise UnusableError(f"{name} is a number from 1 to {most}")
    return int(text)


async def _while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the outcome of some work; cancel it when the browser closes the connection."""

    async def until_gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(until_gone())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


class _Page:
    """Answers to the page's questions; the arguments are those of :func:`make_app`."""

    def __init__(self, solves: Solves, live: Live | None, puzzle_seconds: float) -> None:
        self._solves = solves
        self._live = live
        self._seconds = puzzle_seconds
        self._reading = asyncio.Semaphore(2)  # files are read in threads, and one may take seconds
        self._readers = 0

    def facts(self, _: Request) -> Response:
        return _json(
            {
                "longest_side": LONGEST_SIDE,
                "most_bytes": MOST_BYTES,
                "puzzle_seconds": self._seconds,
                "formats": [
                    {"name": one.name, "description": one.description, "extension": one.extensions[0]}
                    for one in formats()
                ],
                "samples": puzzle_of_file(SAMPLES).titles,
                "sets": [one.name for one in official_sets().values() if state_of(one) is State.HERE],
                "live": self._live is not None,
            }
        )

    async def _selected(self, request: Request, find: Callable[..., Selection], *arguments: Any) -> Response:
        """Return the puzzle that a thread reads from a file or a set."""
        if self._readers >= MOST_READERS:
            raise HTTPException(503, "too many files wait to be read already; try again in a moment")

        async def one_at_a_time() -> Selection:
            async with self._reading:
                return await run_in_threadpool(find, *arguments)

        self._readers += 1
        try:
            return _json(await _while_there(request, one_at_a_time()))
        finally:
            self._readers -= 1

    async def read(self, request: Request) -> Response:
        """Return a puzzle of a text, a file or a picture."""
        data, number, given = await request.body(), _number(request, "number"), request.query_params
        width = _number(request, "width", LONGEST_SIDE) if given.get("width") else None
        return await self._selected(request, puzzle_of_file, data, number, width, "invert" in given)

    async def sample(self, request: Request) -> Response:
        return _json(await run_in_threadpool(puzzle_of_file, SAMPLES, _number(request, "number")))

    async def of_set(self, request: Request) -> Response:
        """Return a puzzle of an official or a generated set."""
        name = request.query_params.get("name", "")
        return await self._selected(request, puzzle_of_set, name, _number(request, "number"))

    async def _question(self, request: Request) -> Question:
        """Return the question of a request, its board checked."""
        try:
            question = msgspec.json.decode(await request.body(), type=Question)
        except UNDECODABLE as error:
            raise UnusableError(f"not a request of the page: {error}") from None
        _ = question.board.record
        return question

    async def _ask(self, request: Request, question: Question, do: str, **numbers: Any) -> dict[str, Any]:
        """Return the answer of the bot about the board; it searches with `numbers`, otherwise looks at lines."""
        if numbers:
            numbers["seconds"] = self._seconds
        board = question.board
        asked = {"do": do, "rows": board.rows, "columns": board.columns, "cells": board.cells, **numbers}
        work = self._solves.ask(question.tab[:64], asked, numbers.get("seconds", LINE_SECONDS))
        answer = await _while_there(request, work)
        if "error" in answer:
            raise UnusableError(answer["error"])
        return answer

    async def solve(self, request: Request) -> Response:
        """Return the verdict on a board, with up to two solutions, or the lines that contradict."""
        question = await self._question(request)
        answer = await self._ask(request, question, "solve", solutions=question.solutions)
        if answer["verdict"] == "unsolvable":
            answer["conflict"] = await self._ask(request, question, "conflict")
            if question.board.cells:
                question.board.cells = None
                without = await self._ask(request, question, "solve", solutions=2)
                answer["without_start"] = without["verdict"]
        return _json(answer)

    async def steps(self, request: Request) -> Response:
        question = await self._question(request)
        return _json(await self._ask(request, question, "steps", most=MOST_STEPS))

    async def hint(self, request: Request) -> Response:
        """Return the next line from which cells follow, on the board of `cells`."""
        question = await self._question(request)
        question.board.cells = question.cells
        _ = question.board.record
        return _json(await self._ask(request, question, "hint"))

    async def check(self, request: Request) -> Response:
        """Return whether the cells that the user has set are still right, and which are not."""
        question = await self._question(request)
        given, question.board.cells = question.board.cells, question.cells
        has_cells = question.board.record.start is not None
        answer = await self._ask(request, question, "solve", solutions=1)
        if answer["solutions"]:
            return _json({"right": True, "wrong": []})
        question.board.cells = given
        if has_cells and answer["verdict"] != "unknown":
            answer = await self._ask(request, question, "solve", solutions=2)
        if not answer["solutions"]:
            return _json({"right": None, "wrong": []})
        cells = list(enumerate(question.cells or ""))
        wrong = [
            [index for index, cell in cells if cell not in ("?", solution[index])]
            for solution in answer["solutions"]
        ]
        return _json({"right": False, "wrong": min(wrong, key=len), "only": answer["verdict"] == "unique"})

    async def write(self, request: Request) -> Response:
        """Return the puzzle in a format, or its picture."""
        return await run_in_threadpool(_written, await self._question(request))

    async def live_events(self, request: Request) -> Response:
        """Return the content of the folder of results, again whenever it changes."""
        if self._live is None:
            raise HTTPException(404, "no folder of results is shown: nonojudge page --results FOLDER")
        if self._live.watchers >= MOST_WATCHERS:
            raise HTTPException(503, "too many tabs watch already")
        return StreamingResponse(self._live.events(), media_type="text/event-stream")

    async def cactus(self, request: Request) -> Response:
        """Return the sorted times of a set's runs, as a picture."""
        svg = self._live and await self._live.cactus(request.path_params["key"])
        if not svg:
            raise HTTPException(404, "there is no such plot")
        policy = "default-src 'none'; style-src 'unsafe-inline'"  # a picture: it loads nothing and runs nothing
        return Response(svg, media_type="image/svg+xml", headers={"content-security-policy": policy})


def _written(question: Question) -> Response:
    form = question.format
    if form in ("svg", "png"):
        return _drawn(question)
    record = question.board.record
    if form == "link":  # in few characters, where that states all; without the solution
        record = Record(record.puzzle, record.start, None, record.title, record.author)
        form = "oneline" if record == Record(record.puzzle) else "grid"
    written = write([record], form)
    if not written.count:
        raise UnusableError("; ".join(map(str, written.faults)))
    return Response(written.data, media_type="text/plain; charset=utf-8")


def _drawn(question: Question) -> Response:
    question.board.cells = question.cells
    record = question.board.record
    cell = max(2, min(24, MOST_PICTURE_PIXELS // max(record.size)))
    scene = scene_of(Picture(record.puzzle, record.start), cell=cell, clues=cell >= SMALLEST_CELL_WITH_CLUES)
    theme = DARK if question.dark else LIGHT
    if question.format == "svg":
        return Response(svg_of(scene, theme), media_type="image/svg+xml")
    return Response(png_of(scene, theme), media_type="image/png")
