"""The events of the live view: how often the folder is read, when browsers get its state; plots, drawn once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from nonobot.harness.live.browser_state import COLOURS, SECONDS_BETWEEN_LOOKS, Shown, shown_now
from nonobot.harness.report.contents import Run
from nonobot.harness.report.plot_frame import drawing
from nonobot.harness.report.plots import cactus
from nonobot.system import forget_read

MOST_WATCHERS = 32
SECONDS_BETWEEN_WORDS = 15.0  # by which the server notices that a browser has gone


class Live:
    """A folder of results that browsers watch; the server counts the `watchers`."""

    def __init__(self, folder: Path, note: str = "") -> None:
        self._folder = folder
        self._shown = self._before = Shown(note=note)
        self._svgs: dict[str, bytes] = {}  # of the plots that are shown, as far as a browser has asked
        self._looked = -SECONDS_BETWEEN_LOOKS
        self._looking = asyncio.Lock()
        self._drawing = asyncio.Lock()
        self.watchers = 0

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the state of the folder as server-sent events: at once, and whenever it changes."""
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

    async def cactus(self, key: str) -> bytes | None:
        """Return the plot that a state names by this key, None if the last two states do not."""
        await self._look()
        plots = {plot.key: plot for look in (self._before, self._shown) for plot in look.plots.values()}
        # One at a time: matplotlib's settings are shared, and its import leaves the working folder for a moment.
        async with self._drawing, self._looking:
            if key not in self._svgs and key in plots:
                svg = await run_in_threadpool(_drawn, plots[key].runs)
                self._svgs = {kept: svg for kept, svg in self._svgs.items() if kept in plots} | {key: svg}
            return self._svgs.get(key)

    async def _look(self) -> Shown:
        """Read the folder, at most once a second, however many browsers watch."""
        async with self._looking:
            now = asyncio.get_running_loop().time()
            if now - self._looked >= SECONDS_BETWEEN_LOOKS:
                self._before = self._shown
                self._shown = await run_in_threadpool(shown_now, self._folder, self._before)
                forget_read()  # it goes on for days, and replaces no file
                self._looked = asyncio.get_running_loop().time()
            return self._shown


def _drawn(runs: Sequence[Run]) -> bytes:
    """Return the plot of sorted times as a picture of its own, for light and dark."""
    with drawing():
        svg = cactus(runs, "cactus")
    light, dark = ("".join(f"--{name}:{pair[theme]};" for name, pair in COLOURS.items()) for theme in (0, 1))
    style = f":root{{{light}font-family:system-ui,sans-serif;font-size:11px}}"
    style += f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    head, _, body = svg.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{style}</style>{body}'.encode()
