"""The files of a bot that works on files: their names, the folder it works in, its own log."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec import UNSET, UnsetType

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.answer_file import AnswerFile, UnreadableError, opened_below
from nonobot.harness.play.bot_process import StartError
from nonobot.harness.play.command_files import is_here
from nonobot.harness.play.conversation import most_bytes_of_an_answer
from nonobot.harness.results.bot_log import parse_log
from nonobot.harness.results.run_result import FileNames, OwnLog
from nonobot.harness.results.terms import Feed
from nonobot.tournament_data import SetPuzzle

__all__ = ["Desk", "file_names", "scratch_folder"]

MOST_LOG_BYTES = 1 << 20
"""Of a bot's own log: fifty times what that of a tournament takes."""


def file_names(
    reads: str | None, writes: str | None, logs: str | None, feed: Feed, dashes: str = ""
) -> FileNames | None:
    """Return the files of a bot that works on files; None for one that does not.

    Parameters
    ----------
    reads, writes, logs : str or None
        Where it reads its questions, writes its answers and keeps its log, as paths in the folder that it runs in.
    feed : Feed
        How the bot gets its puzzles.
    dashes : str, optional
        What stands before these words where they are options.

    Raises
    ------
    UnusableError
        If that is no such file, one of them is missing, two are one, or the bot is to get a puzzle at a time.
    """
    given = {"reads": reads, "writes": writes, "logs": logs}
    paths = {dashes + word: _path(dashes + word, name) for word, name in given.items() if name is not None}
    if not paths:
        return None
    for needed in (f"{dashes}reads", f"{dashes}writes"):
        if needed not in paths:
            raise UnusableError(
                f"{next(iter(paths))} needs {needed}: a bot that works on files reads one and writes another"
            )
    for option, path in paths.items():
        for other, above in paths.items():
            if option != other and path == above:
                raise UnusableError(f"{option} and {other} name the same file, {str(path)!r}")
            if above in path.parents:
                raise UnusableError(f"{option} {str(path)!r} takes for a folder what {other} names a file")
    if feed is Feed.INTERACTIVE:
        raise UnusableError(
            f"{dashes}reads: a bot that works on files has all its puzzles at once, not each in turn"
        )
    return FileNames(*map(str, paths.values()))


def _path(option: str, name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or name.endswith("/") or not name.isprintable():
        raise UnusableError(
            f"{option} {name!r}: name a file in the folder that the bot runs in, without a leading '/' and '..'"
        )
    return path


class Desk:
    """Where a bot works on files: a folder with its questions, in which it leaves its answers and its log.

    Parameters
    ----------
    folder : Path
        An empty one.
    names : FileNames
    puzzles : sequence of SetPuzzle
        The questions, which all have boards of one size.

    Attributes
    ----------
    answers : AnswerFile

    Raises
    ------
    StartError
        If the questions cannot be written.
    """

    def __init__(self, folder: Path, names: FileNames, puzzles: Sequence[SetPuzzle]) -> None:
        board = puzzles[0].puzzle
        self._folder = folder
        self._names = names
        self.answers = AnswerFile(folder, names.writes, board.height, most_bytes_of_an_answer(board))
        try:
            for name in (names.reads, names.writes, names.logs or names.writes):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / names.reads).write_bytes(b"".join(one.text for one in puzzles))
        except OSError as error:
            raise StartError(f"cannot write the questions, {names.reads!r}: {error.strerror}") from None

    def command(self, command: Sequence[str]) -> list[str]:
        """Return `command` as it is run in the folder: what names a file or a folder of this one does so in full.

        The bot's own files are not looked for here, nor is a program that is named without a folder.
        """
        stay = {self._names.reads, self._names.writes, self._names.logs}
        program, *words = command
        found = [str(Path(word).absolute()) if word not in stay and is_here(word) else word for word in words]
        return [str(Path(program).absolute()) if os.sep in program else program, *found]

    def own_log(self, exit_status: int) -> OwnLog | UnsetType:
        """Return what the bot's own log says, if it keeps one; what was stopped may have left half a line."""
        if self._names.logs is None:
            return UNSET
        try:
            content = self._log_content(self._names.logs)
            if exit_status:
                content = content[: content.rfind(b"\n") + 1]
            found = parse_log(Path(self._names.logs), content)
        except (UnreadableError, UnusableError) as problem:
            return OwnLog({}, None, str(problem))
        return OwnLog(found.seconds, found.total_seconds)

    def _log_content(self, name: str) -> bytes:
        with opened_below(self._folder, name) as file:
            content = os.pread(file, MOST_LOG_BYTES + 1, 0)
        if len(content) > MOST_LOG_BYTES:
            raise UnreadableError(f"{name!r} has more than {MOST_LOG_BYTES:,} bytes")
        return content


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a fresh folder that only this user may enter, and remove it at the end, whatever stands in it.

    What is removed is a stranger's work: folders that forbid their removal, or nested deeper than a path may be
    long. The system's `rm` is made for that; `shutil.rmtree` ends in a RecursionError.
    """
    folder = Path(tempfile.mkdtemp(prefix="nonojudge-")).resolve()
    try:
        yield folder
    finally:
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)
