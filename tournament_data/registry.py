"""The official sets: the question files of the tournaments, known by name and by digest."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

__all__ = ["BROWSABLE", "MOST_BYTES", "OfficialSet", "official_sets"]

BROWSABLE = "https://github.com/zxkyjimmy/NonogramRecord"
"""Where people find the files; `official.toml` names where programs do."""

MOST_BYTES = 2_000_000
"""What is larger is no official set, and is not looked at; the sets have less than 700,000 bytes."""

_FILE = Path(__file__).with_name("official.toml")


@dataclass(frozen=True, slots=True)
class OfficialSet:
    """A question file of a tournament, as published.

    Attributes
    ----------
    name : str
        Event and year, such as `taai2011`.
    side : int
        Rows, and columns, of the boards.
    p1, p2 : float
        Share of black cells in the first and the last puzzle.
    bytes, line_ends : int, str
        Size of the file and its line ends; None if unknown.
    """

    name: str
    event: str
    year: int
    sha256: str
    puzzles: int
    side: int
    p1: float
    p2: float
    url: str
    bytes: int | None = None
    line_ends: Literal["lf", "crlf"] | None = None

    @property
    def file_name(self) -> str:
        """Name of the file where it is published and in the data folder."""
        return f"{self.name}.txt"

    def at(self, base: str) -> OfficialSet:
        """Return the same set, published as `base`/NAME.txt."""
        return replace(self, url=f"{base.rstrip('/')}/{self.file_name}")


@cache
def official_sets() -> Mapping[str, OfficialSet]:
    """Return the official sets by their names, in the order of their years."""
    table = tomllib.loads(_FILE.read_text(encoding="ascii"))
    repository = table.pop("repository")
    found = {}
    for name, facts in table.items():
        folder = f"{repository}/{facts.pop('commit', 'HEAD')}/question"
        found[name] = OfficialSet(name, url="", **facts).at(folder)
    return MappingProxyType(found)
