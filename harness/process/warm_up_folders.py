"""The folders of a bot that its warm-up may write in a sandbox, and what stays as it is in them."""

from __future__ import annotations

import contextlib
import os
import re
import site
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import nonobot
from nonobot.harness.process.machine import place_of_workers
from nonobot.harness.process.nonobot_command import HOME
from nonobot.harness.process.paths import homes, is_in, real_path
from nonobot.system import kernel_cache, temporary_cache, user_cache

GIT = ".git"  # git runs programs that a repository's configuration names
MOST_LOOKED_AT = 200_000  # most files in a folder that a warm-up may write: a second of the judge's time
_END_OF_WORD = r"\s:;,|&'\"=<>()"  # characters that end a path in a command line or a list
_ABSOLUTE_PATH = re.compile(f"/[^{_END_OF_WORD}]+")
_OWN_HOME = re.compile(rf"(?<![^{_END_OF_WORD}])~(?=/)")
STATES_OF_A_SHELL = ("PWD", "OLDPWD")  # variables that name folders from which no program loads anything
IN_PLACE_OF_HIDDEN = re.compile("XDG_(CACHE|CONFIG|DATA|STATE)_HOME|PYTHONPYCACHEPREFIX|PYTHONUSERBASE")
"""Variables that name folders of many programs, in place of hidden ones of the home."""


def writable_folders(folders: Iterable[Path], foreign: Iterable[Path]) -> Iterator[tuple[Path, list[Path]]]:
    """Yield those of a bot's own folders that its warm-up may write, and what stays as it is in each; real paths.

    Not if such a folder is or contains something that is not the bot's (`foreign`), or is part of what the judge
    or the user's shell runs. Nor if it contains too many files to look at all.
    """
    judges = folders_of_the_judge()
    values = _values_of_variables()
    kept = [*foreign, *judges, Path.cwd(), *_named_in(values), *_targets_in(os.get_exec_path())]
    for real in map(real_path, filter(Path.is_dir, folders)):
        is_kept = any(is_in(path, real) for path in kept) or is_in(real, *judges)
        mention = re.compile(f"{re.escape(str(real))}(?![^/{_END_OF_WORD}])")  # also where the path has a space
        is_kept = is_kept or any(map(mention.search, values))
        # Python finds modules in the first folders of a clone of nonobot.
        if not is_kept and real.parent != HOME and GIT not in real.parts and not _is_of_programs(real):
            with contextlib.suppress(OverflowError):
                yield real, [*_kept_in(real)]


def folders_of_the_judge() -> list[Path]:
    """Return the folders that contain what the judge runs and imports, and its caches, as real paths."""
    is_clone = any(entry.is_symlink() for entry in Path(nonobot.__file__).parent.iterdir())
    # The other folders of a clone may contain bots.
    libraries = [path for path in map(Path, sys.path) if path.is_absolute() and not (is_clone and path == HOME)]
    pythons = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, site.getusersitepackages())
    caches = [user_cache()]
    with contextlib.suppress(FileNotFoundError):
        caches += [temporary_cache(), place_of_workers()]
    return list({folder.resolve(): None for folder in (*package(), *map(Path, pythons), *libraries, *caches)})


def package() -> list[Path]:
    """Return the package `nonobot`, which bots may import, the packages that it links to, and its kernels."""
    folder = Path(nonobot.__file__).absolute().parent
    links = [entry.resolve() for entry in (folder, *folder.iterdir())]
    return [folder, *(link for link in links if link.is_dir()), kernel_cache()]


def entries_of(folder: str | Path, most: int | None = None) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, at most so many; none if the judge cannot read it."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        return list(islice(found, most))
    return []


def _values_of_variables() -> set[str]:
    """Return the values of the user's variables that may name places.

    The judge's own PATH lacks the relative folders of the user's; the environment that it started with has them.
    """
    variables = [f"{name}={value}" for name, value in os.environ.items() if name not in STATES_OF_A_SHELL]
    with contextlib.suppress(OSError):
        first = Path("/proc/self/environ").read_bytes().split(b"\0")
        variables += [word for word in map(os.fsdecode, first) if word.startswith("PATH=")]
    values = {variable.partition("=")[2] for variable in variables}
    # Programs and shells expand what the variable contains.
    values |= {os.path.expandvars(value) for value in values}
    return values | {_OWN_HOME.sub(str(home), value) for home in homes() for value in values}


def _named_in(values: Iterable[str]) -> Iterator[Path]:
    """Yield the places that variables name: later programs load programs, libraries and caches there.

    A variable may be a place, a list of places, or a command line with places (`PAGER`, `NODE_OPTIONS`).
    """
    for value in values:
        places = [*filter(None, value.split(os.pathsep)), *_ABSOLUTE_PATH.findall(value)]
        yield from (real_path(Path(place).absolute()) for place in places)


def _targets_in(folders: Iterable[str]) -> Iterator[Path]:
    """Yield the files that links in folders of programs lead to."""
    for folder in folders:
        yield from (real_path(Path(entry.path)) for entry in entries_of(folder) if entry.is_symlink())


def _kept_in(folder: Path) -> Iterator[Path]:
    """Yield each `.git` in a folder, and what contains files that have names elsewhere, too.

    uv, conda and pnpm link a package's files into each environment: to write one is to write them all. Of these,
    the entry of `folder` is kept in which they lie. OverflowError if the folder contains too many files.
    """
    names: dict[tuple[int, int, int], list[Path]] = {}
    folders, left = deque([folder]), MOST_LOOKED_AT
    while folders:
        for entry in entries_of(folders.popleft(), left):
            left -= 1
            path = Path(entry.path)
            if entry.name == GIT and not entry.is_symlink():
                yield path
            elif entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif entry.is_file(follow_symlinks=False) and (status := path.lstat()).st_nlink > 1:
                names.setdefault((status.st_dev, status.st_ino, status.st_nlink), []).append(path)
        if left <= 0:
            raise OverflowError
    elsewhere = [file for (_, _, links), paths in names.items() if len(paths) < links for file in paths]
    yield from {folder / path.relative_to(folder).parts[0] for path in elsewhere}


def _is_of_programs(real: Path) -> bool:
    """Return whether a folder is in one from which programs of the user load programs and settings.

    These are `~/bin`, which login shells add to PATH, the hidden folders of the home, such as `~/.config`, and
    those that take their place.
    """
    first = [real.relative_to(home).parts[:1] for home in homes() if is_in(real, home)]
    instead = [value for name, value in os.environ.items() if value and IN_PLACE_OF_HIDDEN.fullmatch(name)]
    return is_in(real, *map(real_path, map(Path, instead))) or any(
        name == "bin" or name.startswith(".") for (name,) in filter(None, first)
    )
