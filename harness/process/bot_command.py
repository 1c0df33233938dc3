"""Commands of bots: that of nonobot, the files and folders that a command names, and its environment."""

from __future__ import annotations

import codecs
import compileall
import contextlib
import hashlib
import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import UnsetType

import nonobot
from nonobot.protocol import DEFAULT_SIZE
from nonobot.system import UTF16, beginning_of, kernel_cache, with_file
from nonobot.tournament_data import PuzzleSet

HOME = Path(nonobot.__file__).resolve().parent.parent  # folder of `nonobot`: a clone, or installed packages
PACKAGES = ("bot", "protocol", "tournament_data", "harness", "nonobot")  # folders of the project in HOME
OWN_BOT = (sys.executable, "-P", "-m", "nonobot")  # -P: ignore a nonobot.py in the working folder
OWN_JUDGE = (sys.executable, "-P", "-m", "nonobot.harness")

INTERPRETER = re.compile(r"(python|pypy|ruby|perl|lua|node|java|bash|sh)[0-9.]*")

COMPILERS = {
    ".cpp": "g++ -O2 -o",
    ".cc": "g++ -O2 -o",
    ".cxx": "g++ -O2 -o",
    ".c": "gcc -O2 -o",
    ".rs": "rustc -O -o",
    ".go": "go build -o",
}
"""Commands that compile a source, by its suffix, without the names of the program and the source."""

INLINE = ("-c", "-e", "--eval", "-p", "--print", "-pe", "-E")
"""Options of interpreters before a program that is a word of the command."""

INTERPRETERS = {".py": "python3", ".js": "node", ".rb": "ruby", ".pl": "perl", ".sh": "sh"}
"""Programs that run a source, by its suffix."""

_NAMES = "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt", "nix/store", "gnu/store"
SYSTEM = tuple(Path("/", name) for name in _NAMES)  # what programs of any kind need to start
OPT = Path("/opt")  # system folder for programs that people install by hand
KERNEL_FOLDERS = tuple(map(Path, ("/proc", "/dev", "/sys", "/run")))  # their files do not belong to a bot
SHM = Path("/dev/shm")  # except here, in memory, as in `/tmp`
BESIDE_BIN = ("lib*", "share", "etc", "conf", "pyvenv.cfg")  # neighbours of a folder `bin` that its programs need
MOST_NEIGHBOURS = 100  # most of one kind: each costs a mount
MOST_INTERPRETERS = 5  # a script's interpreter may be a script; Linux follows as many
MOST_BYTES_OF_A_FIRST_LINE = 256
MOST_WORDS = 20  # of a name with spaces
MOST_BYTES_OF_TWO_LINES = 8192  # with a path of the greatest length
SHIMS = "shims"  # folder of pyenv or asdf with scripts that start programs of the folders next to it
PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Folders in every bot's PATH."""

SCRATCH = "/tmp"  # a sandboxed bot's own folder: its HOME and TMPDIR


def own_bot(puzzle_set: PuzzleSet) -> list[str]:
    """Return the command of nonobot for the boards of a set."""
    size = (puzzle_set.width, puzzle_set.height)
    return [*OWN_BOT, *(["--size", f"{size[0]}x{size[1]}"] if size != DEFAULT_SIZE else [])]


def own_arguments(command: Sequence[str]) -> list[str] | None:
    """Return the arguments of nonobot if a command starts it as the judge does, otherwise None.

    That is `OWN_BOT`, or the program `nonobot` in the folder of the judge's Python. Such a bot runs like any other
    and is trusted no more: its environment may change what it imports.
    """
    named, *arguments = command
    program, python = Path(shutil.which(named) or named), Path(sys.executable)
    if program.parent == python.parent and real_path(program) == real_path(python):
        _, *start = OWN_BOT
        return arguments[len(start) :] if arguments[: len(start)] == start else None
    return arguments if real_path(program) == real_path(python.with_name("nonobot")) else None


def is_own_bot(command: Sequence[str]) -> bool:
    """Return whether a command starts nonobot as the judge does."""
    return own_arguments(command) is not None


def own_warm_up(arguments: Sequence[str]) -> list[str]:
    """Return the command with which the judge warms up its own nonobot, for a bot with these arguments.

    What it compiles, every later `nonobot` runs. So it imports the modules that the judge imports, and nothing of
    a bot's, of the working folder or of the environment; numba would read its configuration in the working folder.
    """
    path = [folder for folder in sys.path if Path(folder).is_absolute()]
    program = (
        f"import os, sys; os.chdir('/'); sys.path[:] = {[*path, str(HOME)]!r}; "
        "from nonobot.__main__ import command; command()"
    )
    return [sys.executable, "-I", "-c", program, "--warm-up", *arguments]


def compile_modules() -> None:
    """Compile the modules of nonobot to bytecode: in a sandbox nonobot would do so at every start."""
    package = Path(nonobot.__file__).parent
    for folder in (package, package / "bot", package / "protocol"):
        compileall.compile_dir(folder.resolve(), quiet=2)


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
    return any(path == folder or folder in path.parents for folder in folders)


def named_by(command: Sequence[str]) -> Iterator[Path]:
    """Yield the files and folders that a command names, its program first, without those of the system."""
    for path in everything_named(command):
        of_system = is_in(path, *SYSTEM, *KERNEL_FOLDERS) and not is_in(path, OPT, SHM)
        if not of_system and not _is_wide(path):
            yield path


def made_environment(
    command: Sequence[str], given: Mapping[str, str] | UnsetType, sandboxed: bool
) -> dict[str, str]:
    """Return the environment that the judge makes for a bot, the same from every terminal, plus the `given`
    variables.

    PATH includes those folders of the judge's PATH in which programs of the command were found. If the judge was
    imported through PYTHONPATH, the bot gets that one folder of it.
    """
    named = [command[0], *words_after(command)]
    named += filter(None, map(interpreter_in, [shutil.which(word) or word for word in named]))
    needed = {Path(found).parent for word in named if os.sep not in word and (found := shutil.which(word))}
    found_in = [folder for folder in os.get_exec_path() if folder and Path(folder) in needed]
    made = {
        "PATH": os.pathsep.join(dict.fromkeys([*map(os.path.abspath, found_in), *PATH])),
        "HOME": SCRATCH if sandboxed else os.environ.get("HOME"),
        "TMPDIR": SCRATCH if sandboxed else os.environ.get("TMPDIR") or "/tmp",
        "LANG": "C.UTF-8",
        "NONOBOT_CACHE_DIR": str(kernel_cache()),
        "PYTHONPATH": str(HOME) if str(HOME) in os.environ.get("PYTHONPATH", "").split(os.pathsep) else None,
    }
    return {name: value for name, value in made.items() if value is not None} | dict(given or {})


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


def start_fault(program: str, *arguments: str) -> str | None:
    """Return why a program cannot be started, with the remedy; None without a visible reason.

    Some systems run a script without `#!` with a shell; others refuse it.
    """
    try:
        return _fault_of(program) or _cut_name(program, *arguments)
    except OSError as error:  # the bot's author or its warm-up may have closed a folder on the way
        return with_file(error, program)


def _fault_of(program: str) -> str | None:
    found, quoted = shutil.which(program), shlex.quote(program)
    path = Path(found or program)
    mode = _mode_of(path)
    if stat.S_ISDIR(mode):
        return "it is a folder: name the program in it" if os.sep in program else "it is not in PATH"
    if not stat.S_ISREG(mode):
        first, *more = program.split()[:2] or [""]
        if more and shutil.which(first):
            return f"no such file; without quotes around the words the program is {first}"
        return _source_hint(program)
    if path.suffix in COMPILERS and not interpreter_in(path):
        return f"it is source text; {_compile_hint(program, path)}"
    if not found and os.sep not in program:
        return f"it is not in PATH; for the file in this folder write {shlex.quote(f'./{program}')}"
    if not os.access(path, os.X_OK):
        return f"no execute permission; run `chmod +x {quoted}`{_interpreter_hint(path)}"
    try:
        head = beginning_of(path, MOST_BYTES_OF_A_FIRST_LINE)
    except OSError:  # it may be executable but not readable
        return None
    if not head.startswith(b"#!"):
        return _first_line_fault(head, path, quoted)
    line, end, _ = head[2:].partition(b"\0")[0].partition(b"\n")
    parts = line.split() or [b""]
    if end and line.endswith(b"\r") and not (b"perl" in parts[0] and parts[1:]):  # Perl reads its options itself
        return f"its #! line has a Windows line ending: sed -i 's/\\r$//' {quoted}"
    interpreter = os.fsdecode(parts[0])
    if not Path(interpreter).exists():
        remedy = "" if os.sep in interpreter else f": write #!/usr/bin/env {interpreter or 'python3'}"
        return f"its #! line names {interpreter or 'nothing'}, which is not there{remedy}"
    return None


def _cut_name(program: str, *arguments: str) -> str | None:
    """Return the remedy if the program is the beginning of a file's name that has spaces."""
    if shutil.which(program):
        return None
    names = (" ".join([program, *arguments[:count]]) for count in range(1, min(len(arguments), MOST_WORDS) + 1))
    name = next(filter(os.path.isfile, names), None)
    return name and f"no such file; quote a name with spaces, also within a quoted command: {shlex.quote(name)}"


def _mode_of(path: Path) -> int:
    """Return the type and mode of a file, or 0 if there is none.

    OSError: the system refuses to look; `Path.is_file` raises that up to Python 3.13 and hides it from 3.14 on.
    """
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: the name has a NUL
        return 0


def _source_hint(program: str) -> str | None:
    """Return a remedy for a program that does not exist, if its source is in the same folder."""
    path = Path(program)
    for suffix in (*COMPILERS, *INTERPRETERS):
        if is_here(f"{path}{suffix}"):
            source = path.with_name(path.name + suffix)
            if suffix in COMPILERS:
                return f"no such file; {_compile_hint(program, source)}"
            return f"no such file; write: -- {INTERPRETERS[suffix]} {shlex.quote(str(source))}"
    return None


def _compile_hint(program: str, source: Path) -> str:
    """Return the command that compiles a source, and the bot that it makes, unless the user wrote that."""
    compiled = str(source.with_suffix(""))
    start = compiled if os.sep in compiled else f"./{compiled}"
    then = "" if start == program else f"; then the bot is {shlex.quote(start)}"
    return f"compile it first: {shlex.join([*COMPILERS[source.suffix].split(), compiled, str(source)])}{then}"


def _interpreter_hint(path: Path) -> str:
    name = INTERPRETERS.get(path.suffix)
    return f", or write: -- {name} {shlex.quote(str(path))}" if name else ""


def _first_line_fault(head: bytes, path: Path, quoted: str) -> str | None:
    """Return what is wrong with the first line of a program that does not begin with `#!`."""
    if head.startswith(UTF16):
        return "it is UTF-16 text: save it as UTF-8 without a byte order mark (BOM)"
    if b"\0" in head:
        return None
    if head.startswith(codecs.BOM_UTF8 + b"#!"):
        return f"a byte order mark (BOM) is before its #!: sed -i '1s/^\\xEF\\xBB\\xBF//' {quoted}"
    if re.search(rb"^\s*#\s*!", head, re.MULTILINE):
        return "its #! line is not at the start: #! must be the first two bytes of the file"
    choices = {".py": "#!/usr/bin/env python3", ".sh": "#!/bin/sh"}
    line = choices.get(path.suffix) or " or ".join(choices.values())
    return f"it has no #! line: begin it with one, such as {line}{_interpreter_hint(path)}"


def folders_of(command: Sequence[str]) -> Iterator[Path]:
    """Yield the folders that a command names, and the folders of the files that it names."""
    for path in named_by(command):
        if is_folder(path):
            yield path
        elif not is_installed(path):
            yield path if _is_wide(path.parent) else path.parent


def own_files(command: Sequence[str]) -> Iterator[Path]:
    """Yield what a command names, without programs that only a `#!` line or a link names: others may need them."""
    said = {Path.cwd() / (shutil.which(word) or word) for word in (command[0], *words_after(command))}
    for path in named_by(command):
        if path in said or not is_installed(path):
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


def _is_wide(path: Path) -> bool:
    """Return whether a folder contains too much to belong to a program: home, its parents, /tmp."""
    temporary = {Path(os.environ.get("TMPDIR") or "/tmp"), Path("/tmp"), Path("/var/tmp"), SHM}
    temporary |= {folder.resolve() for folder in temporary}
    wide = {*homes(), *temporary, OPT, *(above for folder in (*homes(), *temporary) for above in folder.parents)}
    return path in wide or real_path(path) in wide
