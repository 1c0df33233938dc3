"""How long the page takes: `python -m tests.page_times`. In Chromium, on an otherwise idle machine."""

from __future__ import annotations

import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil

from nonobot.harness.text import megabytes
from nonobot.protocol import Puzzle
from nonobot.tournament_data import load_set
from tests.browser import Browser, browser_command, oneline
from tests.paged import Server

# Pastes a text, and waits for the frame after the one in which a solution was drawn.
PASTE = """
new Promise(done => {
  const text = document.querySelector('#text'), verdict = document.querySelector('#verdict');
  verdict.dataset.verdict = 'none';
  text.value = %s;
  const began = performance.now();
  new MutationObserver((_, watch) => {
    if (!['unique', 'multiple', 'busy', 'unknown'].includes(verdict.dataset.verdict)) return;
    if (verdict.textContent.startsWith('Solving')) return;
    watch.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
  }).observe(verdict, {attributes: true, childList: true});
  text.dispatchEvent(new InputEvent('input', {inputType: 'insertFromPaste'}));
})
"""


def main() -> None:
    """Measure, and print what came of it."""
    command = browser_command()
    assert command, "no browser"
    random = [one.puzzle for one in load_set("boardgen:25x25x100:seed=7").puzzles]
    with Server() as server, Browser(command) as browser:
        browser.shape(1280)
        browser.open(server.address)
        for size, puzzles in (("25x25", random[:12]), ("200x200", map(_discs, range(12)))):
            times = [browser.value(PASTE % json.dumps(oneline(puzzle))) for puzzle in puzzles][2:]
            print(f"{size}: median {statistics.median(times):.0f} ms, {min(times):.0f} to {max(times):.0f}")
        boards = [{"rows": one.rows, "columns": one.columns} for one in random]
        before, began = _memory(server), time.monotonic()
        with ThreadPoolExecutor(100) as pool:
            answers = list(pool.map(lambda n: server.told("solve", boards[n], tab=str(n % 10)), range(100)))
        seconds, unknown = time.monotonic() - began, sum(one["verdict"] == "unknown" for one in answers)
        memory = f"memory {megabytes(before)}, then {megabytes(_memory(server))}"
        print(f"100 at once: {seconds:.1f} s, {unknown} unknown; {memory}")


def _discs(seed: int) -> Puzzle:
    """Return a 200x200 board of discs."""
    chance = np.random.default_rng(seed)
    y, x = np.mgrid[:200, :200]
    cells = np.zeros((200, 200), np.uint8)
    for _ in range(20):
        (cx, cy), radius = chance.integers(0, 200, 2), chance.integers(5, 40)
        cells[(x - cx) ** 2 + (y - cy) ** 2 < radius**2] = 1
    return Puzzle.from_grid(cells)


def _memory(server: Server) -> int:
    process = psutil.Process(server.process.pid)
    return sum(one.memory_info().rss for one in (process, *process.children(recursive=True)))


if __name__ == "__main__":
    main()
