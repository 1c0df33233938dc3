"""A tab of any browser, and what a person sees on the page of puzzles in it."""

from __future__ import annotations

import subprocess
import time
from typing import Any

from tests.helpers.waiting import told

PATIENCE_SECONDS = 60.0  # only to end a test whose browser hangs


class Tab:
    """A tab of a browser: Chromium's is in tests/helpers/browser.py, Firefox's in tests/helpers/firefox.py.

    Waits end with the process that serves the page, if it is one of a test.
    """

    served_by: subprocess.Popen[str] | None = None

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

    # The page of puzzles

    def paste(self, text: str) -> str:
        """Paste a text in place of what is there, and return the verdict on it."""
        self.value("document.querySelector('#verdict').dataset.verdict = 'none'")
        self.value("document.querySelector('#text').focus(), document.querySelector('#text').select()")
        self.insert(text)
        return self.verdict()

    def insert(self, text: str) -> None:
        raise NotImplementedError

    def verdict(self) -> str:
        return self.wait_for(
            """(() => { const box = document.querySelector('#verdict'), kind = box.dataset.verdict;
            if (box.ariaBusy === 'true') return false; // it still speaks of the puzzle before
            return ['unique', 'multiple', 'unsolvable', 'unknown', 'fault'].includes(kind) && kind; })()"""
        )
