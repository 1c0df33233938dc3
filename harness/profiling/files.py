"""Profiles as JSON files."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from nonobot.harness.errors import UnusableError
from nonobot.harness.profiling.model import PROFILE_SCHEMA_VERSION, Profile
from nonobot.harness.profiling.spans import span_of

__all__ = ["read_profile", "to_json"]


def to_json(profile: Profile) -> str:
    """Return a profile as JSON text: a line for each puzzle, and `span`, how its time divides."""
    values = msgspec.to_builtins(profile)
    puzzles = ",\n".join(f"  {json.dumps(one)}" for one in values.pop("puzzles"))
    values["span"] = msgspec.to_builtins(span_of(profile))
    head = json.dumps(values, indent=1)
    return f'{head[:-2]},\n "puzzles": [\n{puzzles}\n ]\n}}\n'


def read_profile(path: Path) -> Profile:
    """Return the profile in a file that :func:`to_json` made.

    Raises
    ------
    UnusableError
        If it cannot be read, or is none of this version's.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnusableError(f"cannot read the profile {path}: {error.strerror}") from None
    try:
        version = msgspec.json.decode(content, type=_Head).schema_version
        if version == PROFILE_SCHEMA_VERSION:
            return msgspec.json.decode(content, type=Profile)
    except msgspec.MsgspecError as error:
        raise UnusableError(f"{path} is not what `nonojudge profile --json` writes: {error}") from None
    raise UnusableError(
        f"{path}: schema version {version}, of another nonojudge; this one reads {PROFILE_SCHEMA_VERSION}"
    )


class _Head(msgspec.Struct):
    """What tells whether the rest can be read."""

    schema_version: int
