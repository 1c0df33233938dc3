"""Folders that tests read, and the one that they write to."""

import os
import shlex
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
GOLDEN = REPOSITORY / "tests" / "golden"
PUZZLES = REPOSITORY / "tests" / "puzzles"
DOUBLES = REPOSITORY / "tests" / "doubles"

ODD_NAME = f"nonobot's #{{tests}} {os.getuid()}"
"""Name of the tests' temporary folder; in a shell, a pattern or a format it means something else unless quoted.

It has no `$`: no environment can be in such a folder, because pip's own scripts do not quote it.
"""

PLAIN = Path(tempfile.gettempdir())
"""The user's temporary folder, above the tests' own."""
if PLAIN.name == ODD_NAME:  # in a process that runs tests for another one
    PLAIN = PLAIN.parent


def quoted(path: object) -> str:
    """Return a path as one word of a shell's command."""
    return shlex.quote(str(path))


def sparse(path: str | Path, size: int = 4 << 40) -> Path:
    """Make a file that states its size, 4 TB, and takes no room on the disk."""
    Path(path).touch()
    os.truncate(path, size)
    return Path(path)


def unfilled(path: object) -> str:
    """Return a path as a word of a tournament file, where braces would be placeholders."""
    return str(path).replace("{", "{{").replace("}", "}}")


def write_to_odd_name() -> None:
    """Have this process and its children make temporary files in a folder of that name."""
    folder = PLAIN / ODD_NAME
    folder.mkdir(mode=0o700, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def is_in_memory(folder: Path) -> bool:
    """Return whether the files of a folder are memory, as those of a tmpfs are."""
    if not (listed := Path("/proc/self/mountinfo")).exists():  # not Linux
        return False
    device = folder.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    mounts = [line.split() for line in listed.read_text().splitlines()]
    return any(mount[2] == number and mount[mount.index("-") + 1] in ("tmpfs", "ramfs") for mount in mounts)
