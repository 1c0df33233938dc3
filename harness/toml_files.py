"""TOML files that people write, as structures; an error names the place, the value, and what it must be."""

from __future__ import annotations

import operator
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import inspect
from msgspec.structs import fields

from nonobot.arguments import similar_names
from nonobot.harness import UnusableError
from nonobot.protocol.formats import MOST_BYTES
from nonobot.system import NotTextError, content_of, reason_of, shortened, text_of

Structure = TypeVar("Structure", bound=msgspec.Struct)
Place = tuple[str | int, ...]  # of a value: keys of tables and numbers of entries, from the outside in


def read_toml(path: Path, structure: type[Structure], words: Mapping[str, str], name: str = "") -> Structure:
    """Return what a TOML file contains; UnusableError, with the place, if it cannot be read or is something else.

    `words` say what the values of some keys must be. `name` stands before the path of an unreadable file
    (`the tournament `).
    """
    try:
        text = text_of(content_of(path, MOST_BYTES, waits=True))
        raw = tomllib.loads(text)
    except OSError as error:
        raise UnusableError(f"cannot read {name}{path}: {reason_of(error)}") from None
    except NotTextError as error:
        raise UnusableError(f"{path} is {error}") from None
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"{path}: {_syntax_fault(text, error, [*_tables(structure)])}") from None
    if fault := next(_Expected(structure, words).faults(raw), None):
        raise UnusableError(f"{path}: {fault}")
    try:
        return msgspec.convert(raw, structure)
    except msgspec.MsgspecError as error:  # stricter than our own checks
        raise UnusableError(f"{path}: {shortened(str(error), 200)} (msgspec)") from None


_ASSIGNMENT = re.compile(r"""\s*(?:[\w.-]+|"[^"]*"|'[^']*')\s*=\s*(["'[{]?)""")  # and how the value begins
_TO_CHECK = "check its quotes, commas, brackets and backslashes"


def _syntax_fault(text: str, error: ValueError | RecursionError, tables: Sequence[str]) -> str:
    """Return why a text is not TOML, by a look at the text line where the parser gave up."""
    if not isinstance(error, tomllib.TOMLDecodeError):
        return "TOML: a number has too many digits, or a list is within too many others"
    lines = text.replace("\r\n", "\n").split("\n")
    number, column = _place_of(error) or (len(lines), len(lines[-1]) + 1)
    line = lines[number - 1]
    assignment = _ASSIGNMENT.match(line)
    if not _is_toml("\n".join(lines[: number - 1])):
        why = f"not TOML, in a value that begins above; {_TO_CHECK}"
    elif _is_toml(line):
        why = "duplicate key"
    elif assignment:
        why = f"not a TOML value; {_TO_CHECK if assignment[1] else 'text needs quotes'}"
    else:
        *others, last = ("KEY = VALUE", *tables)
        why = f"not TOML; a line is {', '.join(others)} or {last}"
    return f"line {number}, column {column}: {why}"


def _place_of(error: tomllib.TOMLDecodeError) -> tuple[int, int] | None:
    """Return the text line and the column of an error; None at the end of the file."""
    if number := getattr(error, "lineno", 0):  # Python 3.14 and later
        return number, getattr(error, "colno", 1)
    found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
    return (int(found[1]), int(found[2])) if found else None


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


_KINDS: dict[type[inspect.Type], tuple[tuple[type, ...], str]] = {
    inspect.StrType: ((str,), "text in quotes"),
    inspect.BoolType: ((bool,), "true or false"),
    inspect.IntType: ((int,), "a whole number"),
    inspect.FloatType: ((float, int), "a number"),
    inspect.ListType: ((list,), "a list"),
    inspect.DictType: ((dict,), "a table"),
    inspect.StructType: ((dict,), "a table"),
}
"""Kinds of values: their types in Python, and their names in messages."""

_BOUNDS = {"gt": (operator.gt, "above"), "ge": (operator.ge, "from"), "le": (operator.le, "up to")}


def _tables(structure: type[msgspec.Struct]) -> dict[str, type[msgspec.Struct]]:
    """Return the tables in a file of a structure by their headings, `[one]` before `[[several]]`."""
    found = {}
    for field in fields(structure):
        kind, *_ = get_args(field.type) or [field.type]
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            found[f"[{field.encode_name}]" if kind is field.type else f"[[{field.encode_name}]]"] = kind
    return dict(sorted(found.items(), reverse=True))


class _Expected:
    """The structure that a file must have."""

    def __init__(self, structure: type[msgspec.Struct], words: Mapping[str, str]) -> None:
        self._root = inspect.type_info(structure)
        self._words = words
        self._homes = dict.fromkeys(structure.__struct_encode_fields__, "above the first [table]")
        for name, table in _tables(structure).items():
            self._homes = dict.fromkeys(table.__struct_encode_fields__, f"in {name}") | self._homes

    def faults(self, raw: Any) -> Iterator[str]:
        """Yield what is wrong with the content of a file, in its order."""
        return self._faults(raw, self._root, ())

    def _faults(self, value: Any, expected: inspect.Type, place: Place) -> Iterator[str]:
        kinds = expected.types if isinstance(expected, inspect.UnionType) else (expected,)
        kind = next((kind for kind in kinds if type(value) in _KINDS.get(type(kind), ((), ""))[0]), None)
        is_secret = any(isinstance(kind, inspect.DictType) for kind in kinds)  # such as variables
        must_be = _must_be(value, kinds)
        if isinstance(kind, inspect.StructType):
            yield from self._faults_of_table(value, kind, place)
        elif isinstance(kind, inspect.ListType):
            for number, entry in enumerate(value):
                yield from self._faults(entry, kind.item_type, (*place, number))
        elif isinstance(kind, inspect.DictType):
            inner = (self._faults(part, kind.value_type, place) for part in value.values())
            must_be = "a table" if any(chain.from_iterable(inner)) else ""
        if must_be:
            must_be = self._words.get(str(place[-1]), must_be)
            yield f"{_where(place)} must be {must_be}{'' if is_secret else f', not {shortened(repr(value), 80)}'}"

    def _faults_of_table(self, table: dict[str, Any], expected: inspect.StructType, place: Place) -> Iterator[str]:
        known = {field.encode_name: field for field in expected.fields}
        here = _where((*place, ""))
        for key, value in table.items():
            if key in known:
                yield from self._faults(value, known[key].type, (*place, key))
            elif key in self._homes:
                yield f"{here}no key {key!r} here{similar_names(key, known)}; it belongs {self._homes[key]}"
            else:
                yield f"{here}no key {key!r}{similar_names(key, known) or '; known: ' + ', '.join(known)}"
        for key, field in known.items():
            if field.required and key not in table:
                yield f"{here}{key!r} is missing"


def _must_be(value: Any, kinds: Sequence[inspect.Type]) -> str:
    """Return what a value must be; empty if it is of one of the kinds, whatever is in a list or a table."""
    names: list[str] = []
    for kind in kinds:
        types, name = _KINDS.get(type(kind), ((), ""))
        if type(value) in types:
            return next((f"{name} {bound}" for bound in _missed_bounds(value, kind)), "")
        choices = getattr(kind, "values", ())  # of a Literal
        if isinstance(kind, inspect.EnumType):
            choices = [choice.value for choice in kind.cls]
        if value in choices:
            return ""
        names += [name] if name else map(repr, choices)
    return " or ".join(names)


def _missed_bounds(value: Any, kind: inspect.Type) -> Iterator[str]:
    for name, (keeps, words) in _BOUNDS.items():
        bound = getattr(kind, name, None)
        if bound is not None and not keeps(value, bound):
            yield f"{words} {bound:,.0f}"


def _where(place: Place) -> str:
    """Return a place in words, such as `bot 1: show[0]` or `[limits]: time`."""
    head, *rest = place
    if rest and isinstance(rest[0], int):
        head = f"{str(head).removesuffix('s')} {rest.pop(0) + 1}"  # type: ignore[operator]
    elif rest:
        head = f"[{head}]"
    within = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest).removeprefix(".")
    return f"{head}: {within}" if rest else str(head)
