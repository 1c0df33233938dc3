"""The runs of a folder as the page shows them: looked at again and again, sent to who watches, plotted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from nonobot.harness.page.shown_runs import Shown, shown_now
from nonobot.harness.report.plot_frame import DARK_COLOURS, LIGHT_COLOURS, drawing
from nonobot.harness.report.plots import Series, cactus

__all__ = ["Live"]

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BETWEEN_WORDS = 15.0
"""A line goes to the browser at least as often: who has gone is noticed then."""

MOST_WATCHERS = 32


class Live:
    """A folder of results that is watched.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shown = Shown()
        self._svgs: dict[str, bytes] = {}  # of the plots that are shown, as far as somebody has asked
        self._looked = -SECONDS_BETWEEN_LOOKS
        self._looking = asyncio.Lock()
        self._drawing = asyncio.Lock()
        self._watchers = 0

    @property
    def has_room(self) -> bool:
        """Whether one more may watch."""
        return self._watchers < MOST_WATCHERS

    async def events(self) -> AsyncIterator[bytes]:
        """Yield what is in the folder as server-sent events: at once, and whenever it changes."""
        self._watchers += 1
        try:
            sent, quiet = None, 0.0
            while True:
                state = (await self._look()).state
                if state != sent:
                    sent, quiet = state, 0.0
                    yield f"data: {json.dumps(state)}\n\n".encode()
                elif quiet >= SECONDS_BETWEEN_WORDS:
                    quiet = 0.0
                    yield b": still here\n\n"
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
                quiet += SECONDS_BETWEEN_LOOKS
        finally:
            self._watchers -= 1

    async def cactus(self, key: str) -> bytes | None:
        """Return the plot that a state names by this key, None if it is shown no more."""
        plots = {plot.key: plot for plot in (await self._look()).plots.values()}
        async with self._drawing:  # one at a time: matplotlib's settings are everybody's
            if key not in self._svgs and key in plots:
                svg = await run_in_threadpool(_drawn, plots[key].series)
                self._svgs = {one: svg for one, svg in self._svgs.items() if one in plots} | {key: svg}
            return self._svgs.get(key)

    async def _look(self) -> Shown:
        """Look at the folder, at most once a second, however many watch."""
        async with self._looking:
            now = asyncio.get_running_loop().time()
            if now - self._looked >= SECONDS_BETWEEN_LOOKS:
                self._shown = await run_in_threadpool(shown_now, self._folder, self._shown)
                self._looked = asyncio.get_running_loop().time()
            return self._shown


_COLOURS = {
    "text": ("#20242c", "#e6e9ee"),
    "muted": ("#5b6470", "#a3acb8"),
    "axis": ("#8a94a2", "#6d7886"),
    "grid": ("#e3e7ec", "#2c333c"),
}


def _drawn(all_series: Sequence[Series]) -> bytes:
    """Return the plot of sorted times as a picture of its own, for light and dark."""
    with drawing():
        svg = cactus(all_series, "cactus")
    colours = _COLOURS | {
        f"bot-{hue}": pair for hue, pair in enumerate(zip(LIGHT_COLOURS, DARK_COLOURS, strict=True))
    }
    light, dark = ("".join(f"--{name}:{pair[at]};" for name, pair in colours.items()) for at in (0, 1))
    style = (
        f"<style>:root{{{light}font-family:system-ui,sans-serif;font-size:11px}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}</style>"
    )
    head, _, body = svg.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg">{style}{body}'.encode()
