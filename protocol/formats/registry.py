"""Which formats there are.

To add one, write a module with a `FORMAT` and put it into :func:`table`.
"""

from __future__ import annotations

from functools import cache

from nonobot.protocol.formats.base import Format, FormatError

__all__ = ["by_extension", "format_named", "formats", "known_names", "table"]


@cache
def table() -> dict[str, Format]:
    """Load the formats; in the order in which a file is held against them (see `detection`)."""
    from nonobot.protocol.formats import grid, hv, letters, lists, nin, non, oneline, taai, webpbn

    modules = (webpbn, hv, grid, nin, oneline, letters, lists, non, taai)
    return {module.FORMAT.name: module.FORMAT for module in modules}


def formats() -> list[Format]:
    """Return the formats, in the order of their names."""
    return sorted(table().values(), key=lambda format: format.name)


def format_named(name: str) -> Format:
    """Return a format by its name.

    Raises
    ------
    FormatError
        If there is none of that name.
    """
    found = table().get(name)
    if found is None:
        raise FormatError(f"there is no format {name!r}; known are {known_names()}")
    return found


def by_extension(file_name: str) -> Format | None:
    """Return the format that the end of a file's name stands for, if any."""
    lower = file_name.lower()
    return next((one for one in table().values() if lower.endswith(one.extensions)), None)


def known_names() -> str:
    """Return the names of all formats, for a message."""
    return ", ".join(one.name for one in formats())
