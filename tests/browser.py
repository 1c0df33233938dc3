"""A real browser for the tests: Chromium without a window, spoken to over two pipes in its DevTools protocol.

https://chromedevtools.github.io/devtools-protocol/: a message is JSON and ends with a zero byte; a request has an
id and gets an answer with the same; what has no id is an event.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)

KEYS = {
    "Tab": ("Tab", 9),
    "Enter": ("Enter", 13),
    " ": ("Space", 32),
    "PageUp": ("PageUp", 33),
    "PageDown": ("PageDown", 34),
    "End": ("End", 35),
    "Home": ("Home", 36),
    "ArrowLeft": ("ArrowLeft", 37),
    "ArrowUp": ("ArrowUp", 38),
    "ArrowRight": ("ArrowRight", 39),
    "ArrowDown": ("ArrowDown", 40),
    "Delete": ("Delete", 46),
}
"""Keys that write nothing, or not what they are called: their codes, and their numbers on Windows."""

PATIENCE_SECONDS = 60.0
"""How long the browser may be silent before the test fails: against hanging for ever, not a measurement."""


def browser_command() -> str | None:
    """Return where a browser is that starts, or None: some systems have a stub that tells how to install one."""
    return next(filter(_starts, filter(None, map(shutil.which, NAMES))), None)


def _starts(command: str) -> bool:
    done = subprocess.run([command, "--version"], capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    return done.returncode == 0


class Browser:
    """A browser with one empty tab; a context manager that leaves no process behind.

    Parameters
    ----------
    command : str
    folder : Path
        Where it may keep its files; a fresh one.

    Attributes
    ----------
    events : list of dict
        What it reported without being asked.
    """

    def __init__(self, command: str, folder: Path) -> None:
        from_us, self._write = os.pipe()
        self._read, to_us = os.pipe()
        # The browser reads from 3 and writes to 4, whatever these are here.
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (from_us, to_us)]

        def place_ends() -> None:
            os.dup2(theirs[0], 3)
            os.dup2(theirs[1], 4)

        self._process = subprocess.Popen(
            [command, *OPTIONS, f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)},
            preexec_fn=place_ends,
            pass_fds=(3, 4),
            start_new_session=True,
        )
        for end in (from_us, to_us, *theirs):
            os.close(end)
        self._received = b""
        self._last_id = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(one for one in targets if one["type"] == "page")
        self._session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._write)
        os.close(self._read)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        self._last_id += 1
        request: dict[str, Any] = {"id": self._last_id, "method": method, "params": parameters}
        if self._session and not method.startswith("Target."):
            request["sessionId"] = self._session
        os.write(self._write, json.dumps(request).encode() + b"\0")
        while (message := self._next_message()).get("id") != self._last_id:
            self.events.append(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def _next_message(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE_SECONDS
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            received = os.read(self._read, 1 << 20) if ready else b""
            if not received:
                raise RuntimeError(f"the browser {'has ended' if ready else 'says nothing'}")
            self._received += received
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)

    def open(self, place: Path | str) -> None:
        """Open a file, or an address, and wait until it is shown."""
        self.events.clear()
        self.ask("Page.navigate", url=place if isinstance(place, str) else place.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next_message())

    def shape(self, width: int, dark: bool = False, height: int = 900, ratio: float = 1) -> None:
        """Make the window that wide, in CSS pixels of `ratio` pixels of the device, and choose a theme."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=ratio,
            mobile=width < 600,
        )
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[theme])

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression on the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> Any:
        """Return the value of a JavaScript expression once it is true."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not (found := self.value(expression)):
            if time.monotonic() >= until:
                raise RuntimeError(f"it never came true: {expression}")
            self.value("new Promise(requestAnimationFrame)")
        return found

    def press(self, key: str, *modifiers: str) -> None:
        """Press a key, as `KeyboardEvent.key` names it, and let it go; modifiers: Alt, Control, Meta, Shift."""
        held = sum(1 << ("Alt", "Control", "Meta", "Shift").index(name) for name in modifiers)
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code, number = KEYS.get(key, (key, 0))
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=code,
                windowsVirtualKeyCode=number or (ord(key.upper()) if len(key) == 1 else 0),
                modifiers=held,
                **({"text": text} if kind == "keyDown" and text and not held & 7 else {}),
            )

    def type(self, text: str) -> None:
        """Put a text where the focus is, all at once."""
        self.ask("Input.insertText", text=text)

    def click(self, x: float, y: float, to: tuple[float, float] | None = None, button: str = "left") -> None:
        """Press the mouse there, and let it go, there or, dragged, at `to`."""
        at = {"x": x, "y": y}
        end = at if to is None else {"x": to[0], "y": to[1]}
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", **at)
        self.ask("Input.dispatchMouseEvent", type="mousePressed", button=button, clickCount=1, **at)
        if to is not None:
            for part in (0.25, 0.5, 0.75, 1.0):
                between = {name: at[name] + part * (end[name] - at[name]) for name in at}
                self.ask("Input.dispatchMouseEvent", type="mouseMoved", button=button, buttons=1, **between)
        self.ask("Input.dispatchMouseEvent", type="mouseReleased", button=button, clickCount=1, **end)

    def screenshot(self, path: Path) -> None:
        """Keep a picture of the whole page as a PNG file."""
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def print_to(self, path: Path) -> None:
        """Print the page to a PDF file."""
        path.write_bytes(base64.b64decode(self.ask("Page.printToPDF", preferCSSPageSize=True)["data"]))

    def requests(self) -> list[str]:
        """Return the address of everything that the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """Return what the browser or the page reported: errors, warnings, exceptions, text on the console."""
        methods = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(event["params"]) for event in self.events if event["method"] in methods]
