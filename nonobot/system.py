"""Reading with limits, text of bytes (encoding, byte order mark), atomic files, cores, caches, lines on stderr."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO


def usable_cores() -> list[int]:
    """Return the numbers of the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def user_cache() -> Path:
    """Return nonobot's folder in the user's cache (a temporary one without a home); it need not exist."""
    with contextlib.suppress(RuntimeError):  # neither HOME nor the list of users contains a home
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "nonobot"
        chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
        return (chosen if chosen.is_absolute() else Path.home() / ".cache") / "nonobot"
    return temporary_cache()


def temporary_cache() -> Path:
    """Return this user's temporary folder; FileNotFoundError: no temporary folder is writable (a full disk)."""
    import tempfile  # rarely needed

    return Path(tempfile.gettempdir()) / f"nonobot-{os.getuid()}"


def kernel_cache() -> Path:
    """Return the absolute path of the folder for compiled kernels: $NONOBOT_CACHE_DIR or the user's cache."""
    chosen = os.environ.get("NONOBOT_CACHE_DIR")
    return (Path(chosen) if chosen else user_cache()).absolute()


PIECE_BYTES = 1 << 20
CHUNK_BYTES = 1 << 16  # of an input that is read as it arrives
LONGEST_LINE_BYTES = 1 << 16  # about, after which a text line is cut: no clue or row is longer


def content_of(path: str | os.PathLike[str], most_bytes: int, *, waits: bool = False) -> bytes:
    """Return the content of a file; see :func:`pieces_of`."""
    return b"".join(pieces_of(path, most_bytes, waits=waits))


def pieces_of(path: str | os.PathLike[str], most_bytes: int, *, waits: bool = False) -> Iterator[bytes]:
    """Yield the content of a file, which anybody may have made; Ctrl-C takes effect after each piece.

    With `waits`, also that of a pipe, a terminal or a device, such as `/dev/fd/63` for `<(command)` in a shell:
    only for files that the user names. Only a pipe and a terminal then keep it waiting. OSError: the file cannot
    be read, is not a regular file, or has more than `most_bytes`.
    """
    with descriptor_of(path, waits) as file:
        yield from _pieces(file, most_bytes, waits)


def content_in(file: int, most_bytes: int) -> bytes:
    """Return the content of a regular file that is open; OSError if it has more than `most_bytes`."""
    return b"".join(_pieces(file, most_bytes, waits=False))


def _pieces(file: int, most_bytes: int, waits: bool) -> Iterator[bytes]:
    size = os.fstat(file).st_size
    if size > most_bytes:
        raise _too_large(most_bytes)
    if waits or size:  # files of the kernel state no size; some never end, or wait
        yield from pieces_in(partial(os.read, file), most_bytes)


def pieces_in(read: Callable[[int], bytes], most_bytes: int) -> Iterator[bytes]:
    """Yield what `read` returns until its end; OSError if that is more than `most_bytes`, also if it grows."""
    left = most_bytes
    while piece := read(min(PIECE_BYTES, left + 1)):
        if len(piece) > left:
            raise _too_large(most_bytes)
        left -= len(piece)
        yield piece


def _too_large(most_bytes: int) -> OSError:
    units = ((30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "bytes"))
    return OSError(
        errno.EFBIG, next(f"more than {most_bytes >> bits} {unit}" for bits, unit in units if most_bytes >> bits)
    )


def beginning_of(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """Return the first bytes of a regular file; OSError if it cannot be read."""
    with descriptor_of(path) as file:
        return os.read(file, most_bytes) if os.fstat(file).st_size else b""


def end_of(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """Return the last bytes of a regular file, but not through a link, which may be a stranger's; or OSError."""
    if Path(path).is_symlink():
        raise OSError(errno.ELOOP, "a link")
    with descriptor_of(path) as file:
        return os.pread(file, most_bytes, max(0, os.fstat(file).st_size - most_bytes))


@contextlib.contextmanager
def descriptor_of(path: str | os.PathLike[str], waits: bool = False) -> Iterator[int]:
    """Open a file for reading within a block, as :func:`pieces_of` does, and return its descriptor."""
    file = None
    try:
        # Before it is opened: that would free the writer of a pipe, and a device may do anything.
        _require_file(mode := Path(path).stat().st_mode, waits)
        is_pipe = waits and stat.S_ISFIFO(mode)
        file = os.open(path, os.O_RDONLY | os.O_NOCTTY | (0 if is_pipe else os.O_NONBLOCK))
        _require_file(os.fstat(file).st_mode, waits)  # it may be another one by now
        note_read(file)
        if os.isatty(file):
            os.set_blocking(file, True)
        yield file
    except OSError as error:
        error.filename = os.fspath(path)
        if isinstance(error, BlockingIOError):  # a log of the kernel, for example
            error.strerror = "it has neither data nor an end"
        raise
    finally:
        if file is not None:
            os.close(file)


_commands: list[set[tuple[int, int]]] = []  # for each command that runs, the files that it has read


@contextlib.contextmanager
def remembering_reads() -> Iterator[None]:
    """Remember, within the block, which regular files this process reads: a command does not replace these."""
    _commands.append(set())
    try:
        yield
    finally:
        _commands.pop()


def note_read(file: int) -> None:
    """Remember an open file as one that is read; :func:`descriptor_of` does so itself."""
    facts = os.fstat(file)
    if _commands and stat.S_ISREG(facts.st_mode):
        _commands[-1].add((facts.st_dev, facts.st_ino))


def forget_read(path: Path | None = None) -> None:
    """Take a file for one that was not read, since nothing in it is used; without a path, all files."""
    for read in _commands:
        read.difference_update(set(read) if path is None else _identities(path))


def was_read(path: Path) -> bool:
    """Return whether the command that runs has read a file, under any name."""
    return bool(_commands) and not _commands[-1].isdisjoint(_identities(path))


def _identities(path: Path) -> set[tuple[int, int]]:
    """Return the device and the number of a file; nothing if it is missing."""
    try:
        facts = path.stat()
    except OSError:
        return set()
    return {(facts.st_dev, facts.st_ino)}


def _require_file(mode: int, waits: bool) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not waits and not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file")


def chunks_until(descriptor: int, deadline: float | None) -> Iterator[bytes]:
    """Yield the bytes of a file descriptor as they arrive; TimeoutError: `deadline` of `time.monotonic` passes."""
    while True:
        if deadline is not None:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([descriptor], [], [], remaining)[0]:
                raise TimeoutError
        chunk = os.read(descriptor, CHUNK_BYTES)
        if not chunk:
            return
        yield chunk


class NotTextError(ValueError):
    """Content that is not text; the message says what it is, such as `UTF-16 text; save the file as UTF-8`."""


UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # beginnings of text as Windows also stores it


def text_of(content: bytes, errors: str = "strict") -> str:
    """Return the text of a file: UTF-8, with or without a byte order mark; NotTextError if it is anything else.

    With `errors` as in :meth:`bytes.decode`, such as "replace", only UTF-16 is refused.
    """
    if content.startswith(UTF16):
        raise NotTextError("UTF-16 text; save the file as UTF-8")
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    try:
        return str(memoryview(content)[len(mark) :], "utf-8", errors)
    except UnicodeDecodeError as error:
        place = len(mark) + error.start + 1
        raise NotTextError(f"not UTF-8 text at byte {place}; save the file as UTF-8") from None


def lines_in(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each text line of an input as soon as its end has arrived; the rest of a very long one is dropped."""
    kept = b""
    for piece in pieces:
        lines = piece.split(b"\n")
        if len(lines) > 1:
            yield kept + lines[0]
            yield from lines[1:-1]
            kept = b""
        if len(kept) < LONGEST_LINE_BYTES:
            kept += lines[-1]
    if kept:
        yield kept


def write_all(descriptor: int, content: bytes) -> None:
    """Write all bytes to a file descriptor, without a buffer."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


_JOINERS = "\u200c\u200d"  # used in Persian and Hindi, although Python calls them unprintable


def printable(text: str) -> str:
    r"""Return a text as one printable line; other characters and bytes become escapes such as `\x1b`, `\xff`."""
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return ascii(character)[1:-1].replace(r"\udc", r"\x")


def shortened(text: str, limit: int = 1000) -> str:
    """Return a text as :func:`printable` does, without its middle if it has more than `limit` characters."""
    if len(text) > limit:
        text = f"{text[: limit // 2]}\N{HORIZONTAL ELLIPSIS}{text[len(text) - (limit - 1) // 2 :]}"
    return printable(text)


def reason_of(error: BaseException) -> str:
    """Return why something failed, in the words of the operating system where it has any."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def with_file(error: OSError, place: object = "") -> str:
    """Return the reason of an error with its file, or with `place` if it is not about a file."""
    name = error.filename if isinstance(error.filename, str | bytes) else place
    name = os.fsdecode(name) if isinstance(name, bytes) else name
    return f"{name}: {reason_of(error)}" if name else reason_of(error)


def report(line: str) -> None:
    """Write one text line to standard error, with unprintable characters escaped; ignore a failure."""
    with contextlib.suppress(OSError):
        if sys.stderr is sys.__stderr__:  # without a buffer, whose content could fail again at the end
            os.write(2, f"{printable(line)}\n".encode())
        else:  # a progress bar, which prints above itself
            print(printable(line), file=sys.stderr)


@contextlib.contextmanager
def whole_file(
    path: Path, *, lasting: bool = False, follows: bool = True, is_private: bool = False
) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name only when complete; no other process ever sees a part of it.

    A link stays a link, unless it is circular. A pipe or a device is written to directly. Unless the writer
    `follows` them, for example in a stranger's folder, the file replaces any of these; a private one always does,
    and no other user can read it. With `lasting`, the file is on the disk before it gets its name, and so survives
    a power cut. OSError, at the end: it cannot be written; the old file is unchanged.
    """
    follows = follows and not is_private
    if follows and path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    place = Path(os.path.realpath(path)) if follows else path
    unfinished = place.with_name(f".{place.name}.{os.urandom(4).hex()}")
    try:
        with unfinished.open("xb") as file:
            if is_private:
                os.fchmod(file.fileno(), 0o600)
            yield file
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)
