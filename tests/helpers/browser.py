"""A real browser for the tests, an installed Chromium without a window, and what a person does and sees in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from nonobot.protocol import Puzzle, Record
from nonobot.protocol.formats import write
from nonobot.tournament_data import load_set
from tests.helpers.places import REPOSITORY
from tests.helpers.tabs import PATIENCE_SECONDS, Point, Tab, points_of

if find_spec("playwright") is None:  # slow to import for each process that collects tests
    pytest.skip("playwright is not installed", allow_module_level=True)

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--hide-scrollbars")

ROBOT = (REPOSITORY / "docs/samples/robot.non").read_text()
HEART = "1,1:5:5:3:1-2:4:4:4:2"
TWO = "1:1-1:1"
RANDOM = load_set("boardgen:25x25x40:seed=7").puzzles[2].puzzle

in_both_browsers = pytest.mark.parametrize("browser", ["chromium", "firefox"], indirect=True)
"""A test that makes the events of a real mouse, finger and keyboard in each of the browsers."""

in_firefox_nightly = pytest.mark.parametrize(
    "browser", ["chromium", pytest.param("firefox", marks=pytest.mark.nightly)], indirect=True
)
"""A test of what the page keeps and how it is laid out, in Firefox only with -m nightly."""

GIVEN = """(() => { const data = new DataTransfer(); data.items.add(%s); %s
    const event = new %s("%s", {clipboardData: data, dataTransfer: data, bubbles: true, cancelable: true});
    return document.body.dispatchEvent(event); })()"""
"""A file that is pasted or dropped; false where the page has taken it."""


def oneline(puzzle: Puzzle) -> str:
    return write([Record(puzzle)], "oneline").data.decode().strip()


def browser_command() -> str | None:
    """Return where a browser is that starts, or None: some systems have a stub that tells how to install one."""
    for command in filter(None, map(shutil.which, NAMES)):
        if subprocess.run([command, "--version"], capture_output=True, timeout=PATIENCE_SECONDS).returncode == 0:
            return command
    return None


class Browser(Tab):
    """A browser with one empty tab, `page`; a context manager that leaves no process behind.

    Since the page was opened, `requests` has what it asked for, `complaints` errors, warnings and text on the
    console.
    """

    def __init__(self, command: str) -> None:
        from playwright.sync_api import sync_playwright

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

    def __exit__(self, *_: object) -> None:
        self._browser.close()
        self._playwright.stop()

    # Any page

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a request of the DevTools protocol, for whatever playwright does not offer."""
        return self._session.send(method, parameters)

    def open(self, place: Path | str) -> None:
        self.requests.clear()
        self.complaints.clear()
        self.page.goto(place if isinstance(place, str) else place.resolve().as_uri())

    def addresses(self) -> list[str]:
        return [request.url for request in self.requests]

    def reload(self) -> None:
        self.page.reload()

    def shape(self, width: int, dark: bool = False, ratio: float = 1, height: int = 900) -> None:
        size = {"width": width, "height": height}
        self.page.set_viewport_size(size)
        self.ask("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=ratio, mobile=width < 600)
        self.page.emulate_media(color_scheme="dark" if dark else "light")

    def keep(self, name: str) -> None:
        """Keep a picture of the page in the folder that NONOBOT_SCREENSHOTS names, if it names one."""
        if folder := os.environ.get("NONOBOT_SCREENSHOTS"):
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    def value(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def click(self, *places: str) -> None:
        for place in places:
            self.page.click(place)

    def point_at(self, x: float, y: float) -> None:
        self.page.mouse.move(x, y)

    def touch_screen(self, is_touched: bool) -> None:
        self.ask("Emulation.setTouchEmulationEnabled", enabled=is_touched)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def change(self, place: str, value: str) -> None:
        self.page.fill(place, value)
        self.page.locator(place).blur()

    def drag(self, first: Point, last: Point, moves: int, by: str) -> None:
        for step, (x, y) in enumerate(points_of(first, last, moves)):
            if by == "finger":
                kind = "touchMove" if step else "touchStart"
                self.ask("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y}])
            else:
                self.page.mouse.move(x, y)
                if not step:
                    self.page.mouse.down()
        if by == "finger":
            self.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        else:
            self.page.mouse.up()

    # The page of puzzles

    def insert(self, text: str) -> None:
        self.page.keyboard.insert_text(text)


def reload(visitor) -> None:
    visitor.reload()
    visitor.wait_for("document.documentElement.dataset.python === 'ready'")
    visitor.verdict()


def paint(visitor, *keys: str) -> None:
    visitor.click("[data-view='mine']")
    visitor.focus_board()
    visitor.press(*keys)
