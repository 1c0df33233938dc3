"""The bot's processes behind the page: kept warm, asked a board at a time, killed when nobody waits any more.

A process that is late, or whose request was cancelled, is killed, and another takes its place. Waiting tabs are
served by turns: a tab with many boards holds up no other.

The owner of a process: `_start_one` until it is warm; `_hand_on` gives it to the next request, else to `_idle`. A
request has it until the answer is there or the asking has failed; then, whether or not anybody still wants the
answer, `_take_back` hands it on or has it replaced. Any code may kill it: then its asking fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import deque
from collections.abc import Coroutine
from typing import Any

import psutil

from nonobot.harness.page.boards import LONGEST_SIDE
from nonobot.harness.play.bot_command import OWN_BOT

COMMAND = (*OWN_BOT, "--dialogue")

MOST_WAITING, MOST_WAITING_OF_TAB = 400, 40
MOST_LINE_BYTES = 1 << 26  # of an answer: the steps of the largest boards have some 20 MB
MOST_MEMORY_BYTES = 600 << 20  # a process with more after an answer is replaced: large boards leave it large
SECONDS_TO_SPARE = 2.0  # beyond the limit in the request, before the process is killed

COMPILING_SECONDS = 180.0  # more, for a process that compiles: once for a width of boards and a machine

WARM_UP = tuple({"do": do, "rows": [[1], [1]], "columns": [[1], [1]]} for do in ("solve", "hint"))
"""Requests to a new process, so that its kernels are loaded before the first board."""

WIDER_SIDES = (126, LONGEST_SIDE)  # of boards with kernels of their own, up to the longest that the page takes


class BusyError(Exception):
    """Too many boards wait already; the message is one line."""


class LateError(Exception):
    """No answer in time, or the process has ended; the message is one line with the reason."""


class _Process:
    """One process of the bot, in a session of its own: a Ctrl-C is for the page, which ends it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.is_compiling = False

    @classmethod
    async def start(cls) -> _Process:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=pipe, stdout=pipe, limit=MOST_LINE_BYTES, start_new_session=True
        )
        return cls(process)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    @property
    def is_large(self) -> bool:
        try:
            return bool(psutil.Process(self.pid).memory_info().rss > MOST_MEMORY_BYTES)
        except psutil.Error:
            return True

    async def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer to a request; without one in `seconds`, kill the process and raise LateError."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            async with asyncio.timeout(seconds) as limit:
                self._process.stdin.write(json.dumps(request, separators=(",", ":")).encode() + b"\n")
                await self._process.stdin.drain()
                while True:
                    written = await self._process.stdout.readline()
                    if not written.endswith(b"\n"):
                        raise LateError("the bot ended")
                    answer: dict[str, Any] = json.loads(written)
                    self.is_compiling = "compiling" in answer
                    if not self.is_compiling:
                        return answer
                    line = f"nonojudge: the bot compiles {answer['compiling']}, once ..."
                    print(line, file=sys.stderr, flush=True)
                    limit.reschedule(asyncio.get_running_loop().time() + COMPILING_SECONDS)
        except TimeoutError:
            self.kill()
            raise LateError("the time is up") from None
        except (OSError, ValueError) as error:  # it is gone, or it wrote something else
            self.kill()
            raise LateError(f"the bot ended: {error}") from None

    def kill(self) -> None:
        """End it, with all that it started."""
        if self.is_alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Kill it, wait for its end, and close its pipe."""
        self.kill()
        await self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()


class Solves:
    """`count` processes of the bot, each with one board at a time, and the requests that wait for one."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._all: set[_Process] = set()
        self._idle: list[_Process] = []
        self._waiting: dict[str, deque[asyncio.Future[_Process]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def pids(self) -> list[int]:
        """The processes that are alive."""
        return [process.pid for process in self._all if process.is_alive]

    def start(self) -> None:
        """Begin to start the processes, one after the other, so that kernels are compiled once."""
        self._spawn(self._start_all())

    async def close(self) -> None:
        """End all processes."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(process.end() for process in self._all))

    async def ask(self, tab: str, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer of the bot to a request (docs/page.md); BusyError or LateError without one.

        A request that is cancelled while it waits gives up its place. While it is served, its process is killed,
        unless that compiles: the kernels will be needed again, so it goes on until the board's own time is up.
        Different tabs are served by turns. The bot has `seconds`, and a little more before it is killed.
        """
        process = await self._free(tab)
        asking = asyncio.ensure_future(process.ask(request, seconds + SECONDS_TO_SPARE))
        asking.add_done_callback(lambda task: self._take_back(process, task))
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            if not (asking.done() or process.is_compiling):  # done: another may have the process by now
                process.kill()
            raise

    async def _free(self, tab: str) -> _Process:
        """Return a process that has nothing to do, in the order of the tabs."""
        if self._idle and not self._waiting:
            return self._idle.pop()
        waiting = self._waiting.get(tab, ())
        if len(waiting) >= MOST_WAITING_OF_TAB or sum(map(len, self._waiting.values())) >= MOST_WAITING:
            raise BusyError("too many boards wait already; try again in a moment")
        place: asyncio.Future[_Process] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tab, deque()).append(place)
        try:
            return await place
        except asyncio.CancelledError:
            if not place.cancelled():  # it got a process, or an exception, in the same moment
                if not place.exception():
                    self._hand_on(place.result())
            elif (places := self._waiting.get(tab)) and place in places:
                places.remove(place)
                if not places:
                    del self._waiting[tab]
            raise

    def _hand_on(self, process: _Process) -> None:
        """Give a process to the next request: the tabs by turns, each in its order."""
        while self._waiting:
            tab = next(iter(self._waiting))
            places = self._waiting.pop(tab)
            place = places.popleft()
            if places:
                self._waiting[tab] = places  # behind the others
            if not place.done():
                place.set_result(process)
                return
        self._idle.append(process)

    def _take_back(self, process: _Process, asking: asyncio.Task[dict[str, Any]]) -> None:
        if asking.cancelled() or asking.exception() or process.is_large:
            process.kill()
            self._spawn(self._replace(process))
        else:
            self._hand_on(process)

    async def _replace(self, process: _Process) -> None:
        await self._end(process)
        await self._start_one()

    async def _end(self, process: _Process) -> None:
        await process.end()
        self._all.discard(process)

    async def _start_all(self) -> None:
        for _ in range(self._count):
            await self._start_one()
        await self._compile_ahead()

    async def _compile_ahead(self) -> None:
        """Have a process of low priority compile the kernels for larger boards, if need be."""
        process = await _Process.start()
        self._all.add(process)
        try:
            psutil.Process(process.pid).nice(19)
            for side in WIDER_SIDES:
                clues = [[1], [1], *[[]] * (side - 2)]  # two solutions: line logic does not settle it
                for request in WARM_UP:
                    await process.ask({**request, "rows": clues, "columns": clues}, 4 * COMPILING_SECONDS)
        except (LateError, psutil.Error):
            pass  # the request for such a board reports it
        finally:
            await self._end(process)

    async def _start_one(self) -> None:
        """Start a process and warm it up; if it does not start, fail all that wait."""
        if self._is_closed:
            return
        process = None
        try:
            process = await _Process.start()
            self._all.add(process)
            for request in WARM_UP:
                await process.ask(request, COMPILING_SECONDS)
            self._hand_on(process)
        except (LateError, OSError) as error:
            if process:
                await self._end(process)
            for places in self._waiting.values():
                for place in places:
                    if not place.done():
                        place.set_exception(LateError(f"the bot does not start: {error}"))
            self._waiting.clear()
            await asyncio.sleep(1.0)  # and again, but not as fast as the machine can
            self._spawn(self._start_one())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self._is_closed:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
