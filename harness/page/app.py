"""The addresses of the page: what the browser gets, and what it may ask."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from nonobot.harness.errors import UnusableError
from nonobot.harness.page.boards import (
    LONGEST_SIDE,
    Board,
    Findings,
    found_in_file,
    found_in_set,
    sample_names,
    sample_text,
)
from nonobot.harness.page.live import Live
from nonobot.harness.page.solves import BusyError, LateError, Solves
from nonobot.harness.pictures import DARK, LIGHT, SMALLEST_CELL_WITH_CLUES, Picture, png_of, scene_of, svg_of
from nonobot.protocol import Record
from nonobot.protocol.formats import MOST_BYTES, FormatError, formats, write
from nonobot.protocol.puzzle import cells_from_text
from nonobot.tournament_data.registry import official_sets
from nonobot.tournament_data.store import State, state_of

__all__ = ["make_app"]

STATIC = Path(str(files("nonobot.harness.page") / "static"))

LINE_SECONDS = 30.0
"""What the bot may take where it looks at lines alone."""

MOST_STEPS = 4000

MOST_READERS = 22
"""Files being read, and those that wait for it."""

MOST_PICTURE_PIXELS = 2000
"""Of the longer side of a picture to take away."""

T = TypeVar("T")


class Asked(msgspec.Struct):
    """What the page asks about a board.

    Attributes
    ----------
    board : Board
    tab : str
        Who asks.
    cells : str or None
        The cells that somebody set, as in a board.
    solutions : int
        To be looked for: 1, soon to be seen, or 2, which tell whether there is only one.
    format : str
        What is to be written: the name of a format, `svg`, `png` or `link`.
    dark : bool
        The colours of a picture.
    """

    board: Board
    tab: str = ""
    cells: str | None = None
    solutions: Literal[1, 2] = 2
    format: str = ""
    dark: bool = False


class _BadError(Exception):
    """A request that cannot be answered: the message is one line, for people; with its HTTP status."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


class _GoneError(Exception):
    """The browser has closed the connection."""


def make_app(solves: Solves, live: Live | None, puzzle_seconds: float) -> Starlette:
    """Return the application.

    Parameters
    ----------
    solves : Solves
        Started and closed with it.
    live : Live or None
        The folder of results that is shown, if there is one.
    puzzle_seconds : float
        How long a board is searched.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        solves.start()
        yield
        await solves.close()

    page = _Page(solves, live, puzzle_seconds)
    routes = [
        Route("/", _file("index.html")),
        Route("/live", _file("live.html")),
        Route("/api/facts", page.facts),
        Route("/api/sample", page.sample),
        Route("/api/set", page.of_set),
        Route("/api/read", page.read, methods=["POST"]),
        Route("/api/solve", page.solve, methods=["POST"]),
        Route("/api/steps", page.steps, methods=["POST"]),
        Route("/api/hint", page.hint, methods=["POST"]),
        Route("/api/check", page.check, methods=["POST"]),
        Route("/api/write", page.write, methods=["POST"]),
        Route("/api/live", page.live_events),
        Route("/api/cactus/{key}", page.cactus),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={_BadError: _bad, _GoneError: _gone})


def _file(name: str) -> Any:
    def give(_: Request) -> Response:
        return FileResponse(STATIC / name)

    return give


def _json(what: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(what), status, media_type="application/json")


def _bad(_: Request, error: Exception) -> Response:
    assert isinstance(error, _BadError)
    return _json({"error": str(error)}, error.status)


def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=499)  # nobody reads it


async def _asked(request: Request) -> Asked:
    try:
        return msgspec.json.decode(await request.body(), type=Asked)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _BadError(f"not a request of the page: {error}") from None


def _number(request: Request, name: str, default: int | None, most: int = 10**9) -> int | None:
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
        raise _BadError(f"{name} is a number from 1 to {most}")
    return int(text)


async def _while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return what comes of some work; it is cancelled when the browser closes the connection."""

    async def until_gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(until_gone())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise _GoneError
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


class _Page:
    """What answers the page's questions; the arguments are those of :func:`make_app`."""

    def __init__(self, solves: Solves, live: Live | None, puzzle_seconds: float) -> None:
        self._solves = solves
        self._live = live
        self._seconds = puzzle_seconds
        self._reading = asyncio.Semaphore(2)  # files are read in threads, and one may take seconds
        self._readers = 0

    def facts(self, _: Request) -> Response:
        """What the page has to know."""
        return _json(
            {
                "longest_side": LONGEST_SIDE,
                "most_bytes": MOST_BYTES,
                "puzzle_seconds": self._seconds,
                "formats": [
                    {"name": one.name, "description": one.description, "extension": one.extensions[0]}
                    for one in formats()
                ],
                "samples": sample_names(),
                "sets": [one.name for one in official_sets().values() if state_of(one) is State.HERE],
                "live": self._live is not None,
            }
        )

    async def _found(self, request: Request, find: Callable[..., Findings], *arguments: Any) -> Response:
        """Return what a thread finds in a file or a set."""
        if self._readers >= MOST_READERS:
            raise _BadError("too many files wait to be read already; try again in a moment", 503)

        async def in_turn() -> Findings:
            async with self._reading:
                return await run_in_threadpool(find, *arguments)

        self._readers += 1
        try:
            return _json(await _while_there(request, in_turn()))
        finally:
            self._readers -= 1

    async def read(self, request: Request) -> Response:
        """The puzzles of a text, a file or a picture."""
        data, number = await request.body(), _number(request, "number", 1)
        width = _number(request, "width", None, LONGEST_SIDE)
        invert = "invert" in request.query_params
        return await self._found(request, found_in_file, data, number or 1, width, invert)

    async def sample(self, request: Request) -> Response:
        """One of the samples."""
        return _json(await run_in_threadpool(found_in_file, sample_text(), _number(request, "number", 1) or 1))

    async def of_set(self, request: Request) -> Response:
        """A puzzle of an official or a generated set."""
        name, number = request.query_params.get("name", ""), _number(request, "number", 1) or 1
        return await self._found(request, found_in_set, name, number)

    async def _ask(
        self, request: Request, asked: Asked, patience: float, do: str, **numbers: Any
    ) -> dict[str, Any]:
        """Return what the bot says about the board."""
        try:
            work = self._solves.ask(asked.tab[:64], asked.board.asked(do, **numbers), patience)
            answer = await _while_there(request, work)
        except BusyError as error:
            raise _BadError(str(error), 503) from None
        except LateError as error:
            raise _BadError(f"no answer: {error}", 504) from None
        if "error" in answer:
            raise _BadError(answer["error"])
        return answer

    async def _search(self, request: Request, asked: Asked, do: str, **numbers: Any) -> dict[str, Any]:
        return await self._ask(request, asked, self._seconds, do, seconds=self._seconds, **numbers)

    async def _checked(self, request: Request) -> Asked:
        asked = await _asked(request)
        _record(asked.board)
        return asked

    async def solve(self, request: Request) -> Response:
        """The verdict on a board, with up to two solutions, or the lines that contradict."""
        asked = await self._checked(request)
        answer = await self._search(request, asked, "solve", solutions=asked.solutions)
        if answer["verdict"] == "unsolvable":
            answer["conflict"] = await self._ask(request, asked, LINE_SECONDS, "conflict")
            if asked.board.cells:
                asked.board.cells = None
                answer["without_start"] = (await self._search(request, asked, "solve", solutions=2))["verdict"]
        return _json(answer)

    async def steps(self, request: Request) -> Response:
        """The moments of a solve."""
        asked = await self._checked(request)
        return _json(await self._search(request, asked, "steps", most=MOST_STEPS))

    async def hint(self, request: Request) -> Response:
        """The next line that tells something, as the board of `cells` is."""
        asked = await self._checked(request)
        asked.board.cells = asked.cells
        _record(asked.board)
        return _json(await self._ask(request, asked, LINE_SECONDS, "hint"))

    async def check(self, request: Request) -> Response:
        """Whether the cells that somebody set are still right, and which are not."""
        asked = await self._checked(request)
        given, asked.board.cells = asked.board.cells, asked.cells
        record = _record(asked.board)
        answer = await self._search(request, asked, "solve", solutions=1)
        if answer["solutions"]:
            return _json({"right": True, "wrong": []})
        if answer["verdict"] == "unknown":
            return _json({"right": None, "wrong": []})
        asked.board.cells = given
        found = await self._search(request, asked, "solve", solutions=2)
        if record.start is None or not found["solutions"]:
            return _json({"right": None, "wrong": []})
        cells = asked.cells or ""
        wrong = min(
            (
                [index for index, cell in enumerate(cells) if cell not in ("?", solution[index])]
                for solution in found["solutions"]
            ),
            key=len,
        )
        return _json({"right": False, "wrong": wrong, "only": found["verdict"] == "unique"})

    async def write(self, request: Request) -> Response:
        """The puzzle in a format, or its picture."""
        asked = await self._checked(request)
        return await run_in_threadpool(_written, asked)

    async def live_events(self, request: Request) -> Response:
        """What is in the folder of results, again whenever it changes."""
        if self._live is None:
            raise _BadError("no folder of results is shown: nonojudge page --results FOLDER", 404)
        if not self._live.has_room:
            raise _BadError("too many tabs watch already", 503)
        return StreamingResponse(self._live.events(), media_type="text/event-stream")

    async def cactus(self, request: Request) -> Response:
        """The sorted times of a set's runs, as a picture."""
        svg = self._live and await self._live.cactus(request.path_params["key"])
        if not svg:
            raise _BadError("there is no such plot", 404)
        policy = "default-src 'none'; style-src 'unsafe-inline'"  # a picture: it loads nothing and runs nothing
        return Response(svg, media_type="image/svg+xml", headers={"content-security-policy": policy})


def _record(board: Board) -> Any:
    try:
        return board.record
    except UnusableError as error:
        raise _BadError(str(error)) from None


def _written(asked: Asked) -> Response:
    record = asked.board.record
    if asked.format in ("svg", "png"):
        picture = Picture(record.puzzle, None if asked.cells is None else _cells(asked))
        cell = max(2, min(24, MOST_PICTURE_PIXELS // max(record.size)))
        scene = scene_of(picture, cell=cell, clues=cell >= SMALLEST_CELL_WITH_CLUES)
        theme = DARK if asked.dark else LIGHT
        if asked.format == "svg":
            return Response(svg_of(scene, theme), media_type="image/svg+xml")
        try:
            return Response(png_of(scene, theme), media_type="image/png")
        except UnusableError as error:
            raise _BadError(str(error)) from None
    form = asked.format
    if form == "link":  # in few characters, where that says all; without the solution
        record = Record(record.puzzle, record.start, None, record.title, record.author)
        form = "oneline" if record == Record(record.puzzle) else "grid"
    try:
        written = write([record], form)
    except FormatError as error:
        raise _BadError(str(error)) from None
    if not written.count:
        raise _BadError("; ".join(map(str, written.faults)))
    return Response(written.data, media_type="text/plain; charset=utf-8")


def _cells(asked: Asked) -> Any:
    try:
        return cells_from_text(asked.cells or "", asked.board.record.size)
    except ValueError as error:
        raise _BadError(str(error)) from None
