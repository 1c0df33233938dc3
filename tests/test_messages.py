"""Messages about unusable arguments and files: the command lines of golden/messages.txt, with the line on stderr.

After a change of messages, `python -m tests.test_messages` writes the file anew: read the diff.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nonobot.bot.cli import parse
from nonobot.harness import cli
from nonobot.tournament_data import Recipe, write_set
from tests.talking import carried_out

GOLDEN = Path(__file__).parent / "golden" / "messages.txt"
DOT = "1 1\n1\n1\n"  # as .nin


def messages() -> list[tuple[str, str]]:
    """Return the command lines of the file and their messages."""
    blocks = GOLDEN.read_text(encoding="utf-8").split("\n$ ")[1:]
    return [
        (line, message.split("\n\n")[0].rstrip("\n")) for line, _, message in (b.partition("\n") for b in blocks)
    ]


@contextlib.contextmanager
def sample_files() -> Iterator[None]:
    """Be in a folder with the files that the command lines name."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with Path("set.txt").open("wb") as questions:
            write_set(Recipe(5, 5, 5, seed=3).boards(), questions)
        Path("dot.nin").write_text(DOT)
        Path("letter.txt").write_text("Dear Sir or Madam\n")
        Path("empty.txt").touch()
        Path("empty.xml").write_text("<puzzleset/>")
        Path("binary").write_bytes(bytes(range(256)))
        yield


def said(line: str) -> tuple[int, str, str]:
    """Return the status that a command line ends with, its stdout and its stderr."""
    program, *words = shlex.split(line)
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.run(words) if program == "nonojudge" else parse(words) and None
        except SystemExit as end:
            status = end.code
    if status is None:  # arguments of the bot that can be parsed
        done = carried_out(b"", *words)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    return status, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()


def files_here() -> set[Path]:
    return {path for path in Path().rglob("*") if path.is_file()}


def said_among_samples(line: str) -> str:
    with sample_files():
        return said(line)[2]


@pytest.mark.parametrize(("line", "message"), messages(), ids=[line for line, _ in messages()])
def test_what_cannot_be_used_ends_with_2_one_line_and_no_file(line, message):
    with sample_files():
        before = files_here()
        assert said(line) == (2, "", f"{message}\n")
        assert files_here() == before


if __name__ == "__main__":
    head, *_ = GOLDEN.read_text(encoding="utf-8").split("\n$ ")
    lines = [line for line, _ in messages()]
    GOLDEN.write_text(
        "\n".join([head, *(f"$ {line}\n{said_among_samples(line)}" for line in lines)]), encoding="utf-8"
    )
