"""A folder that a stranger's bot may fill: made, read without following its links, and removed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from nonobot.system import reason_of

SECONDS_TO_REMOVE = 1.0  # longest wait for the removal of a folder, which continues without the judge
REMOVE = '{ chmod -R u+rwx -- "$1"; rm -rf -- "$1"; } &'  # in the background, so that it counts for no bot


class UnreadableError(Exception):
    """A bot's file cannot be read; the message says why, in a few words."""


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder that only this user may enter, and remove it at the end with any content.

    A stranger's bot may have filled it: with folders that forbid their removal, or are nested deeper than a path
    may be long. The system's `rm` can remove those, and the judge waits only briefly for it.
    """
    folder = Path(tempfile.mkdtemp(prefix="nonojudge-")).resolve()
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                ["sh", "-c", REMOVE, "sh", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # always empty; its end is the end of the removal
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                timeout=SECONDS_TO_REMOVE,
                check=False,
            )


@contextlib.contextmanager
def opened_below(folder: Path, name: str) -> Iterator[int]:
    """Open a file below `folder` that a bot may have made, for reading within the block; or UnreadableError.

    The judge follows no link in any part of the name: a link could make the judge read a file that the bot itself
    may not read. It does not wait for a pipe either.
    """
    *folders, last = PurePosixPath(name).parts
    steps = [(part, os.O_DIRECTORY) for part in folders] + [(last, os.O_NONBLOCK)]
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part, kind in steps:
                below = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | kind, dir_fd=opened)
                os.close(opened)
                opened = below
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise UnreadableError(f"{name!r} in its folder is not a file")
            yield opened
        finally:
            os.close(opened)
    except FileNotFoundError:
        raise UnreadableError(f"no file {name!r} in its folder") from None
    except OSError as error:
        why = "links are not followed" if error.errno == errno.ELOOP else reason_of(error)
        raise UnreadableError(f"{name!r} in its folder cannot be read: {why}") from None
