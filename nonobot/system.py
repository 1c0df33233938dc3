"""Functions around the operating system for all packages: atomic files, cache folders, usable cores, messages."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
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
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nonobot"
    return temporary_cache()


def temporary_cache() -> Path:
    """Return this user's temporary folder; FileNotFoundError: no temporary folder is writable (a full disk)."""
    import tempfile  # rarely needed

    return Path(tempfile.gettempdir()) / f"nonobot-{os.getuid()}"


def kernel_cache() -> Path:
    """Return the absolute path of the folder for compiled kernels: $NONOBOT_CACHE_DIR or the user's cache."""
    chosen = os.environ.get("NONOBOT_CACHE_DIR")
    return (Path(chosen) if chosen else user_cache()).absolute()


def write_all(descriptor: int, content: bytes) -> None:
    """Write all bytes to a file descriptor, without a buffer."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def printable(text: str) -> str:
    r"""Return a text as one printable line; other characters and bytes become escapes such as `\x1b`, `\xff`."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1].replace(r"\udc", r"\x") for one in text)


def report(line: str) -> None:
    """Write one text line to standard error, with unprintable characters escaped; ignore a failure."""
    with contextlib.suppress(OSError):
        os.write(2, f"{printable(line)}\n".encode())


@contextlib.contextmanager
def whole_file(path: Path, *, lasting: bool = False, is_private: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name only when complete; no other process ever sees a part of it.

    A link stays a link, unless it is circular. A pipe or a device is written to directly. A private file replaces
    any of these, and no other user can read it. With `lasting`, the file is on the disk before it gets its name,
    and so survives a power cut. OSError, at the end: it cannot be written; the old file is unchanged.
    """
    if not is_private and path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    place = path if is_private else Path(os.path.realpath(path))
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
