"""The page as a site on a plain web server, and as `nonojudge page` serves it, for tests."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import AbstractContextManager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from nonobot.bot.kernels.shipped import wasm_kernels
from nonobot.harness import UnusableError
from nonobot.harness.page.pyodide import pyodide_folder
from tests.helpers.waiting import PATIENCE_SECONDS, finished, next_line

PAGE = (sys.executable, "-m", "nonobot.harness", "page")
PUZZLE_LIMIT = ("--puzzle-limit", "5")


def skip_without_browser_parts() -> None:
    """Skip a test if the site cannot be written here."""
    if not wasm_kernels():
        pytest.skip("no kernels for browsers: `python -m tools.release.level_kernels` makes them, with lld")
    try:
        pyodide_folder()
    except UnusableError as error:
        pytest.skip(str(error))


def export(folder: Path, data: Path | None = None) -> str:
    """Write the site into a folder, with the official sets of a data folder; return what is printed."""
    environment = os.environ | ({} if data is None else {"NONOBOT_DATA": str(data)})
    command = [*PAGE, "--export", str(folder), *PUZZLE_LIMIT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


class Sent(NamedTuple):
    path: str
    status: int


class _Handler(SimpleHTTPRequestHandler):
    """Python's own handler of files, which notes what it sends in place of printing it."""

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        assert isinstance(self.server, _Files)
        self.server.sent.append(Sent(self.path, int(code)))

    def log_message(self, *_: Any) -> None:
        pass


class _Files(ThreadingHTTPServer):
    daemon_threads = True
    sent: list[Sent]


class PlainServer(AbstractContextManager):
    """The site on a server of files, as `python -m http.server`; a context manager. `sent` has all its answers."""

    def __init__(self, site: Path, port: int = 0) -> None:
        self._server = _Files(("127.0.0.1", port), partial(_Handler, directory=str(site)))
        self.sent = self._server.sent = []
        self.port = self._server.server_port
        self.address = f"http://127.0.0.1:{self.port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server(AbstractContextManager):
    """A running `nonojudge page`; a context manager that ends it as Ctrl-C does."""

    def __init__(self, *options: str, folder: Path | None = None, data: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [*PAGE, "--no-browser", "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=os.environ | {"PYTHONUNBUFFERED": "1"} | ({} if data is None else {"NONOBOT_DATA": str(data)}),
        )
        try:
            self.address = next_line(self.process).split()[1]
        except AssertionError:
            finished(self.process)
            raise
        self.port = urlsplit(self.address).port

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGINT)
        self.out, self.err = finished(self.process)

    def ask(self, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send a request, a POST if there is a body; names of headers have `_` for `-`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request("GET" if body is None else "POST", path, body, named)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()
