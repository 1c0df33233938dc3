"""Walls around a bot, by bubblewrap: its own processes, no network, and of the files what its command names.

What stands outside is not hidden but absent: the bot's file system is made of the system's folders, the folders of
the files that the command names, and scratch. docs/judge.md says what is promised.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import nonobot
from nonobot.harness.errors import UnusableError
from nonobot.harness.results.run_result import Contain

__all__ = ["REFUSAL", "Walls", "built_walls", "hidden_results", "named_by", "uncontained", "why_no_walls"]

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu")
"""What programs of any kind need to start; nobody's own work lies there."""

CPU_FACTS = "/sys/devices/system/cpu"
"""From where programs learn how many cores there are."""

KERNEL_FOLDERS = ("/proc", "/dev", "/sys", "/run")
"""What is named there is not a file of the bot's."""

OF_ROOT = ("acpi", "asound", "bus", "driver", "fs", "irq", "scsi", "sys", "sysrq-trigger", "tty")
"""What root could write below /proc, whether it has privileges or not."""

MOST_INTERPRETERS = 5
"""A script's interpreter may be a script; the kernel goes as deep."""

MOST_BYTES_OF_A_FIRST_LINE = 256

SCRATCH_BYTES = 1 << 30
"""What a bot may keep in a scratch of its own, which is memory and counts as the bot's; as much in `/dev/shm`."""

PASSED_ON = ("PATH", "LANG", "LANGUAGE", "TZ", "TERM", "USER", "LOGNAME", "LD_LIBRARY_PATH", "JAVA_HOME")
PASSED_ON_STARTS = ("LC_", "PYTHON", "NUMBA_", "OMP_", "MKL_", "OPENBLAS_")
"""Of the environment: what programs run by. The rest may be secrets; `env NAME=VALUE ./mybot` passes more."""

RESULT_ENDS = (".journal.jsonl", ".stderr.txt")
RESULT_BEGINNING = (b'"kind": "run"', b'"kind": "verify"')
"""What a judge writes beside a bot that lies in the folder of the results."""

REFUSAL = "bwrap: "
"""How a line of bubblewrap begins that says why it did not run a command; its status is 1 then."""

PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Walls:
    """What stands around a bot.

    Attributes
    ----------
    program : str
        Bubblewrap.
    options : tuple of str
        Those that it takes here.
    show : tuple of Path
        What the bot may read beside what its command names.
    hide : tuple of Path
        What it may not, though its folder is shown: results, other bots.
    scratch : Path or None
        The folder that it may write in, also its home; None for one that only it ever sees, and that goes with it.
    writable : tuple of Path
        What else it may write in.
    prepares : bool
        Whether it is a warm-up: the caches and the bot's own folders can be written.
    """

    program: str
    options: tuple[str, ...]
    show: tuple[Path, ...] = ()
    hide: tuple[Path, ...] = ()
    scratch: Path | None = None
    writable: tuple[Path, ...] = ()
    prepares: bool = False

    def around(self, command: Sequence[str]) -> list[str]:
        """Return the command that runs `command` within the walls.

        Raises
        ------
        OSError
            If there is no such program: bubblewrap would tell it whoever reads the bot's stderr.
        """
        if not shutil.which(command[0]):
            there = os.sep in command[0] and Path(command[0]).exists()
            raise OSError(number := errno.EACCES if there else errno.ENOENT, os.strerror(number))
        here = Path.cwd()
        own = [*self.show, *_folders_of(command)]
        written = _without_nested([*self._written(own, here)])
        shown = _without_nested([*own, *_prefixes_of(command), *_package(), *_python_path()])
        # A session of its own: a signal to its group is not for bubblewrap, which waits for it outside.
        words = [self.program, *self.options, "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        for folder in map(Path, SYSTEM):
            if folder.is_symlink():
                words += ["--symlink", str(folder.readlink()), str(folder)]
            elif folder.exists():
                words += ["--ro-bind", str(folder), str(folder)]
        words += ["--ro-bind-try", CPU_FACTS, CPU_FACTS, "--proc", "/proc"]
        words += [word for one in _of_root_alone() for word in _masked(one)]
        if os.geteuid() == 0:
            words += [word for one in OF_ROOT for word in ("--ro-bind-try", f"/proc/{one}", f"/proc/{one}")]
        size = ("--size", str(SCRATCH_BYTES)) if "--size" in _help(self.program) else ()
        words += ["--dev", "/dev", *size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
        words += [*size, "--tmpfs", "/tmp", "--symlink", "../tmp", "/var/tmp"]
        empty = () if any(_is_in(here, one) for one in (*shown, *map(Path, SYSTEM))) else (str(here),)
        words += [word for one in empty for word in ("--tmpfs", one)]
        for folder in sorted(shown):
            words += ["--ro-bind", str(folder), str(folder)]
        for one in sorted(_without_nested([*self._hidden(shown, set(named_by(command)))])):
            words += _masked(one)
        for folder in sorted(written):
            words += ["--bind", str(folder), str(folder)]
        words += [
            "--chdir",
            str(self.scratch or here),
            *(word for one in (*empty, "/") for word in ("--remount-ro", one)),
        ]
        return [*words, "--", *command]

    def environment(self) -> dict[str, str]:
        """Return what the bot finds in its environment."""
        scratch = str(self.scratch or "/tmp")
        passed = {
            name: value
            for name, value in os.environ.items()
            if name in PASSED_ON or name.startswith(PASSED_ON_STARTS)
        }
        return {**passed, "HOME": scratch, "TMPDIR": scratch, "NONOBOT_CACHE_DIR": str(_cache_folder())}

    def warming(self) -> Walls:
        """Return the walls for what prepares the bot."""
        return replace(self, prepares=True)

    def _written(self, own: Sequence[Path], here: Path) -> Iterator[Path]:
        """Yield what the bot may write in; while it is prepared, its own folders, if nothing else is there."""
        yield from (path for path in (*self.writable, self.scratch) if path is not None)
        if self.prepares:
            _cache_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
            yield _cache_folder()
            kept = [here, *self.hide]
            yield from (one for one in own if one.is_dir() and not any(_is_in(other, one) for other in kept))

    def _hidden(self, shown: Sequence[Path], named: set[Path]) -> Iterator[Path]:
        """Yield what has to be covered in the folders that are shown."""
        for one in self.hide:
            if not one.exists() or not any(_is_in(one, folder) for folder in shown):
                continue
            if not any(_is_in(path, one) for path in (*named, *self.show)):
                yield one
            elif one.is_dir():  # a bot among results: each of them by itself
                yield from (file for file in one.iterdir() if _is_result(file))


def built_walls(contain: Contain, show: Sequence[Path] = (), hide: Sequence[Path] = ()) -> Walls | None:
    """Return walls for a bot; None where it is not to be contained, or cannot be and need not.

    Parameters
    ----------
    contain : Contain
    show, hide : sequence of Path
        As for :class:`Walls`.

    Raises
    ------
    UnusableError
        If it has to be contained and cannot be, or if something to be shown is not there.
    """
    show = [path.absolute() for path in show]
    for path in show:
        if not path.exists():
            raise UnusableError(f"--show {path}: there is no such file or folder")
    if contain is Contain.NO:
        return None
    options, why = _tried()
    if options is None:
        if contain is Contain.YES:
            raise UnusableError(f"--contain yes: {why}")
        return None
    hidden = tuple(dict.fromkeys(path for one in hide for path in (one.absolute(), one.resolve())))
    return Walls(_program(), options, tuple(show), hidden)


def hidden_results(result_path: Path) -> list[Path]:
    """Return where results lie, which are not for bots: where one is to come, and where they go unasked."""
    return [result_path.parent, Path("results")]


def uncontained(contain: Contain) -> str | None:
    """Return a line for people if bots could have been contained, were this another machine."""
    why = why_no_walls() if contain is Contain.AUTO else None
    return f"bots are not contained here: {why}; --contain no keeps this line away" if why else None


def why_no_walls() -> str | None:
    """Return why no bot can be contained here, in a line; None if it can."""
    return _tried()[1]


@cache
def _program() -> str:
    return shutil.which("bwrap") or ""


@cache
def _help(program: str) -> str:
    return subprocess.run([program, "--help"], capture_output=True, text=True, timeout=PATIENCE_SECONDS).stdout


@cache
def _tried() -> tuple[tuple[str, ...] | None, str | None]:
    """Return the options with which a program was run within walls, or why none could be."""
    if sys.platform != "linux":
        return None, "bots can be contained on Linux alone"
    program = _program()
    if not program:
        return None, "bubblewrap is not installed (bwrap, of the package bubblewrap)"
    own = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    # A bot that can make namespaces of its own is root in them, and nearer to the kernel's faults.
    ways = [["--unshare-user", "--disable-userns"], ["--unshare-user"], []]
    why = ""
    for way in ways:
        trial = [
            program,
            *way,
            *own,
            "--ro-bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--cap-drop",
            "ALL",
        ]
        try:
            done = subprocess.run(
                [*trial, "--", program, "--version"], capture_output=True, text=True, timeout=PATIENCE_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            why = str(error)
            continue
        if done.returncode == 0:
            return (*way, *own), None
        why = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    return None, f"bubblewrap cannot build its walls here ({why})"


def _masked(path: Path) -> tuple[str, ...]:
    """Return what covers a file or a folder."""
    if path.is_dir():
        return ("--tmpfs", str(path), "--remount-ro", str(path))
    return ("--ro-bind", "/dev/null", str(path))


@cache
def _of_root_alone() -> tuple[Path, ...]:
    """Return what of /etc only some may read, where the bot is run by root and could."""
    found: list[Path] = []
    if os.geteuid() == 0:
        for above, folders, files in os.walk("/etc"):
            for name in [*folders, *files]:
                path = Path(above, name)
                wanted = 0o005 if name in folders else 0o004
                if not path.is_symlink() and path.stat().st_mode & wanted != wanted:
                    found.append(path)
            folders[:] = [name for name in folders if Path(above, name) not in found]
    return tuple(found)


def _cache_folder() -> Path:
    """Return where nonobot keeps its compiled kernels, as it finds it itself."""
    chosen = os.environ.get("NONOBOT_CACHE_DIR")
    return Path(chosen or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nonobot").absolute()


def _package() -> list[Path]:
    """Return the package `nonobot`, and the rooms that it links to: bots are written with it."""
    folder = Path(nonobot.__file__).absolute().parent
    links = [one.resolve() for one in (folder, *folder.iterdir())]
    return [folder, *(one for one in links if one.is_dir()), _cache_folder()]


def _python_path() -> list[Path]:
    return [Path(one).absolute() for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]


def named_by(command: Sequence[str]) -> Iterator[Path]:
    """Yield the files and folders that a command names, its program first, but for those of the system."""
    system = [Path(one) for one in (*SYSTEM, *KERNEL_FOLDERS)]
    for path in _everything_named(command, Path.cwd()):
        if not any(_is_in(path, folder) for folder in system) and not _is_wide(path):
            yield path


def _everything_named(command: Sequence[str], here: Path) -> Iterator[Path]:
    program = shutil.which(command[0])
    for _ in range(MOST_INTERPRETERS):
        if program:
            yield from _links(here / program)
            program = _interpreter_of(here / program)
    words = [word for given in command[1:] for word in (given, given.partition("=")[2], *_tokens(given))]
    for word in dict.fromkeys(filter(None, words)):
        try:
            found = (here / word).exists()
        except (OSError, ValueError):  # too long for a name, or with a NUL
            continue
        if found:
            yield from _links(Path(os.path.normpath(here / word)))


def _interpreter_of(program: Path) -> str | None:
    """Return what a script names in its first line, `#!/usr/bin/env python3` being Python; None of other files."""
    try:
        with program.open("rb") as file:
            line = file.readline(MOST_BYTES_OF_A_FIRST_LINE)
    except OSError:
        return None
    words = line[2:].decode(errors="replace").split() if line.startswith(b"#!") else []
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    found = shutil.which(words[0]) if words else None
    return found if found and Path(found) != program else None


def _tokens(word: str) -> list[str]:
    """Return the words of a word that is a shell's command line."""
    if not any(sign.isspace() for sign in word):
        return []
    try:
        return list(shlex.shlex(word, posix=True, punctuation_chars=True))
    except ValueError:  # a quotation without an end
        return []


def _links(path: Path) -> Iterator[Path]:
    """Yield a path, and what it leads to, link by link."""
    for _ in range(40):
        yield path
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    yield path.resolve()


def _folders_of(command: Sequence[str]) -> Iterator[Path]:
    """Yield the folders that a command names, and those of the files."""
    programs = set(named_by(command[:1]))
    for path in named_by(command):
        if path.is_dir():
            yield path
        elif path not in programs or path.parent.name != "bin":
            yield path if _is_wide(path.parent) else path.parent


def _prefixes_of(command: Sequence[str]) -> Iterator[Path]:
    """Yield what belongs to a program that is installed in a folder `bin`: its sisters, such as `lib`."""
    for folder in {path.parent for path in named_by(command[:1])}:
        if folder.name == "bin" and not _is_wide(folder.parent) and folder.parent.name != ".local":
            yield folder.parent
        elif folder.name == "bin":
            yield folder
            yield from (one for one in folder.parent.glob("lib*") if one.is_dir())


def _is_wide(path: Path) -> bool:
    """Tell whether a folder holds so much that no program is meant by it: home, what is above it, /tmp."""
    home, temporary = Path.home(), Path(os.environ.get("TMPDIR", "/tmp"))
    return path in {home, *home.parents, temporary, *temporary.parents, Path("/tmp"), Path("/var/tmp")}


def _is_in(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _without_nested(paths: Sequence[Path]) -> list[Path]:
    """Return those that are there and in no other of them."""
    there = {path for path in paths if path.exists()}
    return [path for path in there if not any(above in there for above in path.parents)]


def _is_result(path: Path) -> bool:
    """Tell whether a judge wrote that file."""
    if path.name.endswith(RESULT_ENDS):
        return True
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        return any(one in file.read(200) for one in RESULT_BEGINNING)
