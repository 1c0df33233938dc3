"""Result files and bots' logs: found in folders, read with errors in one line, written in full or not at all."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from nonobot import system
from nonobot.harness import UnusableError
from nonobot.harness.results.conditions import MOST_SECONDS
from nonobot.harness.results.file_limits import MOST_BYTES, MOST_OTHER_BYTES, MOST_VERDICTS, too_large
from nonobot.harness.results.run_result import (
    SCHEMA_VERSION,
    BotLog,
    PuzzleResult,
    RunResult,
    Score,
    VerifyResult,
)
from nonobot.protocol.clues import shown
from nonobot.system import NotTextError, forget_read, reason_of, shortened, text_of, whole_file

ORDER = "order.txt"  # in the folder of a tournament: its runs in the order of its sets and bots
MOST_ORDER_BYTES = 4 << 20  # names of tens of thousands of runs; a live view reads it again and again
RESULT_ENDINGS = (".json", ".log")  # endings of the files read from a folder; a named file may have any
_START = re.compile(rb"\s*(?:#\s*[0-9]|total time\s*:)", re.IGNORECASE)
_PUZZLE = re.compile(r"#\s*([0-9]{1,18})\s+(\S+)")
_TOTAL = re.compile(r"total time\s*:\s*(\S+?)\s*s?", re.IGNORECASE)

AnyResult = RunResult | VerifyResult | BotLog
Document = TypeVar("Document")

DESCRIPTION = "a result of nonojudge"
PART_BYTES = 8 << 20  # about, of the verdicts that are decoded at once: nothing interrupts that
VERDICTS_IN_A_PART = 1000  # of those that are written at once
BEFORE_VERDICTS = (
    '\n  "puzzles": ['  # before the verdicts, and nowhere else, in a result as :func:`json_text` writes it
)
BETWEEN_VERDICTS = re.compile(rb"\}\s*(,)\s*\{")  # also within a text, and in fields of later versions
MOST_TRIES = 100  # places of BETWEEN_VERDICTS that are tried

UNDECODABLE = (msgspec.MsgspecError, ValueError, RecursionError, MemoryError)  # also text that is not UTF-8


def storable(value: Any) -> Any:
    r"""Return a value as JSON can store it: bytes that are not UTF-8 as in `\xff`, NaN as null.

    No value of a variable that the user gave to a bot gets into a file or an output.
    """
    if isinstance(value, RunResult):
        value = value.without_values
    if isinstance(value, str):
        return value.encode(errors="surrogateescape").decode(errors="backslashreplace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: storable(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [storable(member) for member in value]
    plain = msgspec.to_builtins(value)
    return value if plain is value else storable(plain)


def json_text(value: Any) -> str:
    """Return a value as JSON text in printable ASCII, which every encoding has and which moves no cursor."""
    return "".join(json_parts(value))


def json_parts(value: Any) -> Iterator[str]:
    """Yield the parts of :func:`json_text`: a million verdicts at once would take gigabytes."""
    if not isinstance(value, RunResult | VerifyResult):
        yield _plain(value) + "\n"
        return
    puzzles = value.score.puzzles
    before, mark, after = _plain(replace(value, score=replace(value.score, puzzles=[]))).partition(BEFORE_VERDICTS)
    yield before + mark
    for start in range(0, len(puzzles), VERDICTS_IN_A_PART):
        part = _plain(puzzles[start : start + VERDICTS_IN_A_PART])
        yield ("," if start else "") + part[1:-2].replace("\n", "\n  ")  # deeper than alone
    yield ("\n  " if puzzles else "") + after + "\n"


def _plain(value: Any) -> str:
    return json.dumps(storable(value), indent=1).replace("\x7f", r"\u007f")


SCHEMA_VERSIONS = {
    **dict.fromkeys(("bench", "bench-against", "claims", "comparison", "data-list", "table"), 2),
    **dict.fromkeys(("bisect", "history"), 1),
}
"""Schema versions of the JSON documents that nonojudge writes but does not read, by their `kind`."""

KINDS = {*SCHEMA_VERSIONS, "check", "profile", "run", "verify"}  # of all JSON documents of nonojudge


def json_document(kind: str, **content: object) -> str:
    """Return a JSON document of a kind of `SCHEMA_VERSIONS` as text."""
    return json_text({"kind": kind, "schema_version": SCHEMA_VERSIONS[kind], **content})


def write_json(path: Path, result: RunResult | VerifyResult) -> None:
    """Write `result` to `path`, in full or not at all; a link there, perhaps a stranger's, is replaced."""
    with whole_file(path, lasting=True, follows=False) as file:
        file.writelines(part.encode() for part in json_parts(result))


def content_of(path: Path, description: str = "", most_bytes: int = MOST_OTHER_BYTES) -> bytes:
    """Return the content of a regular file; UnusableError if it cannot be read.

    `description` describes the file in the message (`the result `).
    """
    try:
        return system.content_of(path, most_bytes)
    except OSError as error:
        raise UnusableError(f"cannot read {description}{path}: {reason_of(error)}") from None


def read_result(path: Path) -> RunResult | VerifyResult:
    """Return the result in a file; UnusableError if it has another version or contradicts itself."""
    return result_in(content_of(path, "the result ", MOST_BYTES), path)


class _ScoreFrame(Score, frozen=True):
    """A score whose verdicts are not decoded yet."""

    puzzles: msgspec.Raw  # type: ignore[assignment]


class _RunFrame(RunResult, frozen=True, tag_field="kind", tag="run"):
    score: msgspec.Raw  # type: ignore[assignment]


class _VerifyFrame(VerifyResult, frozen=True, tag_field="kind", tag="verify"):
    score: msgspec.Raw  # type: ignore[assignment]


def result_in(content: bytes, path: Path) -> RunResult | VerifyResult:
    """Return the result that a file's content contains; UnusableError as for :func:`read_result`."""
    if len(content) <= PART_BYTES:  # in one pass, which is faster for hundreds of files
        result = _decoded_as(RunResult | VerifyResult, content, path)
    else:
        result = _decoded_in_parts(content, path)
    puzzles = result.score.puzzles
    if not puzzles or (isinstance(result, RunResult) and not result.attempts):  # people edit files by hand
        raise UnusableError(f"{path} is a result without puzzles or without a run")
    if result.score.verdicts != Score.of(puzzles).verdicts:
        raise UnusableError(f"{path}: the verdicts counted are not those of its puzzles")
    if len({puzzle.number for puzzle in puzzles}) != len(puzzles) or len(puzzles) != result.set.puzzle_count:
        raise UnusableError(
            f"{path}: its verdicts are not one for each of the set's {result.set.puzzle_count} puzzles"
        )
    return result


def _decoded_as(kind: Any, content: bytes, path: Path) -> Any:
    return decoded(content, path, kind, SCHEMA_VERSION, DESCRIPTION, ("run", "verify"))


def _decoded_in_parts(content: bytes, path: Path) -> RunResult | VerifyResult:
    """Decode the verdicts of a large result part by part, so that Ctrl-C takes effect in between."""
    frame: _RunFrame | _VerifyFrame = _decoded_as(_RunFrame | _VerifyFrame, content, path)
    try:
        of_score = msgspec.json.decode(frame.score, type=_ScoreFrame)
        if len(frame.score) - len(of_score.puzzles) > MOST_OTHER_BYTES:
            raise too_large(f"the result {path}", MOST_OTHER_BYTES, " besides the verdicts")
        puzzles: list[PuzzleResult] = []
        for part in _decoded_parts(of_score.puzzles):
            puzzles += part
            if len(puzzles) > MOST_VERDICTS:
                raise UnusableError(f"cannot read the result {path}: more than {MOST_VERDICTS:,} puzzles")
    except UNDECODABLE as error:
        raise UnusableError(f"{path} is not {DESCRIPTION}: its score: {shortened(str(error), 200)}") from None
    fields = asdict(frame) | {"score": Score(**asdict(of_score) | {"puzzles": puzzles})}
    return RunResult(**fields) if isinstance(frame, _RunFrame) else VerifyResult(**fields)


def _decoded_parts(array: msgspec.Raw) -> Iterator[list[PuzzleResult]]:
    """Decode a JSON array of verdicts part by part: Ctrl-C takes effect in between.

    A part ends at a comma between two verdicts: only there, the text before it is a whole array with one more
    bracket.
    """
    decode = msgspec.json.Decoder(list[PuzzleResult]).decode
    text, start = memoryview(array), 1
    while len(text) - start > PART_BYTES:
        for place in islice(BETWEEN_VERDICTS.finditer(text, start + PART_BYTES), MOST_TRIES):
            try:
                part = decode(b"[" + text[start : place.start(1)] + b"]")
            except msgspec.ValidationError:
                raise
            except msgspec.DecodeError:
                continue
            yield part
            start = place.end(1)
            break
        else:
            break
    if len(text) - start > MOST_OTHER_BYTES:
        raise ValueError("it does not consist of verdicts")
    yield decode(b"[" + text[start:] if start > 1 else text)


def from_json(content: bytes, kind: Any) -> Any:
    """Return what JSON text contains as a `kind`; NotTextError, or ValueError with the sentence of msgspec."""
    try:
        return msgspec.json.decode(content.removeprefix(codecs.BOM_UTF8), type=kind)
    except UNDECODABLE as error:
        text_of(content)  # it may not be text at all
        raise ValueError(f"{shortened(reason_of(error), 200)} (msgspec)") from None


class OtherDocumentError(UnusableError):
    """A file of nonojudge, but of another kind than needed."""


class _Head(msgspec.Struct):
    """The part of any file that shows whether this version can read the rest."""

    schema_version: int | None = None
    kind: str = ""
    score: msgspec.Raw = msgspec.Raw()


def decoded(content: bytes, path: Path, kind: Any, version: int, description: str, kinds: Collection[str]) -> Any:
    """Return the content of a JSON file as a `kind`, which may be a union of types, with a `schema_version`.

    `kinds` are the accepted values of the file's field `kind`, and `description` names such a file in messages.
    OtherDocumentError if the file has another kind, UnusableError if it is malformed, too large without its score
    or has another version.
    """
    head, why = _Head(), f"more than {MOST_OTHER_BYTES >> 20} MiB"
    try:  # first, because another version may have another form
        head = from_json(content, _Head)
    except NotTextError as error:
        raise UnusableError(f"{path} is {error}") from None
    except ValueError as error:
        why = str(error)
    if len(content) - len(head.score) > MOST_OTHER_BYTES:
        raise UnusableError(f"{path} is not {description}: {why}")
    if head.kind in KINDS.difference(kinds):
        raise OtherDocumentError(f"{path} is not {description}: its kind is {head.kind}")
    if head.schema_version not in (None, version):
        raise UnusableError(
            f"{path}: schema version {head.schema_version}, of another nonojudge; this one reads {version}"
        )
    try:
        return from_json(content, kind)
    except NotTextError as error:
        raise UnusableError(f"{path} is {error}") from None
    except ValueError as error:
        raise UnusableError(f"{path} is not {description}: {error}") from None


def files_in(place: Path, endings: Sequence[str] = RESULT_ENDINGS) -> list[Path]:
    """Return `place` if it is a file, otherwise its files with one of `endings`; UnusableError if it has none."""
    if not place.is_dir():
        return [place]
    try:
        paths = [path for path in place.iterdir() if path.suffix in endings and not path.name.startswith(".")]
    except OSError as error:
        raise UnusableError(f"cannot read the folder {place}: {reason_of(error)}") from None
    if not paths:
        hint = f"; name its folder {below}" if (below := _folder_with_results(place, endings)) else ""
        raise UnusableError(f"the folder {place} contains no result ({' or '.join(endings)}){hint}")
    return sorted(paths)


def _folder_with_results(place: Path, endings: Sequence[str]) -> Path | None:
    """Return the first subfolder that contains results, such as that of a tournament."""
    with contextlib.suppress(OSError):
        for folder in sorted(filter(Path.is_dir, place.iterdir())):
            if any(path.suffix in endings for path in folder.iterdir()):
                return folder
    return None


def in_order_of_play(paths: Sequence[Path]) -> list[Path]:
    """Return results and journals in the order in which their tournaments play them, and others as they are.

    A tournament's file `ORDER` lists its runs.
    """
    folders = {folder: number for number, folder in enumerate(dict.fromkeys(path.parent for path in paths))}
    places = {folder: places_in(folder) for folder in folders}
    if not any(places.values()):
        return list(paths)

    def place(path: Path) -> tuple[int, int]:
        run = path.name.removesuffix(".jsonl").removesuffix(".journal").removesuffix(".json")
        return folders[path.parent], places[path.parent].get(run, len(paths) + len(places[path.parent]))

    return sorted(paths, key=place)


def places_in(folder: Path) -> dict[str, int]:
    """Return the places of a tournament's runs by their file names, without endings; empty without `ORDER`."""
    try:
        lines = text_of(system.content_of(folder / ORDER, MOST_ORDER_BYTES), "replace").splitlines()
    except (OSError, NotTextError):
        return {}
    return {run: number for number, run in enumerate(lines)}


def read_any(path: Path) -> AnyResult:
    """Return the result or log in a file; UnusableError if it is neither, or broken."""
    content = content_of(path, most_bytes=MOST_BYTES)
    if not is_log(content):
        return result_in(content, path)
    if len(content) > MOST_OTHER_BYTES:
        raise too_large(f"the log {path}", MOST_OTHER_BYTES)
    return parse_log(path, content)


def read_results(
    places: Sequence[Path], endings: Sequence[str] = RESULT_ENDINGS
) -> tuple[dict[Path, AnyResult], list[str]]:
    """Return the results in files and folders, and a message for each unreadable file."""
    return read_documents(places, endings, read_any)


def read_documents(
    places: Sequence[Path], endings: Sequence[str], read: Callable[[Path], Document]
) -> tuple[dict[Path, Document], list[str]]:
    """Return what `read` returns for files and folders, each file once, and a message for each unreadable file.

    Files of another kind in a folder, such as the last table, are skipped, and may be replaced.
    """
    paths: dict[str, Path] = {}
    documents: dict[Path, Document] = {}
    problems: list[str] = []
    for place in places:
        try:
            for path in files_in(place, endings):
                paths.setdefault(os.path.realpath(path), path)  # `resolve` fails at a link to itself
        except UnusableError as problem:
            problems.append(str(problem))
    for path in in_order_of_play([*paths.values()]):
        try:
            documents[path] = read(path)
        except OtherDocumentError as problem:
            if path in places:
                problems.append(str(problem))
            else:
                forget_read(path)
        except UnusableError as problem:
            problems.append(str(problem))
    return documents, problems


def is_log(content: bytes) -> bool:
    """Return whether `content` starts like a log."""
    return _START.match(content.removeprefix(codecs.BOM_UTF8)) is not None


def parse_log(path: Path, content: bytes) -> BotLog:
    """Return the times in a log; UnusableError, with path and line number, if a text line is malformed."""
    seconds: dict[int, float] = {}
    total: float | None = None
    try:
        lines = io.StringIO(text_of(content, "replace"), newline=None)
    except NotTextError as error:
        raise UnusableError(f"{path} is {error}") from None
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text:
            continue
        if total is not None:
            raise UnusableError(f"{path}: line {number}: {shown(text)} comes after the total time")
        if puzzle := _PUZZLE.fullmatch(text):
            seconds.setdefault(int(puzzle[1]), _time(path, number, puzzle[2]))
        elif stated := _TOTAL.fullmatch(text):
            total = _time(path, number, stated[1])
        else:
            raise UnusableError(
                f"{path}: line {number}: {shown(text)} is neither '#k<TAB>seconds' nor 'total time: seconds'"
            )
    return BotLog(seconds, total)


def _time(path: Path, number: int, text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= float(text) <= MOST_SECONDS:
            return float(text)
    raise UnusableError(f"{path}: line {number}: {shown(text)} is not a time in seconds")
