"""Sets of puzzles for the judge: checked, with a digest, and split into the puzzles that a bot receives."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path

from nonobot.arguments import similar_names
from nonobot.protocol import Fault, Found, Puzzle, Record, format_puzzle
from nonobot.protocol.clues import FaultKind
from nonobot.protocol.formats import FormatError, Size, detect, format_named, read
from nonobot.system import content_of, reason_of
from nonobot.tournament_data.generate import PREFIX, Recipe
from nonobot.tournament_data.registry import MOST_BYTES, OfficialSet, official_sets, stored_path

# Name of a part of a set: `taai2011@2/6` is every sixth puzzle from the second on.
PART = re.compile(r"(.+)@([1-9][0-9]{0,2})/([1-9][0-9]{0,2})", re.DOTALL)

MOST_SET_CELLS = 62_500_000  # of a generated set: a hundred thousand puzzles of 25x25
MOST_SET_BYTES = 1 << 26  # largest set: a hundred thousand puzzles of 25x25, and about a gigabyte of memory
MOST_SET_PUZZLES = 1_000_000  # of any size, and about a gigabyte of memory


class SetError(Exception):
    """A set that cannot be used; the message is one text line with the reason."""


@dataclass(frozen=True, slots=True)
class SetPuzzle:
    """A puzzle of a set."""

    record: Record
    text: bytes  # input for a bot: text lines of a question file up to the next `$`, or the same for other files

    @property
    def number(self) -> int:
        """The k of `$k`, unique within a set."""
        return self.record.number

    @property
    def puzzle(self) -> Puzzle:
        """The puzzle's clues."""
        return self.record.puzzle


@dataclass(frozen=True, slots=True)
class PuzzleSet:
    """Puzzles of one size in a fixed order."""

    name: str  # official name, file, or specification of the set
    sha256: str  # digest of `text`, and so of a question file
    width: int
    height: int
    puzzles: tuple[SetPuzzle, ...]
    faults: tuple[Fault, ...] = ()  # of its file: puzzles and text that bots do not get, and that do not count
    setter: str = ""  # the bot that handed the set in for a match
    void: Mapping[int, str] = field(default_factory=dict)  # its unusable puzzles by number, with the reason

    @property
    def text(self) -> bytes:
        """The whole question file."""
        return b"".join(puzzle.text for puzzle in self.puzzles)

    @property
    def by_number(self) -> dict[int, Puzzle]:
        """The clues by the numbers of the puzzles, in their order."""
        return {puzzle.number: puzzle.puzzle for puzzle in self.puzzles}

    def only(self, numbers: Container[int]) -> PuzzleSet:
        """Return the set of those puzzles, one or more, whose text contains nothing else."""
        return _set_of(self.name, (_written(puzzle.record) for puzzle in self.puzzles if puzzle.number in numbers))

    def part(self, part: int, parts: int) -> PuzzleSet:
        """Return the part named `SET@PART/PARTS`; SetError: the set has too few puzzles."""
        chosen = self.puzzles[part - 1 :: parts]
        name = f"{self.name}@{part}/{parts}"
        if part > parts or not chosen:
            raise SetError(f"{name}: no such part of {len(self.puzzles)} puzzles")
        records = (replace(puzzle.record, number=number) for number, puzzle in enumerate(chosen, 1))
        return _set_of(name, map(_written, records))


def load_set(source: str, size: Size | None = None, waits: bool = False) -> PuzzleSet:
    """Return the set that `source` names: an official set, a file in any format, or the recipe of a generated set.

    A name such as `taai2011` always means the official set; `./taai2011` is a file. `SET@K/N` is a part of a set:
    every N-th puzzle from the K-th on. `size` is as in :func:`nonobot.protocol.formats.read`, and `waits` as in
    :func:`nonobot.system.pieces_of`. SetError: the set does not exist, has more than `MOST_SET_BYTES` or
    `MOST_SET_PUZZLES`, or more faults than puzzles.
    """
    source, parts = _whole_and_parts(source)
    puzzles = _whole_set(source, size, waits)
    for part in reversed(parts):
        puzzles = puzzles.part(*part)
    return puzzles


def file_of(source: str) -> Path | None:
    """Return the file of the set that `source` names; None for a generated set. OSError: see `data_folder`."""
    source, _ = _whole_and_parts(source)
    if source.startswith(PREFIX):
        return None
    return stored_path(official_sets()[source]) if source in official_sets() else Path(source)


def _whole_and_parts(source: str) -> tuple[str, list[tuple[int, int]]]:
    parts = []
    while (part := PART.fullmatch(source)) and not os.path.isfile(source):  # noqa: PTH113 (of any length)
        source = part[1]
        parts.append((int(part[2]), int(part[3])))
    return source, parts


def _whole_set(source: str, size: Size | None, waits: bool) -> PuzzleSet:
    sides = None if size == "auto" else size
    if source.startswith(PREFIX):
        return _generated(source, sides)
    if source in official_sets():
        return _official(official_sets()[source], sides)
    try:
        content = content_of(source, MOST_SET_BYTES, waits=waits)
    except ValueError:  # a NUL
        raise SetError(f"{source!r} is not a file name") from None
    except OSError as error:
        hint, stem = "", Path(source).name.removesuffix(".txt")
        if isinstance(error, FileNotFoundError):
            is_official = stem in official_sets()
            hint = f" (the official set is called {stem})" if is_official else similar_names(stem, official_sets())
        raise SetError(f"cannot read the set {source}: {reason_of(error)}{hint}") from None
    try:
        format_name = detect(content)
        if format_name == "taai":
            return _from_batch(source, content, size)
        records, faults = _records(source, read(content, format_name), sides)
    except FormatError as error:
        raise SetError(f"{source}: {error}") from None
    if not records:
        raise SetError(f"{source}: no puzzle")
    return replace(_set_of(source, map(_written, records)), faults=faults)


def _official(official: OfficialSet, size: tuple[int, int] | None) -> PuzzleSet:
    own_size = (official.side, official.side)
    if size and size != own_size:
        raise SetError(f"{official.name} has boards of {own_size[0]}x{own_size[1]}, not {size[0]}x{size[1]}")
    path = stored_path(official)
    try:
        content = content_of(path, MOST_BYTES)
    except FileNotFoundError:
        here = f"; the file in this folder is ./{official.name}" if Path(official.name).is_file() else ""
        fetched = f"`nonojudge data fetch {official.name}` fetches it"
        ways = f"{fetched}, `nonojudge data import FOLDER` takes it from a folder{here}"
        raise SetError(f"the official set {official.name} is not on this machine yet: {ways}") from None
    except OSError as error:
        raise SetError(f"cannot read the set {path}: {reason_of(error)}") from None
    if hashlib.sha256(content).hexdigest() != official.sha256:
        remedy = "fetch or import it again, or name the file itself"
        raise SetError(f"{path} is not the official {official.name} (its SHA-256 differs): {remedy}")
    return _from_batch(official.name, content, own_size)


def _generated(source: str, size: tuple[int, int] | None) -> PuzzleSet:
    try:
        recipe = Recipe.parse(source)
        boards = recipe.boards()
    except ValueError as error:
        raise SetError(f"{source}: {error}") from None
    if size and size != (recipe.width, recipe.height):
        raise SetError(f"{recipe} has boards of {recipe.width}x{recipe.height}, not {size[0]}x{size[1]}")
    if recipe.count > MOST_SET_PUZZLES:  # known before hours of drawing
        raise _of_too_many(str(recipe))
    if recipe.width * recipe.height * recipe.count > MOST_SET_CELLS:
        raise SetError(f"{recipe}: more than {MOST_SET_CELLS:,} cells; split the set")
    records = (Record(puzzle, number=number) for number, (puzzle, _) in enumerate(boards, 1))
    return _set_of(str(recipe), map(_written, records))


def _of_too_many(name: str) -> SetError:
    return SetError(f"{name}: more than {MOST_SET_PUZZLES:,} puzzles; split the set")


def _written(record: Record) -> SetPuzzle:
    return SetPuzzle(record, format_puzzle(record.number, record.puzzle))


def _set_of(name: str, puzzles: Iterable[SetPuzzle]) -> PuzzleSet:
    """Return the set of one or more puzzles of one size; SetError: it is too large."""
    kept: list[SetPuzzle] = []
    digest, left = hashlib.sha256(), MOST_SET_BYTES
    for puzzle in puzzles:
        left -= len(puzzle.text)
        if left < 0:
            raise SetError(f"{name}: more than {MOST_SET_BYTES >> 20} MiB; split the set")
        digest.update(puzzle.text)
        kept.append(puzzle)
    return PuzzleSet(name, digest.hexdigest(), *kept[0].record.size, tuple(kept))


def _records(
    name: str, entries: Iterable[Found], size: tuple[int, int] | None
) -> tuple[list[Record], tuple[Fault, ...]]:
    """Return the puzzles of a file, and its faults; SetError: there are more faults, or boards of two sizes."""
    records: dict[int, Record] = {}
    faults: list[Fault] = []
    for entry in entries:
        if isinstance(entry, Fault):
            faults.append(entry)
            continue
        if entry.size != (size := size or entry.size):
            sizes = f"{entry.size[0]}x{entry.size[1]} cells, not {size[0]}x{size[1]}"
            place = f"{name}: line {entry.line}: puzzle {entry.number}"
            raise SetError(f"{place} has {sizes}; the boards of a set have one size")
        if first := records.get(entry.number):
            message = f"the puzzle of line {first.line} has this number already"
            faults.append(Fault(FaultKind.REPEATED_NUMBER, message, entry.number, entry.line))
            continue
        records[entry.number] = entry
        if len(records) > MOST_SET_PUZZLES:
            raise _of_too_many(name)
    if len(faults) > len(records):  # the size or the format is wrong
        raise SetError(f"{name}: {next((fault for fault in faults if fault.is_in_place), faults[0])}")
    return [*records.values()], tuple(faults)


def _from_batch(name: str, content: bytes, size: Size | None) -> PuzzleSet:
    """Return the set in a question file: puzzles keep their numbers, and a file without faults its text lines."""
    records, faults = _records(name, format_named("taai").read(content, size), None)
    if not records:
        raise SetError(f"{name}: cannot find a puzzle; expected '$1' and clue lines")
    if faults:
        return replace(_set_of(name, map(_written, records)), faults=faults)
    lines = BytesIO(content).readlines()
    starts = [record.line - 1 for record in records]
    pieces = zip(records, [0, *starts[1:]], [*starts[1:], len(lines)], strict=True)
    return _set_of(name, (SetPuzzle(entry, b"".join(lines[start:end])) for entry, start, end in pieces))
