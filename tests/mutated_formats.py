"""Sample files of every format, damaged in any number of ways: no traceback, no hang, a line for each fault.

    python -m tests.mutated_formats 100000 --seed 1

Each round takes a sample, of `tests/puzzles` and of the examples in `docs/formats.md`, changes it in a few places
and reads it, half of the times as its own format and half as what its content says. The same seed makes the same
files. What goes wrong is shown with the bytes that did it, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nonobot.protocol import Fault, Record, formats

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "formats.md"

LONGEST_SECONDS = 30
"""After which the reading of a file of a few hundred bytes hangs."""

LONGEST_LINE = 500
"""Characters of a line about a fault."""

PIECES = (
    b"", b"0", b"1", b"-1", b"12345678901", b"3b", b"1,,1", b" ", b"\t", b"\n", b"\n\n", b"\r", b"\0",
    b"\xff", b"\xc3",
    b"#", b";", b":", b"=", b",", b"-", b"$1\n", b"$", b"'", b'"', b'"""', b"[", b"]", b"[ 1 ]\n", b"(",
    b"}", b"\\",
    b"<", b">", b"<a>", b"</puzzle>", b"&amp;", b"]]>", b"<!--", b"====\n", b"H\n", b"V\n", b"A", b"@",
    b"4x3\n",
    b"GRID\n", b"ROWS\n", b"COLUMNS\n", b"[clues]\n", b"[colors]\n", b"rows = ", b"columns\n",
    b": rows\n", b"#d\n", b"#t\n",
    b"width 4\n", b"height ", b"goal 01\n", b"title x\n", b"grid\n", b"solution\n", b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
)  # fmt: skip


def samples() -> list[tuple[str, bytes]]:
    """Return the samples with the names of their formats."""
    files = [path.read_bytes() for path in sorted((FOLDER / "puzzles").iterdir())]
    blocks = re.findall(r"^```text\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    named = []
    for data in [*files, *(block.encode() for block in blocks)]:
        try:
            named.append((formats.detect(data), data))
        except formats.UnknownFormatError:  # the picture at the top of the page
            continue
    return named


def _cut(rng: random.Random, data: bytes) -> bytes:
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + data[end:]


def _put(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(PIECES) + data[at + rng.randrange(3) :]


def _flip(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    piece = data[start : start + rng.randrange(1, 40)]
    return data[:start] + piece * rng.choice([2, 3, 50]) + data[start:]


def _swap_lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


def _drop_line(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def _line_ends(rng: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b" \n", b"\0\n"]))


CHANGES: Sequence[Callable[[random.Random, bytes], bytes]] = (
    *(_put, _put, _put, _flip, _cut, _drop_line, _swap_lines, _repeat, _line_ends),
)


def mutated(rng: random.Random, some: Sequence[tuple[str, bytes]]) -> tuple[str, bytes]:
    """Return a damaged sample and the name of the format that it had; now and then it ends as another one."""
    name, data = rng.choice(some)
    if rng.random() < 0.1:
        _, other = rng.choice(some)
        data = data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        data = rng.choice(CHANGES)(rng, data)
    return name, data[:20_000]


def problem(data: bytes, name: str | None, counts: Counter[str]) -> str | None:
    """Return what is wrong with how a file is read, if anything; what came of it is counted."""
    signal.alarm(LONGEST_SECONDS)
    try:
        found = list(formats.read(data, name))
        lines = [str(one) for one in found if isinstance(one, Fault)]
        lines += [str(remark) for one in found if isinstance(one, Record) for remark in one.remarks]
        counts["puzzles"] += sum(isinstance(one, Record) for one in found)
        counts["faults and remarks"] += len(lines)
    except formats.FormatError as error:
        lines = [str(error)]
        counts["files of no format"] += 1
    except Exception:  # whatever it is, a user would see it
        return traceback.format_exc()
    finally:
        signal.alarm(0)
    bad = [line for line in lines if not (line.isprintable() and 0 < len(line) <= LONGEST_LINE)]
    return f"not one short line: {bad[0]!r}" if bad else None


def _hangs(number: int, frame: object) -> None:
    raise TimeoutError(f"more than {LONGEST_SECONDS} s for one small file")


def problems(count: int, seed: int, counts: Counter[str]) -> Iterator[str]:
    """Read `count` damaged files, and yield what is wrong, each with the file that shows it."""
    some, rng = samples(), random.Random(seed)
    before = signal.signal(signal.SIGALRM, _hangs)
    try:
        for number in range(count):
            name, data = mutated(rng, some)
            forced = name if number % 2 else None
            what = problem(data, forced, counts)
            if what:
                form = forced or "what it is"
                yield f"file {number} of seed {seed}, read as {form}: {what}\n{data!r}"
    finally:
        signal.signal(signal.SIGALRM, before)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read as many files as the command line says."""
    parser = argparse.ArgumentParser(description="Read damaged sample files of every format.")
    parser.add_argument("count", type=int, help="how many files")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    wrong = 0
    for what in problems(given.count, given.seed, counts):
        wrong += 1
        print(what, file=sys.stderr)
    came = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    print(f"{given.count} files: {came}; {wrong} read wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
