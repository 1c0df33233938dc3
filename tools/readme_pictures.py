"""Pictures of the documents: `python -m tools.readme_pictures terminal`, `page`, `times DIR` or `opponents DIR`.

`terminal` records real commands as docs/images/terminal.svg, and `page` photographs the page in Chromium. `times`
solves the official sets in a folder, writes the figures to docs/images/set-times.json, and draws them with those
of two other programs. `opponents` photographs the report on the results of docs/samples/opponents.toml.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.text import Text

from tests.helpers.terminals import Terminal
from tools.generated_docs import REPOSITORY

IMAGES = REPOSITORY / "docs" / "images"
COLUMNS = 92
COMMANDS = (
    "nonobot docs/samples/robot.non",
    "nonojudge run --set boardgen:25x25x100:seed=7 --result run.json --force",
)

OTHERS = {"nonosolve": {"taai2011": 57, "tcga2015": 52}, "LalaFrogKK": {"taai2011": 520, "tcga2015": 743}}
"""CPU seconds, measured in November 2026 on an AMD EPYC as well."""


def record_terminal() -> None:
    """Draw what a terminal shows of the commands."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for command in COMMANDS:
        with Terminal(["bash", "-c", command], COLUMNS, 60, {"PATH": path}, errors_too=True) as terminal:
            _, written, _ = terminal.end()
        console.print(Text(f"$ {command}", "bold"))
        last = [line.rpartition("\r")[2] for line in written.replace("\r\n", "\n").split("\n")]  # without progress
        console.print(Text.from_ansi("\n".join(last)))
    Path("run.json").unlink(missing_ok=True)
    console.save_svg(str(IMAGES / "terminal.svg"), title="nonobot")


def measure_times(folder: Path) -> dict[str, dict[str, float]]:
    """Solve the official sets of a folder on one core; return their figures."""
    found = {}
    for questions in sorted(folder.glob("*.txt")):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with questions.open("rb") as given, Path("/dev/null").open("wb") as nowhere:
            command = [sys.executable, "-m", "nonobot", "--stats", "stats.jsonl"]
            subprocess.run(command, stdin=given, stdout=nowhere, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        lines = [json.loads(line) for line in Path("stats.jsonl").read_text().splitlines()]
        seconds = [line["seconds"] for line in lines]
        found[questions.stem] = {
            "solved": sum(line["status"] == "solved" for line in lines),
            "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
            "slowest_seconds": round(max(seconds), 2),
            "median_milliseconds": round(1e3 * statistics.median(seconds), 2),
        }
    Path("stats.jsonl").unlink()
    return found


def draw_times(times: dict[str, dict[str, float]]) -> None:
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "nonobot"
    figure, axes = plt.subplots(figsize=(8, 2.8), layout="constrained")
    names = list(times)
    axes.plot([times[name]["cpu_seconds"] for name in names], names, "o", ms=9, label="nonobot", color="#0a7d5a")
    for (bot, seconds), mark, colour in zip(OTHERS.items(), "sD", ("#777777", "#b0413e"), strict=True):
        axes.plot(list(seconds.values()), list(seconds), mark, ms=8, label=bot, color=colour)
    axes.set(xscale="log", xlim=(1, 1500), xlabel="CPU seconds for 1000 puzzles of 25x25, one core (logarithmic)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="center right", frameon=False)
    figure.savefig(IMAGES / "set-times.svg", metadata={"Date": None})


def photograph_page() -> None:
    """Photograph the page with a solve of the robot, stepped through to its middle."""
    from tests.helpers.browser import ROBOT, Browser, browser_command
    from tests.helpers.paged import Server

    with Server() as server, Browser(str(browser_command())) as browser:
        browser.shape(1120, height=1000)
        browser.open(server.address)
        browser.paste(ROBOT)
        browser.click("[data-view='steps']")
        last = browser.wait_for("Number(document.querySelector('#step-place').max)")
        for _ in range(int(last) // 2):
            browser.click("#step-next")
        browser.picture()
        save(browser.page.screenshot(), "page")


def photograph_report(results: str) -> None:
    """Photograph the top of the report on results, and the plots of the last set."""
    from tests.helpers.browser import Browser, browser_command

    with Browser(str(browser_command())) as browser, tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        command = [sys.executable, "-m", "nonobot.harness", "report", results, "-o", str(page)]
        subprocess.run([*command, "--title", "Reference solvers"], check=True)
        browser.shape(1200, height=1100)
        browser.open(page)
        save(browser.page.screenshot(), "report")
        top, bottom = browser.value(
            """(() => { const times = [...document.querySelectorAll("h3")]
                .filter(one => one.textContent === "Times").at(-1);
            const plot = [...document.querySelectorAll("figure")]
                .find(one => times.compareDocumentPosition(one) & 4);
            return [times.getBoundingClientRect().top, plot.getBoundingClientRect().bottom]; })()"""
        )
        clip = {"x": 0, "y": top - 10, "width": 1200, "height": bottom - top + 20}
        save(browser.page.screenshot(clip=clip, full_page=True), "opponents")


def save(png: bytes, name: str) -> None:
    Image.open(io.BytesIO(png)).quantize(200).save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", choices=["terminal", "page", "times", "opponents"])
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the official sets, or the opponents' results")
    arguments = parser.parse_args()
    if arguments.picture in ("times", "opponents") and arguments.folder is None:
        parser.error(f"{arguments.picture} needs DIR")
    if arguments.picture == "terminal":
        record_terminal()
    elif arguments.picture == "page":
        photograph_page()
    elif arguments.picture == "opponents":
        photograph_report(arguments.folder)
    else:
        measured = measure_times(Path(arguments.folder))
        (IMAGES / "set-times.json").write_text(json.dumps(measured, indent=1) + "\n")
        draw_times(measured)
