"""Why a bot's command cannot be started, with the remedy: no such program, no permission, a wrong `#!` line"""

from __future__ import annotations

import codecs
import os
import re
import shlex
import shutil
import stat
from pathlib import Path

from nonobot.harness.process.bot_command import interpreter_in
from nonobot.harness.process.paths import is_here
from nonobot.system import UTF16, beginning_of, with_file

COMPILERS = {
    ".cpp": "g++ -O2 -o",
    ".cc": "g++ -O2 -o",
    ".cxx": "g++ -O2 -o",
    ".c": "gcc -O2 -o",
    ".rs": "rustc -O -o",
    ".go": "go build -o",
}
"""Commands that compile a source, by its suffix, without the names of the program and the source."""

INTERPRETERS = {".py": "python3", ".js": "node", ".rb": "ruby", ".pl": "perl", ".sh": "sh"}
"""Programs that run a source, by its suffix."""

MOST_BYTES_OF_A_FIRST_LINE = 256
MOST_WORDS = 20  # of a name with spaces


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
        return _missing_fault(program)
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
    return _interpreter_fault(head, quoted) if head.startswith(b"#!") else _first_line_fault(head, path, quoted)


def _interpreter_fault(head: bytes, quoted: str) -> str | None:
    """Return what is wrong with the `#!` line at the beginning of a program."""
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


def _missing_fault(program: str) -> str | None:
    """Return a remedy for a program that does not exist: less quotes, or its source in the same folder."""
    first, *more = program.split()[:2] or [""]
    if more and shutil.which(first):
        return f"no such file; without quotes around the words the program is {first}"
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
