"""Messages: golden/messages.txt has unusable command lines and faulty files, each with what is said of it.

After a change of messages, `python -m tests.harness.commands.test_messages` writes the file anew: read the diff.
"""

import contextlib
import io
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nonobot.bot.cli import parse
from nonobot.harness import cli
from nonobot.harness.bench.trees import top_of
from nonobot.protocol.formats import FormatError, detect
from nonobot.tournament_data import Recipe, write_set
from tests.helpers.places import GOLDEN, REPOSITORY
from tests.helpers.sandboxes import having
from tests.helpers.talking import carried_out
from tests.protocol.test_formats_faults import said as lines_of

FILE = GOLDEN / "messages.txt"
DOT = "1 1\n1\n1\n"  # as .nin


def messages(mark: str) -> list[tuple[str, str]]:
    """Return the command lines ('$') or puzzle files ('>') of the golden file, with their messages."""
    parts = re.split(r"^([$>]) (.*)\n", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return [(line, said.partition("\n\n")[0].rstrip("\n")) for kind, line, said in found if kind == mark]


@contextlib.contextmanager
def sample_files() -> Iterator[None]:
    """Be in a folder with the files that the command lines name; bots can be sandboxed."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), having("stand-in"):
        with Path("set.txt").open("wb") as questions:
            write_set(Recipe(5, 5, 5, seed=3).boards(), questions)
        Path("dot.nin").write_text(DOT)
        Path("letter.txt").write_text("Dear Sir or Madam\n")
        Path("empty.txt").touch()
        Path("empty.xml").write_text("<puzzleset/>")
        Path("binary").write_bytes(bytes(range(256)))
        Path("given").touch()
        yield


def said(line: str) -> tuple[int, str, str]:
    """Return status, stdout and stderr of a command; what follows <<< is in the file `given` and on stdin."""
    line, _, content = line.partition(" <<< ")
    Path("given").write_bytes(bytes_of(content))
    program, *arguments = shlex.split(line)
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.run(arguments) if program == "nonojudge" else parse(arguments) and None
        except SystemExit as end:
            status = end.code
    if status is None:  # arguments of the bot that can be parsed
        done = carried_out(bytes_of(content), *arguments)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    return status, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()


def files_here() -> set[Path]:
    return {path for path in Path().rglob("*") if path.is_file()}


@sample_files()
def said_among_samples(line: str) -> str:
    return said(line)[2]


@pytest.mark.usefixtures("compiled")  # or a cold start has more to say
@pytest.mark.parametrize(("line", "message"), messages("$"), ids=[line[:60] for line, _ in messages("$")])
@sample_files()
def test_unusable_input_exits_with_2_one_line_and_no_file(line, message):
    if "--against" in line and top_of(REPOSITORY) != REPOSITORY:
        pytest.skip("not a clone, or git is not installed")
    before = files_here()
    assert said(line) == (2, "", f"{message}\n")
    assert files_here() == before


def bytes_of(content: str) -> bytes:
    """Return the bytes of a file that are written as in Python."""
    return content.encode("latin-1").decode("unicode_escape").encode("latin-1")


def of_file(line: str) -> str:
    """Return what reading a puzzle file says: a line has a format (`?`: none) and the bytes as in Python."""
    name, _, content = line.partition(" ")
    data = bytes_of(content)
    try:
        return "\n".join(lines_of(data, detect(data) if name == "?" else name))
    except FormatError as error:
        return str(error)


@pytest.mark.parametrize(("line", "said"), messages(">"), ids=[line[:60] for line, _ in messages(">")])
def test_every_error_of_a_puzzle_file_is_reported_with_its_position(line, said):
    assert of_file(line) == said


def main() -> None:
    text = FILE.read_text(encoding="utf-8")
    for mark, say in (("$", said_among_samples), (">", of_file)):
        for line, said in messages(mark):
            text = text.replace(f"\n{mark} {line}\n{said}\n", f"\n{mark} {line}\n{say(line).rstrip()}\n")
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
