"""Which format a file has: its first lines are held against one format after the other."""

from __future__ import annotations

from collections.abc import Sequence

from nonobot.protocol.formats.base import FormatError, UnknownFormatError
from nonobot.protocol.formats.registry import known_names, table

__all__ = ["detect", "detect_prefix"]

_SAMPLE_BYTES = 1 << 16
_BOM = b"\xef\xbb\xbf"


def detect_prefix(prefix: bytes) -> str | None:
    r"""Return 'taai' where the first bytes of a stream already say so, else None: the rest is needed.

    The answer is there with the first line that is not blank, so that a bot need not wait for the end of its
    input; no format is loaded for it.

    Examples
    --------
    >>> detect_prefix(b"\n$1\n")
    'taai'
    """
    return "taai" if prefix.removeprefix(_BOM).lstrip().startswith(b"$") else None


def detect(data: bytes) -> str:
    """Return the name of the format that a file's content has.

    Raises
    ------
    FormatError
        If it is none of them; the message says what the file is instead, or lists the formats.
    """
    found = detect_prefix(data[:_SAMPLE_BYTES])
    if found:
        return found
    sample = _sample(data)
    for format in table().values():
        if format.looks_like(sample):
            return format.name
    raise UnknownFormatError(f"the content is of no known format; known are {known_names()}")


def _sample(data: bytes) -> Sequence[str]:
    """Return the first lines of a file, without the blank ones.

    Raises
    ------
    FormatError
        If there are none, or if they are no text.
    """
    start = data.removeprefix(_BOM).lstrip()[:_SAMPLE_BYTES]
    if not start:
        raise FormatError("nothing but blank lines" if data else "an empty file")
    if start.startswith(b"\x1f\x8b"):
        raise FormatError("compressed (gzip); unpack it first")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("UTF-16 text; save it as UTF-8")
    if b"\0" in start:
        raise FormatError("binary data, no text")
    lines = start.decode("utf-8", "replace").replace("\r", "\n").split("\n")
    full = [line.strip() for line in lines if line.strip()]
    if not full:  # white space that bytes.lstrip does not know
        raise FormatError("nothing but blank lines")
    return full
