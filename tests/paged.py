"""The page's server as a process of its own, and what is sent to it, for tests."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.talking import PATIENCE_SECONDS

# Nothing is compiled ahead for larger boards: the tests have no use for it.
START = """
import sys
from nonobot.harness import cli
from nonobot.harness.page import solves
solves.WIDER_SIDES = ()
sys.exit(cli.run(["page", "--no-browser", *sys.argv[1:]]))
"""


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """A running page; a context manager that ends it as Ctrl-C does."""

    def __init__(self, *options: str, folder: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout
        self.address = self.process.stdout.readline().split()[1]
        self.port = urlsplit(self.address).port

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGINT)
        self.out, self.err = self.process.communicate(timeout=PATIENCE_SECONDS)

    def ask(self, path: str, body: bytes | dict[str, Any] | None = None, **headers: str) -> Answer:
        """Send a request, a POST if there is a body; names of headers have `_` for `-`."""
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request("GET" if data is None else "POST", path, data, named)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def told(self, what: str, board: dict[str, Any], **question: Any) -> Any:
        """Return the answer to a question about a board."""
        answer = self.ask(f"/api/{what}", {"board": board, **question})
        assert answer.status == 200, answer
        return answer.json
