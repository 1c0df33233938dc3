"""The folder of compiled kernels: where it is, when it is outdated or removed, and whose files are never loaded.

Numba's on-disk cache does not notice a change in a kernel of another module: the caller stays stale (measured on
0.68). The folder is therefore named after a digest of all sources that kernels are made from, the versions of
Python, numba and llvmlite, and the CPU: a change of any starts a new folder.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec, source_hash
from pathlib import Path

from nonobot.bot.kernels.compiler import numba_fits
from nonobot.system import kernel_cache, temporary_cache

_SAYS_WHICH_CPU = {
    b"vendor_id", b"cpu family", b"model", b"flags",
    b"CPU implementer", b"CPU part", b"CPU variant", b"Features",
}  # fmt: skip
"""Facts of /proc/cpuinfo: four on x86-64, four on ARM."""

_DAYS_KEPT = 30  # days without use after which folders of other versions are removed


def _cpu() -> bytes:
    """Return the processor's model and features; llvmlite has them too, but takes long to load."""
    with contextlib.suppress(OSError), Path("/proc/cpuinfo").open("rb", buffering=0) as file:
        lines = file.read(1 << 14).split(b"\n\n")[0].splitlines()
        facts = [line for line in lines if line.partition(b":")[0].strip() in _SAYS_WHICH_CPU]
        if len(facts) == 4:
            return b"\n".join(facts)
    with numba_fits():
        import llvmlite.binding as llvm

        return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}".encode()


def kernel_sources() -> list[Path]:
    """Return the modules of the bot that kernels are made from, or that these import."""
    bot = Path(__file__).parents[1]
    packages = (bot / name for name in ("kernels", "champion", "papers"))
    modules = (bot / f"{name}.py" for name in ("__init__", "board", "line", "result", "strategy"))
    return sorted([*modules, *(path for package in packages for path in package.glob("*.py"))])


def _versions() -> Iterator[bytes]:
    """Yield the names of the folders that state the versions of the compiler; to load it takes long."""
    for library in ("llvmlite", "numba"):
        if (found := find_spec(library)) and found.origin:
            folders = Path(found.origin).parents[1].glob(f"{library}-*-info")
            yield from sorted(folder.name.encode() for folder in folders)


def _digest() -> str:
    parts = [source.read_bytes() for source in kernel_sources()]
    parts += sys.version.encode(), *_versions(), _cpu()
    # With the lengths, no two lists of parts give the same bytes.
    return source_hash(b"".join(b"%d\n%b" % (len(part), part) for part in parts)).hex()


def _is_writable(folder: Path) -> bool:
    """Make a folder if it is missing; return whether this user and nobody else may write to it."""
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return is_private(folder) and os.access(folder, os.W_OK | os.X_OK)


def is_private(path: Path) -> bool:
    """Return whether a folder or file is this user's and nobody else may write to it: code is loaded from it.

    A link has to be this user's too: in a folder for temporary files, everybody can make one.
    """
    try:
        facts, link = path.stat(), path.lstat()
    except OSError:
        return False
    return facts.st_uid == link.st_uid == os.getuid() and not facts.st_mode & 0o022


def _bases() -> Iterator[Path]:
    """Yield the folders for kernels, the best one first."""
    with contextlib.suppress(FileNotFoundError):
        yield kernel_cache()
        yield temporary_cache()


@cache
def cache_folder() -> Path | None:
    """Return the folder of this version's compiled kernels, or None if no folder can be written.

    If a better folder can only be read, as a judge shows it to a bot, its files are linked into the one returned.
    """
    readable: list[Path] = []
    for base in _bases():
        folder = base / "kernels" / _digest()
        with contextlib.suppress(OSError):
            if is_private(base) and not folder.exists():
                folder.parent.chmod(0o700)  # an older version may have made it with the umask's permissions
        folders = base, folder.parent, folder
        if all(map(_is_writable, folders)):
            for other in readable:
                _link_all(other, folder)
            return folder
        if all(map(is_private, folders)):
            readable.append(folder)
    return None


def _link_all(shown: Path, folder: Path) -> None:
    """Link the files below a folder into another one, which has its own subfolders for further files."""
    for path in sorted(shown.rglob("*")):
        own = folder / path.relative_to(shown)
        with contextlib.suppress(OSError):  # it exists already, from another process or compiled again
            own.mkdir(mode=0o700) if path.is_dir() else own.symlink_to(path)


def note_use(tidy: bool = False) -> None:
    """Mark this version's folder as used; `tidy`: remove folders of other versions after long disuse."""
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):  # another process may be tidying too
        os.utime(folder)
        if tidy:
            import shutil  # only after a compilation

            long_ago = time.time() - _DAYS_KEPT * 86400
            for other in folder.parent.iterdir():
                if other != folder and other.stat().st_mtime < long_ago:
                    shutil.rmtree(other, ignore_errors=True)
