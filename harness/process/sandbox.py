"""The sandbox of a bot, by bubblewrap: no network, which files it sees, which are hidden, why there is none.

Files outside are absent, not merely hidden. The order of bubblewrap's options matters for security: each mount
covers the ones before it. The writable folders come last, so they must not contain anything that is hidden.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import IO

from nonobot.harness import UnusableError
from nonobot.harness.process.access import Access
from nonobot.harness.process.bot_command import (
    KERNEL_FOLDERS,
    SYSTEM,
    everything_named,
    folders_of,
    is_installed,
    leads_out,
    prefixes_of,
)
from nonobot.harness.process.paths import is_here, is_in, links_of, real_path, without_dots
from nonobot.harness.process.warm_up_folders import entries_of, package, writable_folders
from nonobot.harness.results.conditions import Configuration, Contain
from nonobot.system import beginning_of

SCRATCH_BYTES = 1 << 30  # size of scratch without a memory limit, and again of `/dev/shm`; both are memory
OWN_PROCESSES = 2  # bubblewrap's: one outside, which waits for the bot, and the first process inside
PATIENCE_SECONDS = 10.0
CPU_FACTS = Path("/sys/devices/system/cpu")  # folder from which programs learn the number of cores
_PARTS = "acpi", "asound", "bus", "driver", "fs", "irq", "scsi", "sys", "sysrq-trigger", "tty"
OF_ROOT = tuple(Path("/proc", part) for part in _PARTS)
"""Parts of /proc that root could write, with or without privileges."""

ROOTS_FILES = ("/etc", "/opt", "/usr/local")  # folders that may contain files that only root may read
MOST_LOOKED_AT = 20_000  # most files to examine in each of these, those of a folder before those of its subfolders
MOST_COVERED = 16  # files of a folder that are covered one by one, 1 ms each
ALWAYS_THERE = tuple(map(Path, ("/", "/dev", "/dev/shm", "/tmp", "/var", "/var/tmp")))
"""Folders that every bot has; its working folder may be one of them."""

RESULT_ENDS = (".journal.jsonl", ".stderr.txt", ".playing")
RESULT_NAMES = (".json", *RESULT_ENDS)
ASIDE = ".before-"
RESULT_BEGINNING = (b'"kind": "run"', b'"kind": "verify"')  # marks of a judge's files


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox(Access):
    """The sandbox of a bot: its access as real paths, and bubblewrap, which enforces it.

    The bot may also write in `/tmp`, its home, which no other bot ever sees.
    """

    scratch: Path | None = None  # working folder, also writable
    scratch_bytes: int = SCRATCH_BYTES
    options: tuple[str, ...] = ()  # of bubblewrap, as far as they work here

    def around(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        variables: int,
        status: int,
        *system_calls: int,
    ) -> list[str]:
        """Return the command that runs `command` in the sandbox; it must inherit the descriptors.

        Bubblewrap reads the environment from `variables` (:func:`variables_file`). It writes to `status` how the
        command ended, if it was executed, and reads the filter of system calls from `system_calls`, if any.

        OSError if there is no such program: bubblewrap would report that on the bot's stderr. SubprocessError if
        bubblewrap does not list its options in time.
        """
        self._require_seen(command)
        size = ("--size", str(self.scratch_bytes)) if "--size" in _help() else ()
        # Its own session: a signal to the bot's group must not reach bubblewrap, which waits outside.
        arguments = [_program(), *self.options, "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        arguments += ["--json-status-fd", str(status), "--args", str(variables)]
        arguments += [word for descriptor in system_calls for word in ("--seccomp", str(descriptor))]
        folders = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
        modules = [without_dots(Path(folder)) for folder in folders]
        mounts = self.mounts(command, size, [folder for folder in modules if not _is_of_every_bot(folder)])
        return [*arguments, *chain.from_iterable(mounts), "--", *command]

    def _require_seen(self, command: Sequence[str]) -> None:
        """Raise OSError if the program, or what a word of the command links to, is not in the sandbox."""
        if not shutil.which(command[0]):
            there = os.sep in command[0] and Path(command[0]).exists()
            raise OSError(number := errno.EACCES if there else errno.ENOENT, os.strerror(number))
        for word in filter(is_here, command):
            path = Path.cwd() / word
            real = real_path(path)
            seen = is_installed(real) or is_in(real, *SYSTEM, *map(real_path, self.show))
            if leads_out(path) and not seen and not is_in(path, *KERNEL_FOLDERS):
                why = f"{word} is a link out of its folder; name {real} itself, or add --show {real}"
                raise OSError(errno.ENOENT, why)

    def mounts(
        self, command: Sequence[str], size: Sequence[str] = (), modules: Sequence[Path] = ()
    ) -> list[tuple[str, ...]]:
        """Return bubblewrap's options for a command, in their order.

        `size` are the options that limit a scratch; `modules` are folders in which the command's Python finds
        modules.
        """
        here, folder_of_work = Path.cwd(), self.scratch or Path.cwd()
        folders, named = [*folders_of(command)], [*everything_named(command)]
        shown = _without_nested([*self.show, *folders, *prefixes_of(command), *package(), *modules])
        of_root = _covered_from_root(named, shown)
        within = chain.from_iterable(map(_hidden_within, _without_nested([*folders, *self.show, *modules])))
        hidden = _without_nested([*self._hidden(shown, named), *within])
        may_write, kept = self._written(folders)
        written = _without_nested(may_write)
        if len(hidden) > MOST_COVERED:
            hidden = _whole_folders(hidden, [*shown, *written])
        emptied = _emptied([path for path in hidden if not is_in(path, *written)])
        covered = [path for path in hidden if path.parent not in emptied]
        is_there = here in ALWAYS_THERE or is_in(here, *shown, *SYSTEM, Path("/proc"))
        empty = [] if is_there else [here]
        return [
            *map(_system, filter(Path.exists, SYSTEM)),
            *map(_cover, of_root),
            ("--proc", "/proc"),
            *_mounts("--ro-bind-try", OF_ROOT if os.geteuid() == 0 else ()),
            ("--dev", "/dev"),
            (*size, "--tmpfs", "/dev/shm"),
            ("--remount-ro", "/dev"),
            (*size, "--tmpfs", "/tmp"),
            ("--symlink", "../tmp", "/var/tmp"),
            *_mounts("--tmpfs", empty),
            *_mounts("--ro-bind-try", [CPU_FACTS]),
            *_mounts("--ro-bind", shown),
            *chain.from_iterable(map(_with_only, emptied, emptied.values())),
            *map(_cover, covered),
            *_mounts("--bind", [*written, *_folders_between(written, [*kept, *hidden])]),
            *_mounts("--ro-bind", kept),
            *map(_cover, (path for path in hidden if is_in(path, *written))),
            ("--dir", str(folder_of_work)),  # it may be in a covered folder
            *_mounts("--remount-ro", [*filter(Path.is_dir, (*of_root, *emptied, *covered)), *empty, Path("/")]),
            ("--chdir", str(folder_of_work)),
        ]

    def _hidden(self, shown: Sequence[Path], named: Sequence[Path]) -> Iterator[Path]:
        """Yield what must be covered, under each name that it has in the folders that are shown."""
        show = [*map(real_path, self.show)]
        needed = [*show, *(real_path(path) for path in (*named, *shown) if not leads_out(path))]
        for folder in (*shown, *(system_folder for system_folder in SYSTEM if not _is_link(system_folder))):
            real = real_path(folder)
            for hidden in self._hidden_in(real, show, needed):
                yield folder / hidden.relative_to(real)

    def _hidden_in(self, folder: Path, show: Sequence[Path], needed: Sequence[Path]) -> Iterator[Path]:
        """Yield what is hidden in a folder from a bot that needs the paths `needed`; all are real paths."""
        for results in _inside(folder, self.results):
            contents = chain(results.glob("*"), results.glob("*/*"))
            yield from filter(_is_result, contents) if _inside(results, needed) else [results]
        yield from (secret for secret in _inside(folder, self.secret) if secret not in needed)
        for other in _inside(folder, self.hide):
            installed = other.parent.name == "bin" and is_in(other, *SYSTEM)
            if not (installed or _inside(other, needed) or is_in(other, *show)):
                yield other

    def _written(self, folders: Sequence[Path]) -> tuple[list[Path], list[Path]]:
        """Return what the bot may write, for a warm-up also the bot's own folders, and what is kept in them."""
        written, kept = [path for path in (*self.writable, self.scratch) if path is not None], []
        if self.prepares:
            for folder, kept_in_it in writable_folders(folders, [*self.hide, *self.results]):
                written.append(folder)
                kept += kept_in_it
        return written, kept


def variables_file(environment: Mapping[str, str]) -> IO[bytes]:
    """Return an open file in memory with bubblewrap's options that set an environment, only inside the sandbox.

    Some variables would make bubblewrap itself run a stranger's code outside. On its command line, every user of
    the machine could read their values. ValueError: a name or value contains a NUL, which would begin an option.
    """
    options = [word for name, value in environment.items() for word in ("--setenv", name, value)]
    if any("\0" in word for word in options):
        raise ValueError("embedded null byte")
    file = os.fdopen(os.memfd_create("variables"), "w+b", buffering=0)
    file.write(b"".join(os.fsencode(word) + b"\0" for word in options))
    file.seek(0)
    return file


def built_sandbox(limits: Configuration, access: Access, scratch: Path | None = None) -> Sandbox | None:
    """Return a sandbox, or None; UnusableError if a required one is unavailable or `show` names a missing file.

    Scratch has room for twice the memory limit, so a bot reaches the limit before its scratch is full.
    """
    show = [without_dots(path) for path in access.show]
    for path in show:
        if not path.exists():
            raise UnusableError(f"--show {path}: there is no such file or folder")
        if _is_of_every_bot(path):
            raise UnusableError(f"--show {path}: every sandbox has its own; show a folder or file in it")
    if limits.contain is Contain.NO:
        return None
    options, why = working_options()
    if options is None:
        if limits.contain is Contain.YES:
            raise UnusableError(f"--contain yes: {why}")
        return None
    given = access.hide, access.secret, access.results
    hide, secret, results = (tuple(dict.fromkeys(map(real_path, paths))) for paths in given)
    shown = tuple(dict.fromkeys(step for path in show for step in links_of(path)))
    places = {"show": shown, "hide": hide, "secret": secret, "results": results, "writable": access.writable}
    scratch_bytes = 2 * (limits.most_memory_bytes or 0) or SCRATCH_BYTES
    return Sandbox(
        **places, prepares=access.prepares, scratch=scratch, scratch_bytes=scratch_bytes, options=options
    )


@cache
def _program() -> str:
    return shutil.which("bwrap") or ""


@cache
def _help() -> str:
    return subprocess.run([_program(), "--help"], capture_output=True, text=True, timeout=PATIENCE_SECONDS).stdout


@cache
def working_options() -> tuple[tuple[str, ...] | None, str | None]:
    """Return the options with which a program ran in a sandbox, or why none worked."""
    if sys.platform != "linux":
        return None, "sandboxes need Linux"
    program = _program()
    if not program:
        return None, "bubblewrap is not installed (package bubblewrap)"
    namespaces = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    files = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--cap-drop", "ALL"]
    # A bot that can make its own namespaces is root in them, and closer to bugs of the kernel.
    ways = [["--unshare-user", "--disable-userns"], ["--unshare-user"], []]
    why = ""
    for way in ways:
        trial = [program, *way, *namespaces, *files, "--json-status-fd", "1", "--", program, "--version"]
        try:
            done = subprocess.run(trial, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            why = str(error)
            continue
        if done.returncode == 0:
            return (*way, *namespaces), None
        why = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    return None, f"bubblewrap cannot create a sandbox here ({why})"


def _is_of_every_bot(path: Path) -> bool:
    """Return whether to show a path would replace what the sandbox makes for each bot, such as its own /proc."""
    return real_path(path) in ALWAYS_THERE or is_in(real_path(path), Path("/proc"))


def _is_link(folder: Path) -> bool:
    """Return whether a system folder is a link to another system folder."""
    return folder.is_symlink() and is_in(folder.resolve(), *SYSTEM)


def _system(folder: Path) -> tuple[str, ...]:
    if _is_link(folder):
        return ("--symlink", str(folder.readlink()), str(folder))
    return ("--ro-bind", str(folder), str(folder))


def _mounts(option: str, paths: Iterable[Path]) -> list[tuple[str, ...]]:
    """Return an option for each path, with its place in the sandbox if the option takes one."""
    return [(option, *[str(path)] * (2 if "bind" in option else 1)) for path in paths]


def _inside(folder: Path, paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if is_in(path, folder)]


def _cover(path: Path) -> tuple[str, ...]:
    return ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", "/dev/null", str(path))


def _whole_folders(hidden: Sequence[Path], but: Sequence[Path]) -> list[Path]:
    """Return what is hidden, with a folder in place of its content where all of it is hidden.

    The folders `but` stay, and those that contain one.
    """
    left = {*hidden}
    stay = {folder for path in but for folder in (path, *path.parents)}
    folders = {path.parent for path in hidden} - stay
    while folders:
        most_parts = max(len(folder.parts) for folder in folders)
        for folder in [folder for folder in folders if len(folder.parts) == most_parts]:
            folders.remove(folder)
            content = {Path(entry) for entry in entries_of(str(folder), len(left) + 1)}
            if content and content <= left:
                left -= content
                left.add(folder)
                folders |= {folder.parent} - stay
    return sorted(left)


def _emptied(hidden: Sequence[Path]) -> dict[Path, list[Path]]:
    """Return the folders of which much is hidden and less is left, each with what is left; outer folders first.

    To cover each of a thousand earlier results would cost the bot a second of its time.
    """
    names: dict[Path, set[str]] = {}
    for path in hidden:
        names.setdefault(path.parent, set()).add(path.name)
    emptied = {}
    for folder in sorted(names):
        entries = entries_of(str(folder), 2 * len(names[folder]))
        left = [Path(entry) for entry in entries if entry.name not in names[folder]]
        if len(left) < len(names[folder]) > MOST_COVERED:
            emptied[folder] = left
    return emptied


def _with_only(folder: Path, left: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    """Yield the options that show a folder with this content only."""
    yield ("--tmpfs", str(folder))
    for path in left:
        if path.is_symlink():
            yield ("--symlink", str(path.readlink()), str(path))
        else:
            yield ("--ro-bind-try", str(path), str(path))


def _covered_from_root(named: Sequence[Path], shown: Sequence[Path]) -> list[Path]:
    """Return the parts of system folders to cover because only root may read them and the bot runs as root.

    A program that the command names stays, if it lies there and is not shown by itself. Bubblewrap can cover only
    what still exists.
    """
    programs = [path for path in named if not is_in(path, *shown, Path("/etc"))]
    return [part for part in _of_root_alone() if part.exists() and not any(is_in(path, part) for path in programs)]


@cache
def _of_root_alone() -> tuple[Path, ...]:
    """Return what not every user may read in `ROOTS_FILES`; nothing unless the judge is root.

    A folder of the kernel that is mounted there again, as in a root for chroot, shows the machine's processes.
    """
    covered: list[Path] = []
    of_kernel = [folder.stat() for folder in KERNEL_FOLDERS if folder.exists()]
    for top in ROOTS_FILES if os.geteuid() == 0 else ():
        folders, looked_at = deque([top]), 0
        while folders and looked_at < MOST_LOOKED_AT:
            for path in entries_of(folders.popleft()):
                looked_at += 1
                with contextlib.suppress(OSError):  # it has gone
                    wanted = 0o005 if path.is_dir() else 0o004
                    if path.is_symlink():
                        continue
                    state = path.stat()
                    is_of_kernel = path.is_dir() and any(os.path.samestat(state, folder) for folder in of_kernel)
                    if is_of_kernel or state.st_mode & wanted != wanted:
                        covered.append(Path(path))
                    elif path.is_dir():
                        folders.append(path.path)
    return tuple(covered)


def _without_nested(paths: Sequence[Path]) -> list[Path]:
    """Return the existing paths that are not inside another one, sorted."""
    there = {path for path in paths if path.exists()}
    return sorted(path for path in there if not any(above in there for above in path.parents))


def _folders_between(written: Sequence[Path], kept: Sequence[Path]) -> list[Path]:
    """Return the folders between what is written and what stays as it is in it, outer folders first.

    Each is mounted for itself, since a warm-up could rename it otherwise, and put another one in its place.
    """
    above = {folder for path in kept for folder in path.parents if is_in(folder, *written)}
    return sorted(above - {*written})


def _hidden_within(folder: Path) -> Iterator[Path]:
    """Yield what is hidden among the first files of a folder and its subfolders, the nearest first.

    That is results, and sockets and pipes: with them, a bot would reach programs outside.
    """
    folders, looked_at = deque([str(folder)]), 0
    while folders and looked_at < MOST_LOOKED_AT:
        for entry in entries_of(folders.popleft(), MOST_LOOKED_AT - looked_at):
            looked_at += 1
            may_be_result = entry.name.endswith(RESULT_NAMES) or ASIDE in entry.name
            is_plain = entry.is_file(follow_symlinks=False) or entry.is_symlink()
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif not is_plain or (may_be_result and _is_result(Path(entry.path))):
                yield Path(entry.path)


def _is_result(path: Path) -> bool:
    """Return whether a judge wrote this file. Bubblewrap can cover no link, and covers what it leads to."""
    if path.is_symlink():
        return False
    path_before = path.with_suffix("") if path.suffix.startswith(ASIDE) else path
    if path_before.name.endswith(RESULT_ENDS):
        return True
    if path_before.suffix != ".json" or not path.is_file():
        return False
    with contextlib.suppress(OSError):  # if the judge cannot read it, neither can the bot
        beginning = beginning_of(path, 200)
        return any(mark in beginning for mark in RESULT_BEGINNING)
    return False
