r"""The file formats that puzzles come in, one module for each, and what reads and writes any of them.

>>> [record] = read(b"2 3\n1\n2\n0\n2\n1\n")
>>> record.puzzle.rows, record.puzzle.columns
(((1,), (2,), ()), ((2,), (1,)))
>>> write([record], "oneline").data
b'1:2:0-2:1\n'
"""

from nonobot.protocol.formats.base import (
    MOST_BYTES,
    MOST_SIDE,
    Format,
    FormatError,
    Found,
    Size,
    UnknownFormatError,
)
from nonobot.protocol.formats.files import (
    Written,
    by_extension,
    detect,
    detect_prefix,
    format_named,
    formats,
    read,
    write,
)

__all__ = [
    "MOST_BYTES",
    "MOST_SIDE",
    "Format",
    "FormatError",
    "Found",
    "Size",
    "UnknownFormatError",
    "Written",
    "by_extension",
    "detect",
    "detect_prefix",
    "format_named",
    "formats",
    "read",
    "write",
]
