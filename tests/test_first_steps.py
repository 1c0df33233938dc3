"""docs/first-steps.md: every command shows what the page says, but for times and what the machine is.

    python -m tests.test_first_steps        writes the page anew, with what the commands show now

The commands are carried out as somebody types them on a terminal.
Every block ```console has lines `$ command`, each followed by what it shows. A block ```text FILE is a file that
readers write themselves. All is done in a folder of its own, with the sample puzzle in it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.terminals import Terminal, seen

PAGE = Path(__file__).parent.parent / "docs" / "first-steps.md"
SAMPLE = PAGE.parent / "samples" / "robot.non"
COLUMNS, LINES = 90, 50

OF_THE_MACHINE = ("nonojudge: the machine was busy", "nonojudge: bots are not contained", "contained: ")
MEASURED = r"\d[\d.,]*(?: (?:s|ms|µs|MB|%)\b|(?: %))"


class Step(NamedTuple):
    """A command and what it showed."""

    command: str
    shown: str


def steps_of(block: str) -> list[Step]:
    """Return the commands of a block with what stands behind each."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    assert not parts[0], f"a block begins with a command, not with {parts[0]!r}"
    return [Step(command, shown) for command, shown in zip(parts[1::2], parts[2::2], strict=True)]


def shown_by(command: str, folder: Path) -> str:
    """Carry a command out in a folder, on a terminal; return what stands there then."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {"NO_COLOR": "1", "PATH": path}
    with Terminal(
        ["bash", "-c", f"cd '{folder}' && {command}"], COLUMNS, LINES, environment, errors_too=True
    ) as terminal:
        _, written, _ = terminal.end()
    return on_terminal(written)


def on_terminal(text: str) -> str:
    """Return what a terminal shows of a text: spaces for tabs, among others."""
    lines = seen("\r\n".join(text.splitlines()), COLUMNS) if text.strip() else []
    return "".join(f"{line}\n" for line in lines)


def carried_out(page: str) -> Iterator[tuple[Step, str]]:
    """Yield each command of a page with what it is said to show, and what it shows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(SAMPLE, folder)
        for kind, file, block in re.findall(
            r"^```(console|text)(?: (\S+))?\n(.*?)^```", page, re.MULTILINE | re.DOTALL
        ):
            if kind == "text":
                (folder / file).write_text(block, encoding="utf-8")
                continue
            for step in steps_of(block):
                yield step, shown_by(step.command, folder)


def main() -> None:
    """Write the page anew."""
    page = PAGE.read_text(encoding="utf-8")
    written, rest = "", page
    for step, shown in carried_out(page):
        before, rest = rest.split(f"$ {step.command}\n{step.shown}", 1)
        same = shown == on_terminal(step.shown)  # the page keeps its tabs
        written += f"{before}$ {step.command}\n{step.shown if same else shown}"
    PAGE.write_text(written + rest, encoding="utf-8")


def plain(shown: str) -> str:
    """Return a text without what differs from machine to machine."""
    lines = [line for line in shown.splitlines() if not line.startswith(OF_THE_MACHINE)]
    text = "\n".join(re.sub(MEASURED, "…", line).rstrip() for line in lines)
    text = re.sub(r"slowest: .*", "slowest: …", text)
    return re.sub(r"run-\w+\.\w+\.json", "run-….json", text)


def test_what_is_measured_is_not_compared():
    assert plain("wall 970 ms, CPU 1.2 s, 3 right\nresults/run-20261122T09.79Z.json") == (
        "wall …, CPU …, 3 right\nresults/run-….json"
    )


def test_a_block_is_commands_with_what_they_show():
    assert steps_of("$ a b\nx\ny\n$ c\n") == [Step("a b", "x\ny\n"), Step("c", "")]


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_every_command_shows_what_the_page_says():
    page = PAGE.read_text(encoding="utf-8")
    count = 0
    for step, shown in carried_out(page):
        assert plain(shown) == plain(on_terminal(step.shown)), step.command
        count += 1
    assert count >= 8


if __name__ == "__main__":
    main()
