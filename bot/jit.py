"""How kernels are compiled, and the project's own folder for compiled code.

`kernel` marks a function that other kernels call; `entry` marks an outermost one, called from Python, whose
compiled code is kept on disk.

Numba's on-disk cache does not notice a change in a kernel of another module: the caller stays stale (measured
on 0.68). The folder is therefore named after a digest of all sources of the bot, the versions of Python,
numba and llvmlite, and the CPU: a change of any starts a new folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba

__all__ = ["cache_folder", "entry", "inlined", "is_compiled", "kernel", "mark_compiled"]

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}

_DAYS_KEPT = 30
"""Folders of other versions that were not used for so long are removed."""


def _digest() -> str:
    state = hashlib.sha256()
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        state.update(source.read_bytes())
    cpu = llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten()
    for part in (sys.version, numba.__version__, llvmlite.__version__, *cpu):
        state.update(part.encode())
    return state.hexdigest()[:16]


def _user_cache() -> Path:
    chosen = os.environ.get("NONOBOT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "nonobot"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nonobot"


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return False
    return True


def _find_folder() -> Path | None:
    shared = Path(tempfile.gettempdir()) / f"nonobot-{os.getuid()}"
    for base in (_user_cache(), shared):
        folder = base / "kernels" / _digest()
        if _writable(folder):
            return folder
    return None


_FOLDER = _find_folder()


def cache_folder() -> Path | None:
    """Return the folder of this version's compiled kernels, or None where no folder can be written."""
    return _FOLDER


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that other kernels call."""
    return numba.njit(**_OPTIONS)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small function of the hottest loops, without a call wherever it is used."""
    return numba.njit(forceinline=True, **_OPTIONS)(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, and keep its code in the project's own folder."""
    if _FOLDER is None:
        return numba.njit(**_OPTIONS)(function)
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_FOLDER)  # read when the decorator runs
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before


def _mark(name: str) -> Path | None:
    return _FOLDER / f"{name}.compiled" if _FOLDER else None


def is_compiled(name: str) -> bool:
    """Tell whether the kernels called `name` were compiled before, on this machine, from these sources."""
    mark = _mark(name)
    return mark is not None and mark.exists()


def mark_compiled(name: str) -> None:
    """Remember that the kernels called `name` are compiled, and drop what older versions left behind."""
    mark = _mark(name)
    if mark is None:
        return
    mark.touch()
    long_ago = time.time() - _DAYS_KEPT * 86400
    for other in mark.parent.parent.iterdir():
        marks = [each.stat().st_mtime for each in other.glob("*.compiled")]
        if other != mark.parent and max(marks, default=other.stat().st_mtime) < long_ago:
            shutil.rmtree(other, ignore_errors=True)
