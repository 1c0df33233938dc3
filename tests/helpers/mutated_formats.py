"""Sample files of every format, damaged in any number of ways: no traceback, no hang, a line for each fault.

Each try takes a sample, of `tests/puzzles` and of the examples in `docs/formats.md`, changes it in a few places,
and reads it as its own format or as what its content says. The same seed makes the same files.
"""

from __future__ import annotations

import random
import re
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nonobot.protocol import Fault, Record, formats
from nonobot.protocol.formats.base import MOST_SIDE
from tests.helpers.places import PUZZLES, REPOSITORY
from tests.helpers.strict_readers import blocks_in
from tests.helpers.waiting import alarm

PAGE = REPOSITORY / "docs" / "formats.md"

LONGEST_SECONDS = 30  # after which the reading of a file of a few hundred bytes hangs
LONGEST_LINE = 400  # characters of a line about a fault

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
    b'{"rows": ', b'"columns": ', b"null", b"{}", b"{", b'{"count": 2, "color": "red"}', b'"title": "1 1",',
    b"[[1]]", b"2</line>", b"<line>", b"<count>1</count>", b"<count color='red'>1</count>", b"1a", b"red 1",
    b"color red #f00 r\n", b"saved 0?1\n", b"[Row clues]\n", b"columns: ", b"// 1\n", b"'1 1'", b"0, ",
)  # fmt: skip


def samples() -> list[tuple[str, bytes]]:
    """Return the samples with the names of their formats."""
    files = [path.read_bytes() for path in sorted(PUZZLES.iterdir())]
    blocks = re.findall(r"^```text\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    named = []
    for data in [*files, *(block.encode() for block in blocks)]:
        try:
            named.append((formats.detect(data), data))
        except formats.UnknownFormatError:  # the picture at the top of the page
            continue
    return named


def _splice(rng: random.Random, data: bytes) -> bytes:
    """Cut a piece, or put another one in its place, or repeat it."""
    start = rng.randrange(len(data) + 1)
    piece = data[start : start + rng.choice([0, 1, 2, rng.randrange(40), rng.randrange(len(data) + 1)])]
    pieces = [rng.choice(PIECES) for _ in range(2)]
    others = (b"", *pieces, bytes([rng.randrange(256)]), piece * rng.choice([2, 3, 50]))
    return data[:start] + rng.choice(others) + data[start + len(piece) :]


def _move_line(rng: random.Random, data: bytes) -> bytes:
    """Drop a line, or put it somewhere else."""
    lines = data.splitlines(keepends=True)
    line = lines.pop(rng.randrange(len(lines))) if lines else b""
    if rng.random() < 0.5:
        lines.insert(rng.randrange(len(lines) + 1), line)
    return b"".join(lines)


def _change_line_ends(rng: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b" \n", b"\0\n"]))


def mutated(rng: random.Random, some: Sequence[tuple[str, bytes]]) -> tuple[str, bytes]:
    """Return a damaged sample and the name of the format that it had; now and then it ends as another one."""
    name, data = rng.choice(some)
    if rng.random() < 0.1:
        _, other = rng.choice(some)
        data = data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        change = rng.choices((_splice, _move_line, _change_line_ends), (6, 2, 1))[0]
        data = change(rng, data)
    return name, data[:20_000]


def drawn(records: Sequence[Record]) -> bool:
    """Return whether there are boards, from which clues may have been counted."""
    return any(record.start or record.solution for record in records)


def read_anything(data: bytes, name: str | None, counts: Counter[str]) -> None:
    """Read whatever this is, and count what came of it; raise AssertionError if that is not as it should be.

    Only records and faults may come out, each with its place; only FormatError may be raised.
    """
    found: list[formats.Found] = []
    said: list[str] = []
    try:
        found = list(formats.read(data, name))
    except formats.FormatError as error:
        said.append(str(error))
    records = [entry for entry in found if isinstance(entry, Record)]
    faults = [entry for entry in found if isinstance(entry, Fault)]
    faults += [warning for record in records for warning in record.warnings]
    counts.update({"puzzles": len(records), "faults and warnings": len(faults), "files of no format": len(said)})
    lines = data.count(b"\n") + data.count(b"\r") + 1
    assert all(fault.line is None or 1 <= fault.line <= lines for fault in faults)
    for line in [*said, *map(str, faults)]:
        is_one = line.isprintable() and 0 < len(line) <= LONGEST_LINE
        assert is_one, f"not one short line: {line!r}"
    assert all(1 <= side <= MOST_SIDE for record in records for side in record.size)
    used = name or formats.detect(data) if records and not faults and len(records) == len(found) else ""
    blocks = sum(map(len, (clue for record in records for clue in (*record.puzzle.rows, *record.puzzle.columns))))
    expected = blocks_in(used, data.decode("utf-8", "replace")) if used and not drawn(records) else None
    assert expected in (None, blocks), f"{expected} numbers in the clues, read as {blocks} blocks"
    small = [replace(record, license=None) for record in records if record.puzzle.width < 100]
    assert list(formats.read(formats.write(small, "webpbn").data or b"<puzzleset/>")) == small


def problems(rng: random.Random, counts: Counter[str]) -> Iterator[str | None]:
    """Read damaged files without end; for each, yield None, or what is wrong with the file that shows it."""
    some = samples()
    while True:
        name, data = mutated(rng, some)
        forced = rng.choice([name, None])
        wrong = None
        try:
            with alarm(LONGEST_SECONDS):
                read_anything(data, forced, counts)
        except Exception:  # whatever it is, a user would see it
            wrong = f"read as {forced or 'what it is'}: {traceback.format_exc()}\n{data!r}"
        yield wrong
