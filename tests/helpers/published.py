"""A registry of two small sets and a server on this machine that publishes them, well or badly."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nonobot.tournament_data import generate, registry, write_set


def question_file(seed: int, count: int = 400) -> bytes:
    """Return a question file of 5x5 boards, longer than what a transfer moves at once."""
    file = io.BytesIO()
    write_set(generate(5, count, seed=seed), file)
    return file.getvalue()


CONTENTS = {"taai2011": question_file(1), "tcga2012": question_file(2).replace(b"\n", b"\r\n")}
SETS = {f"{name}.txt": content for name, content in CONTENTS.items()}


def registry_text(base: str) -> str:
    """Return a registry of the sets in CONTENTS, published at `base`/HEAD/question/NAME.txt."""
    lines = [f'repository = "{base}"']
    for name, content in CONTENTS.items():
        lines += [f"[{name}]", f'event = "{name[:4].upper()}"', f"year = {name[4:]}", "puzzles = 400", "side = 5"]
        lines += [f'sha256 = "{hashlib.sha256(content).hexdigest()}"', "p1 = 0.5", "p2 = 0.35"]
    return "\n".join(lines)


@contextlib.contextmanager
def small_registry(folder: Path, patch: pytest.MonkeyPatch, base: str = "http://127.0.0.1:9") -> Iterator[Path]:
    """Replace the registry by that of the small sets; yield the path of an own data folder, not made yet."""
    (folder / "registry.toml").write_text(registry_text(base))
    patch.setattr(registry, "_FILE", folder / "registry.toml")
    patch.setenv("NONOBOT_DATA", str(folder / "deep" / "sets"))
    registry.official_sets.cache_clear()
    yield folder / "deep" / "sets"
    registry.official_sets.cache_clear()


def judge_command(registry: Path, *arguments: str) -> list[str]:
    """Return a command line of `nonojudge` with another registry."""
    code = (
        "import sys; from pathlib import Path; from nonobot.tournament_data import registry; "
        "registry._FILE = Path(sys.argv.pop(1)); from nonobot.harness.__main__ import main; sys.exit(main())"
    )
    return [sys.executable, "-c", code, str(registry), *arguments]


class _Handler(BaseHTTPRequestHandler):
    """Behaves as the first folder of the path says."""

    released: threading.Event  # set at the end of a test: nobody waits any longer
    contents: Mapping[str, bytes]

    def do_GET(self) -> None:
        behaviour, *_, file_name = self.path.strip("/").split("/")
        content = self.contents.get(file_name)
        if behaviour == "dead":
            self.released.wait(60)
        elif behaviour == "missing" or content is None:
            self.send_error(404)
        elif behaviour == "broken":
            self.send_error(503)
        elif behaviour == "moved":
            self.send_response(302)
            self.send_header("Location", f"/good/{file_name}")
            self.end_headers()
        elif behaviour == "packed":
            self._send(gzip.compress(content), encoding="gzip")
        elif behaviour == "wrong":
            self._send(content[:-1] + bytes([content[-1] ^ 1]))
        elif behaviour == "cut":
            self._send(content[:2000], promised=len(content))
        elif behaviour == "silent-cut":  # nothing promised, so that only the digest tells
            self._send(content[:2000], promised=None)
        elif behaviour == "stuck":
            self._send(content[:2000], promised=len(content))
            self.released.wait(60)
        elif behaviour == "endless":
            self._send(b"", promised=None)
            with contextlib.suppress(ConnectionError):
                while not self.released.is_set():
                    self.wfile.write(content)
        elif behaviour == "trickling":
            self._send(b"", promised=len(content))
            for start in range(0, len(content), 5000):
                self.wfile.write(content[start : start + 5000])
                self.wfile.flush()
                self.released.wait(0.02)
        else:
            self._send(content)

    def _send(self, body: bytes, promised: int | None = -1, encoding: str | None = None) -> None:
        self.send_response(200)
        if promised is not None:
            self.send_header("Content-Length", str(len(body) if promised < 0 else promised))
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def server(contents: Mapping[str, bytes] = SETS) -> Iterator[str]:
    """Run the server and give its URL; `URL/BEHAVIOUR/taai2011.txt` is a file, whatever folders are between."""
    handler = type("Handler", (_Handler,), {"released": threading.Event(), "contents": contents})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        running.daemon_threads = True
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.server_port}"
        finally:
            handler.released.set()
            running.shutdown()
            thread.join()
