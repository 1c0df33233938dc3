"""A real browser for the tests: an installed Chromium without a window, driven by playwright."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--hide-scrollbars")
PATIENCE_SECONDS = 60.0  # only to end a test whose browser hangs


def browser_command() -> str | None:
    """Return where a browser is that starts, or None: some systems have a stub that tells how to install one."""
    return next(filter(_starts, filter(None, map(shutil.which, NAMES))), None)


def _starts(command: str) -> bool:
    done = subprocess.run([command, "--version"], capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    return done.returncode == 0


class Browser:
    """A browser with one empty tab, `page`; a context manager that leaves no process behind.

    Attributes
    ----------
    requests : list of Request
        What the page asked for since it was opened.
    complaints : list of str
        Errors and warnings of the browser, exceptions and text on the console since the page was opened.
    """

    def __init__(self, command: str) -> None:
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(executable_path=command, args=OPTIONS)
        self.page = self._browser.new_page()
        self.page.set_default_timeout(1000 * PATIENCE_SECONDS)
        self._session = self.page.context.new_cdp_session(self.page)
        self.requests: list[Any] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._browser.close()
        self._playwright.stop()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a request of the DevTools protocol, for whatever playwright does not offer."""
        return self._session.send(method, parameters)

    def open(self, place: Path | str) -> None:
        """Open a file, or an address, and wait until it is shown."""
        self.requests.clear()
        self.complaints.clear()
        self.page.goto(place if isinstance(place, str) else place.resolve().as_uri())

    def shape(self, width: int, dark: bool = False, height: int = 900, ratio: float = 1) -> None:
        """Make the window that wide, in CSS pixels of `ratio` pixels of the device, and choose a theme."""
        self.page.set_viewport_size({"width": width, "height": height})
        metrics = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": width < 600}
        self.ask("Emulation.setDeviceMetricsOverride", **metrics)
        self.page.emulate_media(color_scheme="dark" if dark else "light")

    def keep(self, name: str) -> None:
        """Keep a picture of the page in the folder that NONOBOT_SCREENSHOTS names, if it names one."""
        if folder := os.environ.get("NONOBOT_SCREENSHOTS"):
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression on the page."""
        return self.page.evaluate(expression)

    def wait_for(self, expression: str) -> Any:
        """Return the value of a JavaScript expression once it is true."""
        until = (
            time.monotonic() + PATIENCE_SECONDS
        )  # playwright's own `wait_for_function` breaks the page's policy
        while not (value := self.value(expression)):
            assert time.monotonic() < until, f"it never came true: {expression}"
            self.value("new Promise(requestAnimationFrame)")
        return value
