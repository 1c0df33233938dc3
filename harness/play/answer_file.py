"""A file that a bot writes its answers to, looked at while it grows: what is new in it, however it is written."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

__all__ = ["AnswerFile", "UnreadableError", "opened_below"]

SHARE_OF_WAIT = 0.1
"""A file that has not changed for a while is looked at again after so much more of that while."""

LEAST_SECONDS, MOST_SECONDS = 0.001, 0.02
"""The bounds of that."""

MOST_NEW_BYTES = 1 << 20
"""What is taken at once, as from a pipe."""


class UnreadableError(Exception):
    """A bot's file cannot be read; the message says why, in a few words."""


@contextlib.contextmanager
def opened_below(folder: Path, name: str) -> Iterator[int]:
    """Open a file below `folder` that a bot may have made, for reading within the block.

    No link is followed, wherever in the name it stands: it could have the judge read what the bot itself may not.
    Nor is a pipe waited for.

    Raises
    ------
    UnreadableError
        If there is none, it is something else than a file, or it cannot be read.
    """
    *folders, last = PurePosixPath(name).parts
    steps = [(part, os.O_DIRECTORY) for part in folders] + [(last, os.O_NONBLOCK)]
    try:
        found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part, kind in steps:
                below = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | kind, dir_fd=found)
                os.close(found)
                found = below
            if not stat.S_ISREG(os.fstat(found).st_mode):
                raise UnreadableError(f"{name!r} in its folder is no file")
            yield found
        finally:
            os.close(found)
    except FileNotFoundError:
        raise UnreadableError(f"no file {name!r} in its folder") from None
    except OSError as error:
        why = "links are not followed" if error.errno == errno.ELOOP else error.strerror
        raise UnreadableError(f"{name!r} in its folder cannot be read: {why}") from None


class AnswerFile:
    """The answers in a file, each handed over once it is complete.

    The file is read in pieces: answers, which are `$k` with its rows or with one line that is no row, and what
    stands between them. So it does not matter where the bot's buffer tears an answer apart. A file that was
    written anew, shortened, or put in the place of another is read from its start, and a piece that was handed
    over before is not handed over again. A changed answer is one more answer to its puzzle: what that is worth is
    not decided here.

    Parameters
    ----------
    folder : Path
        Where the bot runs.
    name : str
        Of the file, below the folder.
    height : int
        Rows of an answer.
    answer_bytes : int
        The most that an answer takes: of what is not complete no more is held back.

    Attributes
    ----------
    folder : Path
    trouble : str or None
        Why the file could not be read at the last look.
    """

    def __init__(self, folder: Path, name: str, height: int, answer_bytes: int) -> None:
        self.folder = folder
        self.trouble: str | None = None
        self._name = name
        self._answer = _complete_answer(height)
        self._answer_bytes = answer_bytes
        self._state: tuple[int, ...] | None = None  # which file it was, how long, and when it was changed
        self._changed = time.monotonic()
        self._handed_over: list[bytes] = []
        self._known: Counter[bytes] = (
            Counter()
        )  # of those, what was not found again since the file was written anew
        self._position = 0  # up to where the file is read
        self._before = b""  # what stood there before it, an answer at least: the same file still says the same

    @property
    def seconds_to_next_look(self) -> float:
        """How long the next look may wait: a share of the time that passed without a change."""
        share = SHARE_OF_WAIT * (time.monotonic() - self._changed)
        return min(max(LEAST_SECONDS, share), MOST_SECONDS)

    def look(self, ended: bool = False) -> bytes:
        """Return what is new and complete; after the bot has `ended`, whatever is new."""
        try:
            with opened_below(self.folder, self._name) as file:
                self.trouble = None
                return self._look_into(file, ended)
        except UnreadableError as error:
            self.trouble, self._state = str(error), None
            return b""

    def _look_into(self, file: int, ended: bool) -> bytes:
        found = os.fstat(file)
        state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        changed, self._state = state != self._state, state
        if changed:
            self._changed = time.monotonic()
        return self._new_in(file, ended) if changed or ended else b""

    def _new_in(self, file: int, ended: bool) -> bytes:
        data = self._read(file)
        if not data.startswith(self._before):
            self._known = Counter(self._handed_over)
            self._position, self._before = 0, b""
            data = self._read(file)
        while True:
            more = len(data) == self._most_bytes
            pieces = self._pieces_in(data, ended and not more)
            new = [piece for piece in pieces if not self._was_known(piece)]
            if new or not more:
                break
            data = self._read(file)
        if more:
            self._state = None  # the next look goes on, though nothing may have changed
        self._handed_over += new
        return b"".join(new)

    @property
    def _most_bytes(self) -> int:
        return len(self._before) + self._answer_bytes + MOST_NEW_BYTES

    def _read(self, file: int) -> bytes:
        """Return the file from what was read last on."""
        return os.pread(file, self._most_bytes, self._position - len(self._before))

    def _pieces_in(self, data: bytes, all_of_it: bool) -> list[bytes]:
        """Return the pieces in `data` after what was read before, and take note of where they end."""
        start = end = len(self._before)
        pieces = []
        for end in self._ends_of_pieces(data, start):
            pieces.append(data[start:end])
            start = end
        if len(data) - end > (0 if all_of_it else self._answer_bytes):
            pieces.append(data[end:])
            end = len(data)
        self._position += end - len(self._before)
        self._before = data[max(0, end - self._answer_bytes) : end]
        return pieces

    def _ends_of_pieces(self, data: bytes, start: int) -> Iterator[int]:
        while start < len(data):
            if HEADER.match(data, start):
                answer = self._answer.match(data, start)
                end = answer.end() if answer else start
            else:
                header = HEADER.search(data, start)
                end = header.start() if header else data.rfind(b"\n", start) + 1
            if end <= start:
                return
            yield end
            start = end

    def _was_known(self, piece: bytes) -> bool:
        known = self._known[piece] > 0
        if known:
            self._known[piece] -= 1
        return known


HEADER = re.compile(rb"^[ \t]*\$", re.MULTILINE)
"""How a line begins with which an answer does."""

ROW = rb"[01 \t\r]*\n"


def _complete_answer(height: int) -> re.Pattern[bytes]:
    """Return what an answer is: `$k`, and its rows; or fewer, and a line that is none, or the next `$`."""
    header = rb"[ \t]*\$"
    no_row = rb"(?!%b|%b)[^\n]*\n" % (ROW, header)
    fewer = rb"(?:%b){0,%d}(?:%b|(?=%b))" % (ROW, height - 1, no_row, header)
    return re.compile(rb"%b[^\n]*\n(?:(?:%b){%d}|%b)" % (header, ROW, height, fewer))
