"""Paths, with their links, in folders that the user perhaps may not enter; the user's home."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


def is_here(word: str) -> bool:
    """Return whether a word of a command names an existing file or folder."""
    try:
        return bool(word) and Path(word).exists()
    except (OSError, ValueError):  # a name that is too long; a NUL byte
        return False


# A word such as `/dev/stdout` may lead into a folder that the user may not enter. Up to Python 3.13, methods of
# `Path` raise PermissionError there.


def is_link(path: Path) -> bool:
    """Return whether a path is a link, as far as the user may look."""
    return os.path.islink(path)  # noqa: PTH114


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder, as far as the user may look."""
    return os.path.isdir(path)  # noqa: PTH112


def real_path(path: Path) -> Path:
    """Return a path without links; unlike :meth:`Path.resolve`, also where they lead in a circle."""
    return Path(os.path.realpath(path))


def without_dots(path: Path) -> Path:
    """Return the full path without `..`, which is not the folder above where a link comes before it."""
    plain = Path(os.path.normpath(path.absolute()))
    return plain if real_path(plain) == real_path(path) else real_path(path)


def is_in(path: Path, *folders: Path) -> bool:
    """Return whether a path is one of some folders or in one; links are not resolved."""
    return not {path, *path.parents}.isdisjoint(folders)


def links_of(path: Path) -> Iterator[Path]:
    """Yield a path, each link on from it, and the real path at the end."""
    for _ in range(40):
        yield path
        if not is_link(path):
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    yield real_path(path)


def homes() -> set[Path]:
    """Return the user's home folder, also with its links resolved; nothing if the user has none."""
    with contextlib.suppress(RuntimeError):
        return {Path.home(), Path.home().resolve()}
    return set()
