"""docs/first-steps.md: every command shows what the page says, but for times and what the machine is.

    python -m tests.documents.test_first_steps        writes the page anew, with what the commands show now

Every block ```console has lines `$ command`, each followed by what a terminal shows. A block ```text FILE is a
file that readers write themselves. All is done in a folder of its own, with the sample puzzle in it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.places import REPOSITORY, quoted
from tests.helpers.terminals import Terminal, seen

PAGE = REPOSITORY / "docs" / "first-steps.md"
SAMPLE = PAGE.parent / "samples" / "robot.non"
COLUMNS, LINES = 100, 50

OF_THE_MACHINE = (
    *("nonojudge: the machine was busy", "nonojudge: bots run without a sandbox"),
    *("sandbox: ", "for a sandbox, ", "for exact figures, "),
)
MEASURED = r"\d[\d.,]*(?: (?:s|ms|µs|MiB|%)\b|(?: %))"


def shown_by(command: str, folder: Path) -> str:
    """Carry a command out in a folder, on a terminal; return what stands there then."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {"NO_COLOR": "1", "PATH": path}
    shell = ["bash", "-c", f"cd {quoted(folder)} && {command}"]
    with Terminal(shell, COLUMNS, LINES, environment, errors_too=True) as terminal:
        _, written, _ = terminal.end()
    return on_terminal(written)


def on_terminal(text: str) -> str:
    """Return what a terminal shows of a text: spaces for tabs, among others."""
    lines = seen("\r\n".join(text.splitlines()), COLUMNS) if text.strip() else []
    return "".join(f"{line}\n" for line in lines)


def carried_out(page: str) -> Iterator[tuple[str, str, str]]:
    """Yield each command of a page, what it is said to show, and what it shows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(SAMPLE, folder)
        blocks = re.findall(r"^```(console|text)(?: (\S+))?\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        for kind, file, block in blocks:
            if kind == "text":
                (folder / file).write_text(block, encoding="utf-8")
                continue
            start, *parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
            assert not start, f"a block begins with a command, not with {start!r}"
            for command, expected in zip(parts[::2], parts[1::2], strict=True):
                yield command, expected, shown_by(command, folder)


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    written, rest = "", page
    for command, expected, shown in carried_out(page):
        before, rest = rest.split(f"$ {command}\n{expected}", 1)
        same = shown == on_terminal(expected)  # the page keeps its tabs
        written += f"{before}$ {command}\n{expected if same else shown}"
    PAGE.write_text(written + rest, encoding="utf-8")


def plain(shown: str) -> str:
    """Return a text without what differs from machine to machine."""
    lines = [line for line in shown.splitlines() if not line.startswith(OF_THE_MACHINE)]
    text = "\n".join(re.sub(MEASURED, "…", line).rstrip() for line in lines)
    text = re.sub(r"slowest: .*", "slowest: …", text)
    return re.sub(r"run-\w+\.\w+\.json", "run-….json", text)


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_every_command_of_first_steps_prints_the_output_on_the_page():
    steps = list(carried_out(PAGE.read_text(encoding="utf-8")))
    assert len(steps) >= 8
    for command, expected, shown in steps:
        assert plain(shown) == plain(on_terminal(expected)), command


FIRST_BOT = PAGE.with_name("first-bot.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_commands_of_the_first_bot_work_in_order_and_its_bots_pass_every_check(tmp_path):
    shutil.which("g++") or pytest.skip("needs g++")
    blocks = re.findall(r"^```sh\n(.*?)^```", FIRST_BOT, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    takes_minutes = re.compile("nonojudge (rehearse|profile|duel) ")
    commands = [line for line in lines if not takes_minutes.match(line)]
    environment = os.environ | {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}
    script = ["bash", "-ec", "\n".join(commands)]
    shown = subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    ends = re.findall(r"^\d+ passed: .*|^20 of 20 right", shown, re.MULTILINE)
    passed, right = "31 passed: 15 of 15 musts passed", "20 of 20 right"
    assert ends == [passed, passed, right, right, passed], shown


if __name__ == "__main__":
    main()
