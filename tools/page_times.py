"""The page's figures in real browsers, each with its bar: `python -m tools.page_times`, on an idle machine.

$NONOBOT_SETS names the folder with the official sets.
"""

from __future__ import annotations

import argparse
import gzip
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from nonobot.bot.kernels.shipped import wasm_kernels
from nonobot.harness.page.pyodide import pyodide_folder
from nonobot.tournament_data import load_set
from tests.helpers.browser import Browser, browser_command
from tests.helpers.firefox import Firefox, firefox_command
from tests.helpers.page_sets import right, solved_natively, solved_on_page, with_other_counts
from tests.helpers.paged import PlainServer, export

SETS = ("taai2011", "tcga2013")
STARTS = 9
READY = "document.documentElement.dataset.python === 'ready'"
VERDICT = "document.querySelector('#verdict').dataset.verdict === 'unique'"
SAMPLE = "#puzzle=1,1:5:5:3:1-2:4:4:4:2"

BARE = """<!doctype html><title>Pyodide</title><script type="module">
const begin = `import { loadPyodide } from "${new URL("pyodide/pyodide.mjs", location)}";
    await loadPyodide({ indexURL: "${new URL("pyodide/", location)}" });
    postMessage("ready");`;
const worker = new Worker(URL.createObjectURL(new Blob([begin], { type: "text/javascript" })), { type: "module" });
worker.onmessage = () => (document.documentElement.dataset.python = "ready");
</script>"""
"""A page that starts Pyodide in a worker, and nothing else."""


def main() -> None:
    """Measure, and print each figure with its bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    chromium, firefox = browser_command(), firefox_command()
    if not chromium or not firefox:
        parser.error("Chromium and Firefox are needed; install both")
    if "NONOBOT_SETS" not in os.environ:
        parser.error("$NONOBOT_SETS must name the folder with the official sets")
    kernels = sum(len(gzip.compress(file.read_bytes())) for file in wasm_kernels() if "Champion64" in file.name)
    print(f"kernels of 64 bits, gzip: {kernels / 1e3:.1f} kB (bar 50)")
    with tempfile.TemporaryDirectory() as folder:
        site, bare = Path(folder, "site"), Path(folder, "bare")
        export(site)
        _write_bare(bare)
        files = [path for path in site.rglob("*") if path.is_file() and "sets" not in path.parts]
        compressed = sum(len(gzip.compress(path.read_bytes(), 9)) for path in files)
        print(f"first visit, all files with gzip: {compressed / 1e6:.2f} MB (bar 7.5)")
        with PlainServer(site) as page, PlainServer(bare) as other:
            for name, start in (("Chromium", lambda: Browser(chromium)), ("Firefox", lambda: Firefox(firefox))):
                _starts(name, start, page.address, other.address)
                for set_name in SETS:
                    _set(name, start, page.address, set_name)


def _write_bare(folder: Path) -> None:
    (folder / "pyodide").mkdir(parents=True)
    (folder / "index.html").write_text(BARE)
    for path in pyodide_folder().iterdir():
        (folder / "pyodide" / path.name).write_bytes(path.read_bytes())


def _starts(name: str, start: Callable[[], Browser | Firefox], page: str, bare: str) -> None:
    """Print the time from navigation to the verdict and to bare Pyodide; new browsers, alternating."""
    times: dict[str, list[float]] = {"page": [], "bare": []}
    for number in range(STARTS):
        for kind, address, done in sorted(
            [("page", page + SAMPLE, VERDICT), ("bare", bare, READY)], reverse=bool(number % 2)
        ):
            with start() as browser:
                browser.open("about:blank")
                began = time.monotonic()
                browser.open(address)
                browser.wait_for(done)
                times[kind].append(time.monotonic() - began)
    page_s, bare_s = (statistics.median(times[kind]) for kind in ("page", "bare"))
    pairs = statistics.median(own / other for own, other in zip(times["page"], times["bare"], strict=True))
    print(f"{name}: start to verdict {page_s:.2f} s, bare Pyodide {bare_s:.2f} s, pairs {pairs:.2f} (bar 1.3)")


def _set(name: str, start: Callable[[], Browser | Firefox], address: str, set_name: str) -> None:
    """Print how a set is solved on the page, against the bot's CPU time just before and after."""
    puzzles = [
        puzzle.puzzle for puzzle in load_set(str(Path(os.environ["NONOBOT_SETS"], f"{set_name}.txt"))).puzzles
    ]
    before = solved_natively(puzzles)
    with start() as browser:
        browser.open(address)
        solved = solved_on_page(browser, puzzles)
    cpu = (before.cpu_seconds + solved_natively(puzzles).cpu_seconds) / 2
    others = with_other_counts(solved, before)
    print(
        f"{name}: {set_name} {right(puzzles, solved)} of {len(puzzles)} right, other counts: {others or 'none'}; "
        f"{solved.wall:.2f} s, in the solver {sum(solved.seconds):.2f} s, native CPU {cpu:.2f} s, "
        f"ratio {solved.wall / cpu:.2f} (bar 3.5)"
    )


if __name__ == "__main__":
    main()
