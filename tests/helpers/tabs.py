"""A tab of any browser, and what a person sees on the page of puzzles in it."""

from __future__ import annotations

import base64
import io
import subprocess
import time
from typing import Any, Self

import numpy as np
import pytest

from tests.helpers.waiting import told

PATIENCE_SECONDS = 60.0  # only to end a test whose browser hangs
BLACK = (0x1F, 0x2B, 0x46)

Point = tuple[float, float]

SEEN = """[...document.querySelectorAll(%r)].some(
    (one) => one.checkVisibility() && one.textContent.replace(/\\s+/g, " ").includes(%r))"""
"""Whether an element is visible and contains a text."""


def points_of(first: Point, last: Point, moves: int) -> list[Point]:
    """Return the ends of so many moves along a straight line, and its beginning before them."""
    (x, y), (to_x, to_y) = first, last
    return [(x + (to_x - x) * move / moves, y + (to_y - y) * move / moves) for move in range(moves + 1)]


class Tab:
    """A tab of a browser: Chromium's is in tests/helpers/browser.py, Firefox's in tests/helpers/firefox.py.

    Waits end with the process that serves the page, if it is one of a test.
    """

    served_by: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression on the page, awaited if it is a promise."""
        raise NotImplementedError

    def wait_for(self, expression: str) -> Any:
        """Return the value of a JavaScript expression once it is true."""
        until = time.monotonic() + PATIENCE_SECONDS  # the page's policy forbids playwright's `wait_for_function`
        while not (value := self.value(expression)):
            self.check_server()
            assert time.monotonic() < until, f"it never came true: {expression}"
            self.value("new Promise(requestAnimationFrame)")
        return value

    def check_server(self) -> None:
        """Fail if the page's server has ended."""
        if self.served_by and self.served_by.poll() is not None:
            raise AssertionError(f"the page has lost its server; {told(self.served_by)}")

    def text_of(self, place: str) -> str:
        return self.value(f"document.querySelector({place!r}).textContent")

    def says(self, place: str, text: str) -> None:
        """Wait until an element is visible and contains a text."""
        self.wait_for(SEEN % (place, text))

    # What a visitor does: the browser makes events of it as of a real mouse, finger or keyboard.

    def open(self, place: Any) -> None:
        raise NotImplementedError

    def reload(self) -> None:
        raise NotImplementedError

    def shape(self, width: int, dark: bool = False, ratio: float = 1, height: int = 900) -> None:
        """Make the window that large, in CSS pixels of `ratio` pixels of the device, and choose a theme."""
        raise NotImplementedError

    def click(self, *places: str) -> None:
        raise NotImplementedError

    def point_at(self, x: float, y: float) -> None:
        """Move the mouse to a point of the window."""
        raise NotImplementedError

    def press(self, *keys: str) -> None:
        """Press keys by their names in events, with others held down: `Control+z`."""
        raise NotImplementedError

    def insert(self, text: str) -> None:
        """Put a text in place of the selection."""
        raise NotImplementedError

    def change(self, place: str, value: str) -> None:
        """Fill a field in and leave it."""
        raise NotImplementedError

    def drag(self, first: Point, last: Point, moves: int, by: str) -> None:
        """Drag the mouse or a finger (`by`) along a straight line, with so many moves."""
        raise NotImplementedError

    def touch_screen(self, is_touched: bool) -> None:
        """Make the screen one that fingers touch, or an ordinary one again, where it is not both."""

    def addresses(self) -> list[str]:
        """Return what the page has asked for since it was opened."""
        raise NotImplementedError

    def keep(self, name: str) -> None:
        """Keep a picture of the page, where the browser is one for that."""

    # The page of puzzles

    def paste(self, text: str) -> str:
        """Paste a text in place of what is there, and return the verdict on it."""
        self.value("document.querySelector('#verdict').dataset.verdict = 'none'")
        self.value("document.querySelector('#text').focus(), document.querySelector('#text').select()")
        self.insert(text)
        return self.verdict()

    def verdict(self) -> str:
        return self.wait_for(
            """(() => { const box = document.querySelector('#verdict'), kind = box.dataset.verdict;
            if (box.ariaBusy === 'true') return false; // it still speaks of the puzzle before
            return ['unique', 'multiple', 'unsolvable', 'unknown', 'fault'].includes(kind) && kind; })()"""
        )

    def focus_board(self) -> None:
        """Go to the board as the keyboard does."""
        self.value("document.querySelector('#zoom-in').focus()")
        self.press("Tab")
        if self.value("document.activeElement.id") == "frame":  # a frame that scrolls is a stop of its own
            self.press("Tab")
        assert self.value("document.activeElement.id") == "board"

    def picture(self) -> np.ndarray:
        """Return the board's canvas as it is, shape (height, width, 3)."""
        image = pytest.importorskip("PIL.Image")
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        url = self.value("document.querySelector('#board').toDataURL()")
        return np.asarray(image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB"), int)

    def coloured(self, *colour: int) -> int:
        """Return how many pixels of the canvas have about this colour (red, green, blue)."""
        return int((np.abs(self.picture() - colour).max(axis=2) < 3).sum())

    def dark_cells(self, width: int, height: int) -> list[list[int]]:
        """Return the black cells of a small board, 40 pixels each, read from its picture in light colours."""
        cells = self.picture()[-2 - 40 * height : -2, -2 - 40 * width : -2]
        is_black = np.abs(cells - BLACK).max(axis=2) < 3
        return (is_black.reshape(height, 40, width, 40).mean(axis=(1, 3)) > 0.5).astype(int).tolist()
