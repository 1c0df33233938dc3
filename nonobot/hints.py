"""What a message adds to help: the name that was meant, the command that installs what is missing."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable

__all__ = ["did_you_mean", "missing"]

_LEAST_LIKENESS = 0.75
"""Of 0 to 1, as difflib measures it; `taai2012` and `taai2011` have 0.875."""


def did_you_mean(text: str, names: Iterable[str]) -> str:
    """Return what to add to a message on an unknown name: ` (did you mean taai2011?)`, or nothing.

    Examples
    --------
    >>> did_you_mean("repoort", ["run", "report"])
    ' (did you mean report?)'
    """
    import difflib  # only here: few messages need it

    matcher = difflib.SequenceMatcher(b=text.casefold(), autojunk=False)

    def likeness(name: str) -> float:
        matcher.set_seq1(name)
        return matcher.ratio()

    likely = {name: likeness(name) for name in names}
    best = max(likely.values(), default=0.0)
    if best < _LEAST_LIKENESS:
        return ""
    *others, last = [name for name in likely if likely[name] == best][:3]
    return f" (did you mean {', '.join(others)}{' or ' if others else ''}{last}?)"


def missing(what: str, *libraries: str) -> str:
    """Return the line that says which libraries are missing for `what`, and the command that installs them.

    The command names this Python and the libraries, no extra: that works in a clone, of which no index knows, as
    well as beside an installed package, and whichever environment is active.
    """
    command = shlex.join([sys.executable, "-m", "pip", "install", *libraries])
    return f"{what} needs {' and '.join(libraries)}, not installed here; to install: {command}"
