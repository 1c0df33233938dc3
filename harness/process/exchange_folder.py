"""The exchange folder of a bot that works on files: its questions, its answers as they grow, its own log."""

from __future__ import annotations

import contextlib
import os
import re
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec import UNSET, UnsetType

from nonobot.harness import StartError, UnusableError
from nonobot.harness.process.bot_files import UnreadableError, opened_below
from nonobot.harness.process.paths import is_here
from nonobot.harness.results.conditions import FileNames
from nonobot.harness.results.result_files import parse_log
from nonobot.harness.results.run_result import BotLog
from nonobot.harness.text import megabytes
from nonobot.protocol.answers import most_bytes_of_an_answer
from nonobot.system import reason_of
from nonobot.tournament_data import SetPuzzle

MOST_LOG_BYTES = 1 << 20  # longest log that the judge reads: fifty times that of a tournament
SHARE_OF_WAIT, LEAST_SECONDS, MOST_SECONDS = 0.1, 0.001, 0.02  # next look, as a share of the time without a change
TICK_SECONDS = 0.02  # longest tick of a file system's clock
MOST_NEW_BYTES = 1 << 20  # most bytes read at once, as from a pipe
MOST_FOLDER_BYTES, MOST_ENTRIES = 1 << 30, 20_000  # of a bot; a thousand puzzles take a few of each
SECONDS_BETWEEN_COUNTS = 0.5  # interval of checking these limits, which takes up to 0.1 s


class ExchangeFolder:
    """A folder with a bot's questions, in which the bot runs and leaves its answers and its log; or StartError."""

    def __init__(self, folder: Path, names: FileNames, puzzles: Sequence[SetPuzzle]) -> None:
        board = puzzles[0].puzzle
        self.folder = folder
        self._next_count = time.monotonic() + SECONDS_BETWEEN_COUNTS
        self._names = names
        self.answers = AnswerFile(folder, names.writes, board.height, most_bytes_of_an_answer(board))
        try:
            for name in (names.reads, names.writes, names.logs or names.writes):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / names.reads).write_bytes(b"".join(puzzle.text for puzzle in puzzles))
        except OSError as error:
            raise StartError(f"cannot write the questions, {names.reads!r}: {reason_of(error)}") from None

    def command(self, command: Sequence[str]) -> list[str]:
        """Return `command` as it is run in the folder: files and folders that the judge sees get full paths.

        The bot's own files keep their names, and so does a program that is named without a folder.
        """
        stay = {self._names.reads, self._names.writes, self._names.logs}
        program, *arguments = command
        full = [str(Path(word).absolute()) if word not in stay and is_here(word) else word for word in arguments]
        return [str(Path(program).absolute()) if os.sep in program else program, *full]

    def excess(self) -> str | None:
        """Return which limit the folder exceeds, if any; checks only at intervals."""
        if time.monotonic() < self._next_count:
            return None
        excess = _excess(self.folder)
        self._next_count = time.monotonic() + SECONDS_BETWEEN_COUNTS
        return excess

    def own_log(self, exit_status: int) -> BotLog | UnsetType:
        """Return the bot's own log, if it keeps one; a bot that was stopped may have left half a line."""
        name = self._names.logs
        if name is None:
            return UNSET
        try:
            with opened_below(self.folder, name) as file:
                content = os.pread(file, MOST_LOG_BYTES + 1, 0)
            if len(content) > MOST_LOG_BYTES:
                raise UnreadableError(f"{name!r} has more than {MOST_LOG_BYTES:,} bytes")
            content = content.rstrip(b"\0")
            if exit_status:
                content = content[: content.rfind(b"\n") + 1]
            return parse_log(Path(name), content)
        except (UnreadableError, UnusableError) as problem:
            return BotLog({}, None, str(problem))


def _excess(folder: Path) -> str | None:
    entries = size = 0
    folders = [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as found:
                for entry in found:
                    entries += 1
                    with contextlib.suppress(FileNotFoundError):
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    if entries > MOST_ENTRIES or size > MOST_FOLDER_BYTES:
                        return f"more than {MOST_ENTRIES:,} files or {megabytes(MOST_FOLDER_BYTES)} in its folder"
        except (FileNotFoundError, NotADirectoryError):  # the bot is still working
            continue
        except OSError as error:  # such as a path that is too long
            return f"its folder cannot be looked through: {reason_of(error)}"
    return None


class AnswerFile:
    """The answers in a file that a bot writes; each is handed over once it is complete.

    The judge reads the file in pieces: answers (`$k` and `height` rows, or one line that is not a row) and the
    text between them. So it does not matter where the bot's buffer splits an answer. If the bot rewrites, shortens
    or replaces the file, the judge reads it from its start and skips pieces that it has handed over before. It
    notices at once if the end of what it has read differs, and a change further up after the bot has ended. A bot
    may also reserve room for its answers, which is NULs until it writes there.

    At most `answer_bytes` of an incomplete answer are held back. `trouble` is why the last look could not read the
    file.
    """

    def __init__(self, folder: Path, name: str, height: int, answer_bytes: int) -> None:
        self._folder = folder
        self.trouble: str | None = None
        self._name = name
        self._answer = _complete_answer(height)
        self._answer_bytes = answer_bytes
        self._state: tuple[int, ...] | None = None  # the file, its length, and its time of change
        self._changed = self._state_seen = time.monotonic()
        self._handed_over: list[bytes] = []
        self._known: Counter[bytes] = Counter()  # of these, not seen again since a rewrite
        self._position = 0  # the file is read up to here
        self._before = b""  # at least an answer before it; differs if the file was rewritten
        self._checksum = 0  # of all before it

    @property
    def seconds_to_next_look(self) -> float:
        """How long the next look may wait: a share of the time since the last change."""
        share = SHARE_OF_WAIT * (time.monotonic() - self._changed)
        return min(max(LEAST_SECONDS, share), MOST_SECONDS)

    def look(self, ended: bool = False) -> bytes:
        """Return the new and complete pieces; after the bot has `ended`, everything new."""
        try:
            with opened_below(self._folder, self._name) as file:
                self.trouble = None
                now = os.fstat(file)
                state = (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns)
                # Some file systems count in ticks of some milliseconds, in which a bot may write again.
                if state != self._state:
                    self._state, self._state_seen = state, time.monotonic()
                changed = time.monotonic() - self._state_seen < TICK_SECONDS
                if changed:
                    self._changed = time.monotonic()
                return self._new_in(file, ended) if changed or ended else b""
        except UnreadableError as error:
            self.trouble, self._state = str(error), None
            return b""

    def _new_in(self, file: int, ended: bool) -> bytes:
        data = self._read(file)
        if not data.startswith(self._before) or (ended and self._checksum != self._checksum_now(file)):
            self._known = Counter(self._handed_over)
            self._position, self._before, self._checksum = 0, b"", 0
            data = self._read(file)
        while True:
            more = len(data) == self._most_bytes
            new = []
            for piece in self._pieces_in(data, ended and not more):
                if self._known[piece]:
                    self._known[piece] -= 1
                else:
                    new.append(piece)
            if new or not more:
                break
            data = self._read(file)
        if more:
            self._state = None  # the next look continues even if nothing has changed
        self._handed_over += new
        return b"".join(new)

    @property
    def _most_bytes(self) -> int:
        return len(self._before) + self._answer_bytes + MOST_NEW_BYTES

    def _read(self, file: int) -> bytes:
        """Return the file from a little before the position on; NULs at its end are room not yet written."""
        return os.pread(file, self._most_bytes, self._position - len(self._before)).rstrip(b"\0")

    def _checksum_now(self, file: int) -> int:
        checksum = 0
        for start in range(0, self._position, MOST_NEW_BYTES):
            data = os.pread(file, min(MOST_NEW_BYTES, self._position - start), start)
            checksum = zlib.crc32(data, checksum)
        return checksum

    def _pieces_in(self, data: bytes, all_of_it: bool) -> list[bytes]:
        """Return the pieces in `data` after what was read before, and move the position behind them."""
        start = len(self._before)
        pieces = []
        while (end := self._end_of_piece(data, start)) > start:
            pieces.append(data[start:end])
            start = end
        if len(data) - start > (0 if all_of_it else self._answer_bytes):
            pieces.append(data[start:])
            start = len(data)
        self._position += start - len(self._before)
        self._checksum = zlib.crc32(data[len(self._before) : start], self._checksum)
        self._before = data[max(0, start - self._answer_bytes) : start]
        return pieces

    def _end_of_piece(self, data: bytes, start: int) -> int:
        """Return where the complete piece at `start` ends; at most `start` if there is none."""
        if HEADER.match(data, start):
            answer = self._answer.match(data, start)
            return answer.end() if answer else start
        header = HEADER.search(data, start)
        return header.start() if header else data.rfind(b"\n", start) + 1


HEADER = re.compile(rb"^[ \t]*\$", re.MULTILINE)  # beginning of an answer's first line
ROW = rb"[01 \t\r]*\n"


def _complete_answer(height: int) -> re.Pattern[bytes]:
    """Return the pattern of an answer: `$k` and its rows; or fewer rows, then another line or the next `$`."""
    header = rb"[ \t]*\$"
    no_row = rb"(?!%b|%b)[^\n]*\n" % (ROW, header)
    fewer = rb"(?:%b){0,%d}(?:%b|(?=%b))" % (ROW, height - 1, no_row, header)
    return re.compile(rb"%b[^\n]*\n(?:(?:%b){%d}|%b)" % (header, ROW, height, fewer))
