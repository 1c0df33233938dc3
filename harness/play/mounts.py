"""The file system of a sandboxed bot, as data: the parts of this machine that it sees or can write.

It is a list of bubblewrap's options, whose order keeps a bot out: each lies over those before. First comes the
system, then the shown files, over them the hidden ones, and last the writable folders, which must therefore hold
nothing that is hidden.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nonobot
from nonobot.harness.play.bot_command import (
    SYSTEM,
    everything_named,
    folders_of,
    is_in,
    is_own_bot,
    prefixes_of,
)
from nonobot.system import kernel_cache

__all__ = ["View"]

CPU_FACTS = "/sys/devices/system/cpu"
"""Folder from which programs learn the number of cores."""

OF_ROOT = ("acpi", "asound", "bus", "driver", "fs", "irq", "scsi", "sys", "sysrq-trigger", "tty")
"""Parts of /proc that root could write, with privileges or without."""

ROOTS_FILES = ("/etc", "/opt", "/usr/local")
"""Folders that may contain files that only root may read."""

MOST_LOOKED_AT = 20_000
"""Most files to look at in each of these, those of a folder before those of its subfolders."""

ALWAYS_THERE = tuple(map(Path, ("/", "/dev", "/dev/shm", "/tmp", "/var", "/var/tmp")))
"""Folders that a bot finds whatever it is shown; its working folder may be one of them."""

RESULT_ENDS = (".journal.jsonl", ".stderr.txt")
RESULT_BEGINNING = (b'"kind": "run"', b'"kind": "verify"')
"""Files of a judge, to be hidden from a bot in the folder of the results."""

Mounts = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The files of this machine that a bot sees, in addition to the system's and those that its command names.

    Attributes
    ----------
    show, writable : tuple of Path
        Files that it may read or write in addition.
    hide : tuple of Path
        Files that it may not read though their folder is shown: other bots' files, as real paths. `show` wins.
    results : tuple of Path
        Folders of results, as real paths, which it may never read. Where the bot itself lies in one, each result
        there is hidden by itself.
    scratch : Path or None
        The folder that it may write in, also its home; None for one that only it ever sees, removed with it.
    prepares : bool
        Whether it is a warm-up, which can write in the bot's own folders.
    """

    show: tuple[Path, ...] = ()
    hide: tuple[Path, ...] = ()
    results: tuple[Path, ...] = ()
    scratch: Path | None = None
    writable: tuple[Path, ...] = ()
    prepares: bool = False

    def mounts(self, command: Sequence[str], size: Sequence[str] = ()) -> Mounts:
        """Return bubblewrap's options for a command, in their order; `size` are those that bound a scratch."""
        here = Path.cwd()
        own = [*folders_of(command)]
        named = [*everything_named(command)]
        shown = _without_nested([*self.show, *own, *prefixes_of(command), *_package(), *_python_path()])
        of_root = _covered_from_root(named, shown)
        hidden = _without_nested([*self._hidden(shown, named)])
        is_there = here in ALWAYS_THERE or any(is_in(here, one) for one in (*shown, *SYSTEM, Path("/proc")))
        empty = () if is_there else (str(here),)
        return [
            *map(_system, filter(Path.exists, SYSTEM)),
            *map(_cover, of_root),
            ("--proc", "/proc"),
            *(("--ro-bind-try", f"/proc/{one}", f"/proc/{one}") for one in OF_ROOT if os.geteuid() == 0),
            ("--dev", "/dev"),
            (*size, "--tmpfs", "/dev/shm"),
            ("--remount-ro", "/dev"),
            (*size, "--tmpfs", "/tmp"),
            ("--symlink", "../tmp", "/var/tmp"),
            *(("--tmpfs", one) for one in empty),
            ("--ro-bind-try", CPU_FACTS, CPU_FACTS),
            *(("--ro-bind", str(one), str(one)) for one in shown),
            *map(_cover, hidden),
            *(("--bind", str(one), str(one)) for one in _without_nested([*self._written(command, own)])),
            ("--dir", str(self.scratch or here)),  # it may lie in what is covered
            *(("--remount-ro", str(one)) for one in (*of_root, *hidden) if one.is_dir()),
            *(("--remount-ro", one) for one in (*empty, "/")),
            ("--chdir", str(self.scratch or here)),
        ]

    def _hidden(self, shown: Sequence[Path], named: Sequence[Path]) -> Iterator[Path]:
        """Yield what has to be covered, under each name that it has in the folders that are shown."""
        show = [path.resolve() for path in self.show]
        needed = [*show, *(path.resolve() for path in (*named, *shown))]
        for folder in (*shown, *(one for one in SYSTEM if not _is_link(one))):
            real = folder.resolve()
            for one in self._hidden_in(real, show, needed):
                yield folder / one.relative_to(real)

    def _hidden_in(self, folder: Path, show: Sequence[Path], needed: Sequence[Path]) -> Iterator[Path]:
        """Yield what is hidden in a folder from a bot that needs some of it; all are real paths."""
        for one in self.results:
            if is_in(one, folder) and any(is_in(path, one) for path in needed):
                yield from (file for pattern in ("*", "*/*") for file in one.glob(pattern) if _is_result(file))
            elif is_in(one, folder):
                yield one
        for one in self.hide:
            installed = one.parent.name == "bin" and any(is_in(one, its) for its in SYSTEM)
            named = any(is_in(path, one) for path in needed) or any(is_in(one, path) for path in show)
            if is_in(one, folder) and not installed and not named:
                yield one

    def _written(self, command: Sequence[str], own: Sequence[Path]) -> Iterator[Path]:
        """Yield what the bot may write in; while it is prepared, its own folders, if nothing else is there.

        Kernels are code that every later process of `nonobot` runs: only the bot of this project writes them.
        """
        yield from (path for path in (*self.writable, self.scratch) if path is not None)
        if not self.prepares:
            return
        if is_own_bot(command):
            kernel_cache().mkdir(mode=0o700, parents=True, exist_ok=True)
            yield kernel_cache()
        judges = [path.resolve() for path in _package()]
        kept = [Path.cwd().resolve(), *self.hide, *self.results, *judges]
        for one in filter(Path.is_dir, own):
            real = one.resolve()
            if not any(is_in(other, real) for other in kept) and not any(is_in(real, other) for other in judges):
                yield one


def _is_link(folder: Path) -> bool:
    """Return whether a folder of the system is a link to another one of them."""
    return folder.is_symlink() and any(is_in(folder.resolve(), one) for one in SYSTEM)


def _system(folder: Path) -> tuple[str, ...]:
    if _is_link(folder):
        return ("--symlink", str(folder.readlink()), str(folder))
    return ("--ro-bind", str(folder), str(folder))


def _cover(path: Path) -> tuple[str, ...]:
    return ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", "/dev/null", str(path))


def _covered_from_root(named: Sequence[Path], shown: Sequence[Path]) -> list[Path]:
    """Return what is covered of the system's folders because only root may read it, as the bot runs as root.

    A program that lies there is named, and not shown by itself.
    """
    programs = [path for path in named if not any(is_in(path, one) for one in (*shown, Path("/etc")))]
    return [one for one in _of_root_alone() if not any(is_in(path, one) for path in programs)]


@cache
def _of_root_alone() -> tuple[Path, ...]:
    """Return what only some may read in the folders where the system keeps such files; nothing where they hold."""
    covered: list[Path] = []
    for top in ROOTS_FILES if os.geteuid() == 0 else ():
        folders, looked_at = deque([top]), 0
        while folders and looked_at < MOST_LOOKED_AT:
            for path in _entries(folders.popleft()):
                looked_at += 1
                with contextlib.suppress(OSError):  # it has gone
                    wanted = 0o005 if path.is_dir() else 0o004
                    if path.is_symlink():
                        continue
                    if path.stat().st_mode & wanted != wanted:
                        covered.append(Path(path))
                    elif path.is_dir():
                        folders.append(path.path)
    return tuple(covered)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return list(entries)
    return []


def _package() -> list[Path]:
    """Return the package `nonobot`, and the rooms that it links to: bots are written with it; and its kernels."""
    folder = Path(nonobot.__file__).absolute().parent
    links = [one.resolve() for one in (folder, *folder.iterdir())]
    return [folder, *(one for one in links if one.is_dir()), kernel_cache()]


def _python_path() -> list[Path]:
    return [Path(one).absolute() for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]


def _without_nested(paths: Sequence[Path]) -> list[Path]:
    """Return those that are there and in no other of them, sorted."""
    there = {path for path in paths if path.exists()}
    return sorted(path for path in there if not any(above in there for above in path.parents))


def _is_result(path: Path) -> bool:
    """Return whether a judge wrote that file."""
    if path.name.endswith(RESULT_ENDS):
        return True
    if path.suffix != ".json" or not path.is_file():
        return False
    with contextlib.suppress(OSError), path.open("rb") as file:  # what the judge cannot read, the bot cannot
        beginning = file.read(200)
        return any(one in beginning for one in RESULT_BEGINNING)
    return False
