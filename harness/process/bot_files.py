"""The files of a bot: digests that show whether it was replaced, and what it writes, which the judge distrusts."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import permutations
from pathlib import Path, PurePosixPath

import nonobot
from nonobot.harness import UnusableError
from nonobot.harness.process.bot_command import (
    INTERPRETER,
    KERNEL_FOLDERS,
    OPT,
    SHM,
    SYSTEM,
    interpreter_in,
    words_after,
)
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.nonobot_command import is_own_bot
from nonobot.harness.process.paths import is_here, is_in, real_path
from nonobot.harness.results.conditions import Feed, FileNames, ProgramFile
from nonobot.system import pieces_of, reason_of

OWN_MODULES = "-m nonobot"  # the entry of nonobot among the files: all its modules together
LOCAL = Path("/usr/local")  # as OPT
MOST_BYTES_HASHED = 1 << 30  # largest file that is read for its digest, in a second or two
SECONDS_TO_REMOVE = 1.0  # longest wait for the removal of a folder, which continues without the judge
REMOVE = '{ chmod -R u+rwx -- "$1"; rm -rf -- "$1"; } &'  # in the background, so that it counts for no bot


def files_named(commands: Iterable[Sequence[str]]) -> list[str]:
    """Return words for the files that commands name: a program, its interpreter if it is a script, other files.

    :func:`located` finds these files also in another working folder or on another machine.
    """
    names: dict[str, None] = {}
    for command in filter(None, commands):
        interpreter = interpreter_in(located(command[0]))
        names |= dict.fromkeys([command[0], *([interpreter] if interpreter else [])])
        for word in words_after(command):
            path = Path(word).absolute()
            of_kernel = is_in(path, *KERNEL_FOLDERS) and not is_in(path, SHM)
            if is_here(word) and path.is_file() and not of_kernel:
                names[word if os.sep in word else f"{os.curdir}{os.sep}{word}"] = None
    return list(names)


def located(word: str) -> Path:
    """Return the file that a word names; a program is looked up in PATH."""
    return Path(shutil.which(word) or word)


def digest_of(word: str) -> ProgramFile | None:
    """Return the size and digest of the file that a word names; None if it is missing or unreadable.

    KeyboardInterrupt if the user stops the judge.
    """
    if word == OWN_MODULES:
        return ProgramFile(word, modules_digest("bot", "protocol"))
    try:
        path = located(word)
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            return None
        if facts.st_size > MOST_BYTES_HASHED:
            time_ns = max(0, facts.st_mtime_ns)
            digest = hashlib.sha256(f"{facts.st_size} {time_ns}".encode()).hexdigest()
            return ProgramFile(word, digest, facts.st_size, time_ns)
        stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
        return ProgramFile(word, _digest(path.absolute(), stamp), facts.st_size)
    except (OSError, ValueError):
        return None


@cache
def _digest(path: Path, _stamp: tuple[int, ...]) -> str:
    digest = hashlib.sha256()
    for piece in pieces_of(path, MOST_BYTES_HASHED):
        digest.update(piece)
        Interrupts.raise_if_stopped()
    return digest.hexdigest()


@cache
def modules_digest(*packages: str) -> str:
    """Return a digest of all modules of `nonobot`, or of some packages: one version of a clone has many states."""
    digest = hashlib.sha256()
    folder = Path(nonobot.__file__).parent
    tops = [folder / package for package in packages] or [folder]
    found = (
        Path(name) / file for top in tops for name, _, files in os.walk(top, followlinks=True) for file in files
    )
    for path in sorted(found):
        if path.suffix == ".py":
            digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def bot_files(commands: Sequence[Sequence[str]], show: Iterable[Path] = ()) -> list[ProgramFile]:
    """Return the files of a bot: those that its commands name, without the system's, and those to `show`."""
    names = [word for word in files_named(commands) if not _is_of_system(located(word))]
    names += [str(path) for path in show if path.is_file()]
    if any(is_own_bot(command) for command in commands if command):
        names.append(OWN_MODULES)
    return [file for word in dict.fromkeys(names) if (file := digest_of(word))]


def changed_files(recorded: Iterable[ProgramFile], today: Iterable[ProgramFile]) -> list[str]:
    """Return the names of recorded files whose content is another one today; missing files do not count."""
    digests = {file.name: file.sha256 for file in today}
    return [file.name for file in recorded if digests.get(file.name, file.sha256) != file.sha256]


def change_in_words(name: str) -> str:
    """Return a phrase: a file has changed; for a program found in PATH, also where it is now."""
    return f"{name} changed" if os.sep in name else f"{name} changed: now {located(name)}"


def without_written(recorded: Sequence[ProgramFile], command: Sequence[str]) -> list[ProgramFile]:
    """Return the recorded files without those that changed during the run and are not programs.

    The bot may have written them itself, such as a log. A changed program was replaced and stays in the list. If
    the user stops the judge, all stay.
    """
    try:
        changed = changed_files(recorded, filter(None, (digest_of(file.name) for file in recorded)))
    except KeyboardInterrupt:
        return list(recorded)
    scripts = files_named([command])[1:2] if INTERPRETER.fullmatch(Path(command[0]).name) else []
    return [
        file
        for file in recorded
        if file.name not in changed or file.name in scripts or os.access(located(file.name), os.X_OK)
    ]


def _is_of_system(path: Path) -> bool:
    """Return whether a file, or the target of its link, comes with the system, whose updates replace no bot."""
    ends = path.absolute(), real_path(path)
    return any(is_in(end, *SYSTEM, *KERNEL_FOLDERS) and not is_in(end, OPT, LOCAL, SHM) for end in ends)


def file_names(
    reads: str | None, writes: str | None, logs: str | None, feed: Feed, dashes: str = ""
) -> FileNames | None:
    """Return the files of a bot that works on files; None for another bot.

    UnusableError if a name is unusable or missing, two are the same, or the feed is interactive. `dashes` is the
    prefix of the names in the message, where they are options.
    """
    options = [f"{dashes}{word}" for word in ("reads", "writes", "logs")]
    given = zip(options, (reads, writes, logs), strict=True)
    paths = {option: _path(option, name) for option, name in given if name is not None}
    if not paths:
        return None
    for needed in options[:2]:
        if needed not in paths:
            raise UnusableError(
                f"{next(iter(paths))} also needs {needed}: a bot that works on files reads one and writes another"
            )
    for (option, path), (other, above) in permutations(paths.items(), 2):
        if path == above:
            raise UnusableError(f"{option} and {other} name the same file, {str(path)!r}")
        if above in path.parents:
            raise UnusableError(
                f"{option} {str(path)!r}: {str(above)!r} is already the file of {other}; choose another name"
            )
    if feed is Feed.INTERACTIVE:
        raise UnusableError(
            f"{dashes}reads: a bot that works on files gets all its puzzles at once; remove --feed interactive"
        )
    return FileNames(*map(str, paths.values()))


def _path(option: str, name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or name.endswith("/") or not name.isprintable():
        raise UnusableError(
            f"{option} {name!r}: name a file in the folder that the bot runs in, without a leading '/' and '..'"
        )
    return path


class UnreadableError(Exception):
    """A bot's file cannot be read; the message says why, in a few words."""


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder that only this user may enter, and remove it at the end with any content.

    A stranger's bot may have filled it: with folders that forbid their removal, or are nested deeper than a path
    may be long. The system's `rm` can remove those, and the judge waits only briefly for it.
    """
    folder = Path(tempfile.mkdtemp(prefix="nonojudge-")).resolve()
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                ["sh", "-c", REMOVE, "sh", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # always empty; its end is the end of the removal
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                timeout=SECONDS_TO_REMOVE,
                check=False,
            )


@contextlib.contextmanager
def opened_below(folder: Path, name: str) -> Iterator[int]:
    """Open a file below `folder` that a bot may have made, for reading within the block; or UnreadableError.

    The judge follows no link in any part of the name: a link could make the judge read a file that the bot itself
    may not read. It does not wait for a pipe either.
    """
    *folders, last = PurePosixPath(name).parts
    steps = [(part, os.O_DIRECTORY) for part in folders] + [(last, os.O_NONBLOCK)]
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part, kind in steps:
                below = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | kind, dir_fd=opened)
                os.close(opened)
                opened = below
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise UnreadableError(f"{name!r} in its folder is not a file")
            yield opened
        finally:
            os.close(opened)
    except FileNotFoundError:
        raise UnreadableError(f"no file {name!r} in its folder") from None
    except OSError as error:
        why = "links are not followed" if error.errno == errno.ELOOP else reason_of(error)
        raise UnreadableError(f"{name!r} in its folder cannot be read: {why}") from None
