"""Clusters of real `dask scheduler` and `dask worker` processes on 127.0.0.1, and tournaments to play on them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from nonobot.harness.results.result_files import read_result
from nonobot.harness.results.run_result import RunResult
from nonobot.tournament_data import Recipe, write_set
from tests.helpers.judged import SCRIPTED_BOT, verdicts
from tests.helpers.places import unfilled
from tests.helpers.waiting import AFTERWARDS_SECONDS, wait_until

RECIPES = [Recipe(5, 5, 5, seed=3), Recipe(4, 6, 5, seed=3), Recipe(6, 4, 5, seed=3), Recipe(3, 7, 5, seed=3)]
"""As many lines each, which is what the scripted bots count."""


def definition(folder: Path, bots: dict[str, str], recipes: list[Recipe] = RECIPES[:1], more: str = "") -> Path:
    """Write a tournament of scripted bots, given as name and behaviour, each of which knows the solutions.

    They run without walls: some kill their worker.
    """
    for recipe in recipes:
        size = f"{recipe.width}x{recipe.height}"
        with (folder / f"q-{size}.txt").open("wb") as questions, (folder / f"{size}.txt").open("wb") as answers:
            write_set(recipe.boards(), questions, answers)
    text = f'name = "small"\nsets = {json.dumps([str(recipe) for recipe in recipes])}\ncontain = "no"\n{more}\n'
    for name, behaviour in bots.items():
        command = [sys.executable, "-S", str(SCRIPTED_BOT), behaviour, f"{unfilled(folder)}/{{size}}.txt"]
        text += f'[[bots]]\nname = "{name}"\ncommand = {json.dumps(command)}\n'
    path = folder / "small.toml"
    path.write_text(text)
    return path


def outcomes(folder: Path) -> dict[str, tuple[list[str], str]]:
    """Return the verdicts and the end of each result in a folder, by the name of its file."""
    found = {path.name: read_result(path) for path in folder.glob("*.json")}
    runs = {name: result for name, result in found.items() if isinstance(result, RunResult)}
    return {name: (verdicts(result), result.end.reason.value) for name, result in runs.items()}


def ranking(text: str) -> list[list[str]]:
    """Return places, bots and counts of a ranking that was printed, without versions, times and warnings."""
    rows = [line.split() for line in text.splitlines()]
    return [row[:2] + row[3:5] for row in rows if len(row) > 4 and row[0].isdigit() and row[3].isdigit()]


def noted(path: Path) -> list[int]:
    """Return the process numbers that bots have noted."""
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


class Block:
    """A block of a test, for a thread that waits for what the block does."""

    def __init__(self) -> None:
        self.is_over = False

    def poll(self) -> int | None:
        return 0 if self.is_over else None

    def __str__(self) -> str:
        return "the block of the test"


@contextlib.contextmanager
def beside(work: Callable[[Block], None]) -> Iterator[None]:
    """Have something done in a thread while the block goes on, and see that it was."""
    block = Block()

    def interrupt(done: Future[None]) -> None:
        if done.exception() and not block.is_over:
            os.kill(os.getpid(), signal.SIGINT)  # the block may wait for it

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work, block)
        done.add_done_callback(interrupt)
        try:
            yield
        finally:
            block.is_over = True
            done.result()


class Cluster:
    """A scheduler and workers, started and killed as a test likes; all are gone once it is closed."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self._log = (folder / "cluster.log").open("wb")
        self.start_scheduler()

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            self.kill(process)
        self._log.close()

    def start_scheduler(self) -> None:
        _, _, port = self.address.rpartition(":")
        self.scheduler = self._started("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
        wait_until(self._answers, self.scheduler)

    def start_worker(self, *options: str, cwd: Path | None = None) -> None:
        """Start a worker, which has no nanny to start it again."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", *options)
        scratch = ("--local-directory", str(self._folder / "scratch"))
        self.workers.append(self._started("worker", self.address, *scratch, *options, cwd=cwd))

    def start_workers(self, count: int) -> None:
        for _ in range(count):
            self.start_worker()
        self.wait_for_workers(count)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        if process in self.workers:
            self.workers.remove(process)

    def wait_for_workers(self, count: int) -> None:
        from distributed import Client

        running = (self.scheduler, *self.workers)
        try:
            wait_until(self._answers, self.scheduler)
            with Client(self.address, timeout=AFTERWARDS_SECONDS, set_as_default=False) as client:
                wait_until(lambda: len(client.nthreads()) >= count, *running)
        except Exception as error:
            self._log.flush()
            raise AssertionError(Path(self._log.name).read_text()) from error

    def _answers(self) -> bool:
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", int(self.address.rpartition(":")[2]))) == 0

    def _started(self, *arguments: str, cwd: Path | None = None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments]
        return subprocess.Popen(command, stdout=self._log, stderr=self._log, cwd=cwd, start_new_session=True)


class SilentProxy:
    """A way to a scheduler that falls silent: after some connections, some bytes of each, or when it is told to.

    `is_silent` is set once somebody waits for an answer that does not come.
    """

    def __init__(self, scheduler: str, connections: int = sys.maxsize, bytes_each: int = sys.maxsize) -> None:
        self.is_silent = threading.Event()
        self._tells_nothing = False
        self._own = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._own.getsockname()[1]}"
        self._sockets = [self._own]
        port = int(scheduler.rpartition(":")[2])
        threading.Thread(target=self._accept, args=(port, connections, bytes_each), daemon=True).start()

    def fall_silent(self) -> None:
        """Pass on nothing from now on."""
        self._tells_nothing = True

    def close(self) -> None:
        for own in self._sockets:
            with contextlib.suppress(OSError):
                own.shutdown(socket.SHUT_RDWR)
            own.close()

    def _accept(self, port: int, connections: int, bytes_each: int) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._own.accept()
                self._sockets.append(client)
                if connections == 0:
                    self.is_silent.set()
                    continue
                connections -= 1
                scheduler = socket.create_connection(("127.0.0.1", port))
                self._sockets.append(scheduler)
                for source, sink, most in ((client, scheduler, sys.maxsize), (scheduler, client, bytes_each)):
                    threading.Thread(target=self._pass_on, args=(source, sink, most), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, most: int) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if self._tells_nothing:
                    self.is_silent.set()
                    return
                sink.sendall(data[:most])
                most -= len(data)
                if most <= 0:
                    self.is_silent.set()
                    return
            sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    found = Cluster(tmp_path)
    yield found
    found.close()
