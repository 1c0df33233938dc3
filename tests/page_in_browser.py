"""Actions of a person on the page in a browser, and readings of its board, for tests."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the extra `page` is not installed")
pytest.importorskip("uvicorn", reason="the extra `page` is not installed")

from nonobot.protocol import Puzzle, Record
from nonobot.protocol.formats import write
from nonobot.tournament_data import load_set

ROBOT = (Path(__file__).parent.parent / "docs/samples/robot.non").read_text()
HEART = "1,1:5:5:3:1-2:4:4:4:2"
TWO = "1:1-1:1"
BLACK = (0x1F, 0x2B, 0x46)
RANDOM = load_set("boardgen:25x25x40:seed=7").puzzles[2].record


def oneline(puzzle: Puzzle) -> str:
    return write([Record(puzzle)], "oneline").data.decode().strip()


def text_of(browser, place: str) -> str:
    return browser.page.text_content(place)


def says(browser, place: str, text: str) -> None:
    """Wait until an element is visible and contains a text."""
    browser.page.locator(place, has_text=text).wait_for()


def change(browser, place: str, value: str) -> None:
    """Fill a field in and leave it."""
    browser.page.fill(place, value)
    browser.page.locator(place).blur()


def coloured(browser, *colour: int) -> int:
    """Return how many pixels of the canvas have about this colour (red, green, blue)."""
    return int((np.abs(picture(browser) - colour).max(axis=2) < 3).sum())


def paste(browser, text: str) -> str:
    """Paste a text in place of what is there, and return the verdict on it."""
    browser.value("document.querySelector('#verdict').dataset.verdict = 'none'")
    browser.value("document.querySelector('#text').focus(); document.querySelector('#text').select()")
    browser.page.keyboard.insert_text(text)
    return verdict(browser)


def verdict(browser) -> str:
    return browser.wait_for(
        """(() => { const kind = document.querySelector('#verdict').dataset.verdict;
        return ['unique', 'multiple', 'unsolvable', 'unknown', 'fault'].includes(kind) && kind; })()"""
    )


def focus_board(browser) -> None:
    """Go to the board as the keyboard does."""
    browser.value("document.querySelector('#zoom-in').focus()")
    browser.page.keyboard.press("Tab")
    if browser.value("document.activeElement.id") == "frame":  # a frame that scrolls is a stop of its own
        browser.page.keyboard.press("Tab")
    assert browser.value("document.activeElement.id") == "board"


def picture(browser) -> np.ndarray:
    """Return the canvas as it is, shape (height, width, 3)."""
    image = pytest.importorskip("PIL.Image")
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    url = browser.value("document.querySelector('#board').toDataURL()")
    return np.asarray(image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB")).astype(int)


def dark_cells(browser, width: int, height: int) -> list[list[int]]:
    """Return the black cells of a small board, 40 pixels each, read from its picture in light colours."""
    cells = picture(browser)[-2 - 40 * height : -2, -2 - 40 * width : -2]
    is_black = np.abs(cells - BLACK).max(axis=2) < 3
    return (is_black.reshape(height, 40, width, 40).mean(axis=(1, 3)) > 0.5).astype(int).tolist()
