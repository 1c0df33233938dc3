"""The addresses of the page: the files for the browser, and the questions that it may ask."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from nonobot.harness.errors import UnusableError
from nonobot.harness.page.boards import (
    LONGEST_SIDE,
    Board,
    Selection,
    puzzle_of_file,
    puzzle_of_set,
    sample_names,
    sample_text,
)
from nonobot.harness.page.live import Live
from nonobot.harness.page.solves import BusyError, LateError, Solves
from nonobot.harness.pictures.drawings import png_of
from nonobot.protocol import Record
from nonobot.protocol.formats import MOST_BYTES, FormatError, formats, write
from nonobot.protocol.scene import SMALLEST_CELL_WITH_CLUES, Picture, scene_of
from nonobot.protocol.svg import DARK, LIGHT, svg_of
from nonobot.tournament_data.registry import State, official_sets, state_of

STATIC = Path(str(files("nonobot.harness.page") / "static"))

LINE_SECONDS = 30.0
"""Limit of the bot where it looks at single lines only."""

MOST_STEPS = 4000

MOST_READERS = 22
"""Files being read, and those that wait for it."""

MOST_PICTURE_PIXELS = 2000
"""The longer side of a picture to take away."""

T = TypeVar("T")


class Question(msgspec.Struct):
    """A question of a browser's tab about a board.

    Attributes
    ----------
    cells : str or None
        The cells that the user has set, as in a board.
    solutions : int
        Solutions to look for: 1, which is quick, or 2, which show whether there is only one.
    format : str
        The format to write: its name, `svg`, `png` or `link`.
    """

    board: Board
    tab: str = ""
    cells: str | None = None
    solutions: Literal[1, 2] = 2
    format: str = ""
    dark: bool = False


def make_app(solves: Solves, live: Live | None, puzzle_seconds: float, on_ready: Callable[[], None]) -> Starlette:
    """Return the application, which starts and closes `solves`; `on_ready` is called once it can be reached."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        solves.start()
        on_ready()
        try:
            yield
        finally:
            await solves.close()

    page = _Page(solves, live, puzzle_seconds)
    routes = [
        Route("/", lambda _: FileResponse(STATIC / "index.html")),
        Route("/live", lambda _: FileResponse(STATIC / "live.html")),
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


def _number(request: Request, name: str, default: int | None, most: int = 10**9) -> int | None:
    text = request.query_params.get(name, "")
    if not text:
        return default
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
        data, number = await request.body(), _number(request, "number", 1)
        width = _number(request, "width", None, LONGEST_SIDE)
        return await self._selected(request, puzzle_of_file, data, number, width, "invert" in request.query_params)

    async def sample(self, request: Request) -> Response:
        """Return one of the samples."""
        return _json(await run_in_threadpool(puzzle_of_file, sample_text(), _number(request, "number", 1) or 1))

    async def of_set(self, request: Request) -> Response:
        """Return a puzzle of an official or a generated set."""
        name = request.query_params.get("name", "")
        return await self._selected(request, puzzle_of_set, name, _number(request, "number", 1))

    async def _question(self, request: Request) -> Question:
        """Return the question of a request, its board checked."""
        try:
            question = msgspec.json.decode(await request.body(), type=Question)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise UnusableError(f"not a request of the page: {error}") from None
        _ = question.board.record
        return question

    async def _ask(self, request: Request, question: Question, do: str, **numbers: Any) -> dict[str, Any]:
        """Return the answer of the bot about the board; it searches with `numbers`, otherwise looks at lines."""
        if numbers:
            numbers["seconds"] = self._seconds
        asked = question.board.request(do, **numbers)
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
        """Return the steps of a solve."""
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
        if answer["verdict"] == "unknown":
            return _json({"right": None, "wrong": []})
        question.board.cells = given
        answer = await self._ask(request, question, "solve", solutions=2)
        if not has_cells or not answer["solutions"]:
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
        if not self._live.has_room:
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
    cells = None if record.start is None else record.start.cells
    cell = max(2, min(24, MOST_PICTURE_PIXELS // max(record.size)))
    scene = scene_of(Picture(record.puzzle, cells), cell=cell, clues=cell >= SMALLEST_CELL_WITH_CLUES)
    theme = DARK if question.dark else LIGHT
    if question.format == "svg":
        return Response(svg_of(scene, theme), media_type="image/svg+xml")
    return Response(png_of(scene, theme), media_type="image/png")
