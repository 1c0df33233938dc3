"""What a bot's command names: the files that belong to it and that a sandbox shows; its default name."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from nonobot.harness.process.paths import homes, is_folder, is_here, is_in, is_link, links_of, real_path
from nonobot.system import beginning_of

INTERPRETER = re.compile(r"(python|pypy|ruby|perl|lua|node|java|bash|sh)[0-9.]*")

INLINE = ("-c", "-e", "--eval", "-p", "--print", "-pe", "-E")
"""Options of interpreters before a program that is a word of the command."""

_NAMES = "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt", "nix/store", "gnu/store"
SYSTEM = tuple(Path("/", name) for name in _NAMES)  # what programs of any kind need to start
OPT = Path("/opt")  # system folder for programs that people install by hand
KERNEL_FOLDERS = tuple(map(Path, ("/proc", "/dev", "/sys", "/run")))  # their files do not belong to a bot
SHM = Path("/dev/shm")  # except here, in memory, as in `/tmp`
BESIDE_BIN = ("lib*", "share", "etc", "conf", "pyvenv.cfg")  # neighbours of a folder `bin` that its programs need
MOST_NEIGHBOURS = 100  # most of one kind: each costs a mount
MOST_INTERPRETERS = 5  # a script's interpreter may be a script; Linux follows as many
MOST_BYTES_OF_TWO_LINES = 8192  # with a path of the greatest length
SHIMS = "shims"  # folder of pyenv or asdf with scripts that start programs of the folders next to it


def name_of(command: Sequence[str]) -> str:
    """Return a default name for a bot: its program, the script that an interpreter runs, or what is adapted.

    A program that is a word of the command gets a digest of it: a table needs one name for each bot.
    """
    if "adapt" in command and "--" in command[:-1]:
        command = command[command.index("--") + 1 :]
    program = Path(command[0]).name
    if INTERPRETER.fullmatch(program):
        for before, word in pairwise(command):
            if before in INLINE:
                return f"{program} {before} {hashlib.sha256(os.fsencode(word)).hexdigest()[:6]}"
            if not word.startswith("-"):
                return Path(word).stem
    return program


def named_by(command: Sequence[str]) -> Iterator[Path]:
    """Yield the files and folders that a command names, its program first, without those of the system."""
    for path in everything_named(command):
        of_system = is_in(path, *SYSTEM, *KERNEL_FOLDERS) and not is_in(path, OPT, SHM)
        if not of_system and not _is_wide(path):
            yield path


def everything_named(command: Sequence[str]) -> Iterator[Path]:
    """Yield the files and folders that a command names, with targets of links and interpreters of scripts."""
    here = Path.cwd()
    program = shutil.which(command[0])
    if program:
        yield from _with_interpreters(here / program)
    for word in words_after(command):
        if is_here(word):
            yield from _with_interpreters(Path(os.path.normpath(here / word)))


def words_after(command: Sequence[str]) -> list[str]:
    """Return the words after a program that may name files, also in `--option=word` and in a shell's line."""
    names = [word for given in command[1:] for word in (given, given.partition("=")[2], *_tokens(given))]
    return list(dict.fromkeys(names))


def _with_interpreters(path: Path) -> Iterator[Path]:
    """Yield a path, the targets of its links and, for a script, its interpreter, which may be a script too.

    Links and first lines may be a stranger's, and what they lead to is shown to the bot. So they lead out of a
    folder only to installed programs.
    """
    for _ in range(MOST_INTERPRETERS):
        if not leads_out(path):
            yield from links_of(path)
        else:
            yield from filter(is_installed, links_of(path))
            if not (is_folder(path) or leads_out(path.parent)):
                yield path  # a link without what it leads to
        interpreter = interpreter_in(path)
        program = shutil.which(interpreter) if interpreter else None
        if not interpreter or not program:
            break
        script, path = path, Path.cwd() / program
        if os.sep in interpreter and not (is_installed(path) or is_in(path, script.parent)):
            break


def leads_out(path: Path) -> bool:
    """Return whether a link on the way to a path leads out of the folder that it is in.

    Links in the user's home, and above it or above the working folder, are the user's own and do not count.
    """
    reached = Path(path.anchor)  # without links, as far as the way was gone
    for part in path.parts[1:]:
        folder, reached = reached, reached.parent if part == os.pardir else reached / part
        if is_link(reached):
            reached = Path(os.path.realpath(reached))
            if not is_in(reached, folder) and folder not in _of_the_user():
                return True
    return False


def _of_the_user() -> set[Path]:
    """Return the folders whose links are the user's own."""
    return {*Path.cwd().parents, *homes(), *(above for home in homes() for above in home.parents)}


def interpreter_in(program: str | Path) -> str | None:
    """Return the interpreter in the first line of a script (`#!/usr/bin/env python3`: python3); otherwise None.

    The kernel cuts that line at a space and after some length; pip then writes a script for `sh` that starts the
    interpreter in its second line.
    """
    try:
        head = beginning_of(program, MOST_BYTES_OF_TWO_LINES)
        text, _, _ = head.partition(b"\0")  # it ends there for the kernel
        line, second, *_ = [*text.split(b"\n"), b""]
    except (OSError, ValueError):
        return None
    command = line[2:].decode(errors="replace").split() if line.startswith(b"#!") else []
    if command and second.startswith(b"'''exec' "):
        command = _tokens(os.fsdecode(second))[1:]
    if command and Path(command[0]).name == "env":
        command = [word for word in command[1:] if not word.startswith("-") and "=" not in word]
    return command[0] if command else None


def folders_of(command: Sequence[str]) -> Iterator[Path]:
    """Yield the folders that a command names, and the folders of the files that it names."""
    for path in named_by(command):
        if is_folder(path):
            yield path
        elif not is_installed(path):
            yield path if _is_wide(path.parent) else path.parent


def own_files(command: Sequence[str]) -> Iterator[Path]:
    """Yield what a command names, without programs that only a `#!` line or a link names: others may need them."""
    given = {Path.cwd() / (shutil.which(word) or word) for word in (command[0], *words_after(command))}
    for path in named_by(command):
        if path in given or not is_installed(path):
            yield path


def prefixes_of(command: Sequence[str]) -> Iterator[Path]:
    """Yield the folders `bin` of installed programs, and the neighbours that the programs need, such as `lib`."""
    for folder in {path.parent for path in named_by(command) if is_installed(path)}:
        alone = not _is_wide(folder.parent) and folder.parent.name != ".local"
        yield folder.parent if folder.name == SHIMS and alone else folder
        for pattern in BESIDE_BIN if alone else BESIDE_BIN[:1]:
            neighbours = sorted(folder.parent.glob(pattern))[:MOST_NEIGHBOURS]
            yield from (neighbour for neighbour in neighbours if not leads_out(neighbour))


def is_installed(path: Path) -> bool:
    """Return whether a file is a program in a folder `bin`, perhaps an argument of another (`env`, `nice`)."""
    return path.parent.name in ("bin", SHIMS) and os.access(path, os.X_OK) and path.is_file()


def _tokens(word: str) -> list[str]:
    """Return the words of a shell's command line that is itself one word of a command."""
    if not any(sign.isspace() for sign in word):
        return []
    try:
        lexer = shlex.shlex(word, posix=True, punctuation_chars=True)
        lexer.commenters = ""  # a shell takes `#` for a comment only at the start of a word
        return list(lexer)
    except ValueError:  # a quotation without an end
        return []


def _is_wide(path: Path) -> bool:
    """Return whether a folder contains too much to belong to a program: home, its parents, /tmp."""
    temporary = {Path(os.environ.get("TMPDIR") or "/tmp"), Path("/tmp"), Path("/var/tmp"), SHM}
    temporary |= {folder.resolve() for folder in temporary}
    wide = {*homes(), *temporary, OPT, *(above for folder in (*homes(), *temporary) for above in folder.parents)}
    return path in wide or real_path(path) in wide
