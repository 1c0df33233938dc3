"""Bots that the self-test is tested with: `python -S -E check_bots.py NAME WIDTH HEIGHT`.

`Bot` keeps to every rule. Each of the others breaks one, mostly by a single method. The tests start hundreds: what
takes long to load is loaded by the bots that use it.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import combinations


def signals():
    """Return the module `signal`: loading it takes a third of this program's start."""
    import signal

    return signal


def placements(clue, length):
    """Return every line of `length` cells that has the clue."""
    gaps = length - sum(clue) + 1
    lines = []
    for places in combinations(range(gaps), len(clue)):
        line, blocks = [0] * length, 0
        for place, block in zip(places, clue, strict=True):
            start = place + blocks
            line[start : start + block] = [1] * block
            blocks += block
        lines.append(tuple(line))
    return lines


def solve(columns, rows):
    """Return a board with these clues, or None: row after row, each column kept possible."""
    ways = [placements(clue, len(columns)) for clue in rows]

    def extend(board, columns_left):
        if len(board) == len(rows):
            return board
        for line in ways[len(board)]:
            left = [
                [way for way in ways_of_column if way[len(board)] == cell]
                for ways_of_column, cell in zip(columns_left, line, strict=True)
            ]
            if all(left) and (found := extend([*board, line], left)):
                return found
        return None

    return extend([], [placements(clue, len(rows)) for clue in columns])


def solve_from_below(columns, rows):
    """Return a board with these clues, or None: the same one if there is one only."""
    board = solve([clue[::-1] for clue in columns], rows[::-1])
    return board and board[::-1]


class Bot:
    """Keeps to every rule."""

    def __init__(self, width, height):
        self.width, self.height = width, height

    def start(self):
        pass

    def lines(self):
        for number, line in enumerate(iter(sys.stdin.buffer.readline, b"")):
            yield self.text(line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line)

    def text(self, line):
        return line.decode("utf-8", "replace").strip(" \t\r\n")

    def number(self, word):
        return int(word)

    def clue(self, line):
        return tuple(int(word) for word in line.split() if word != "0")

    def puzzles(self):
        number, clues = None, []
        for line in self.lines():
            if line.startswith("$"):
                number, clues = self.number(line[1:]), []
            elif number is not None and self.is_clue(line, clues):
                clues.append(line)
                if len(clues) == self.width + self.height:
                    yield number, clues
                    number = None

    def is_clue(self, line, clues):
        return True

    def board(self, clues):
        try:
            read = [self.clue(line) for line in clues]
        except ValueError:
            return self.cannot_read()
        return self.solved(read[: self.width], read[self.width :]) or self.cannot_solve()

    def solved(self, columns, rows):
        return solve(columns, rows)

    def zeros(self):
        return [[0] * self.width] * self.height

    def cannot_read(self):
        return self.zeros()

    def cannot_solve(self):
        return self.zeros()

    def answer(self, number, board):
        return f"${number}\n" + "".join("\t".join(map(str, row)) + "\n" for row in board)

    def say(self, text):
        sys.stdout.write(text)
        sys.stdout.flush()

    def run(self):
        self.start()
        for number, clues in self.puzzles():
            self.say(self.answer(number, self.board(clues)))
        self.end()

    def end(self):
        pass


# Bots with one method of their own

OTHERS = {
    "Missing": ("start", lambda bot: sys.exit("config.toml is not there")),
    "LacksAProgram": ("start", lambda bot: sys.exit(127)),
    "Banner": ("start", lambda bot: bot.say("SuperBot 3.1\n")),
    "DeafToSigterm": ("start", lambda bot: signals().signal(signals().SIGTERM, signals().SIG_IGN)),
    "StartsSlowly": ("start", lambda bot: time.sleep(0.8)),
    "SaysNothing": ("run", lambda bot: time.sleep(1000)),
    "Greets": ("run", lambda bot: bot.say("usage: bot FILE\n")),
    "Report": ("end", lambda bot: bot.say("all solved\n")),
    "Stays": ("end", lambda bot: time.sleep(1000)),
    "Status3": ("end", lambda bot: sys.exit(3)),
    "Crashes": ("end", lambda bot: os.kill(os.getpid(), signals().SIGSEGV)),
    "DiesOfUnsolvable": ("cannot_solve", lambda bot: sys.exit("no solution")),
    "Buffers": ("say", lambda bot, text: sys.stdout.write(text)),
    # What they read
    "CountsFromZero": ("number", lambda bot, word: int(word) - 1),
    "StrictNumber": ("number", lambda bot, word: int(word) if word.isdigit() else sys.exit("not a number")),
    "NoZero": ("clue", lambda bot, line: sys.exit("a block of 0 cells") if line == "0" else Bot.clue(bot, line)),
    "TabsOnly": ("clue", lambda bot, line: tuple(int(word) for word in line.split("\t") if word not in ("", "0"))),
    "RowsFirst": ("solved", lambda bot, columns, rows: solve(rows, columns)),
    "NoBlackBoard": (
        "solved",
        lambda bot, columns, rows: None if set(columns) == {(bot.height,)} else solve(columns, rows),
    ),
    "NoWhiteBoard": ("board", lambda bot, clues: Bot.board(bot, clues) if any(clues) else sys.exit("no clue")),
    # What they answer
    "Mirrored": ("board", lambda bot, clues: [row[::-1] for row in Bot.board(bot, clues)]),
    "Inverted": ("board", lambda bot, clues: [[1 - cell for cell in row] for row in Bot.board(bot, clues)]),
    "OtherSize": ("board", lambda bot, clues: [row[:3] for row in Bot.board(bot, clues)[:3]]),
    "TooTall": ("board", lambda bot, clues: [[0] * bot.width, *Bot.board(bot, clues)]),
    "Mutters": ("answer", lambda bot, *found: Bot.answer(bot, *found).replace("\n", "\nsolved in 3 ms\n", 1)),
    "Expires": ("start", lambda bot: sys.stderr.write("licence expired\n") and sys.exit(0)),
    "Silent": ("answer", lambda bot, *found: ""),
    "OneLine": (
        "answer",
        lambda bot, number, board: Bot.answer(bot, number, [[cell for row in board for cell in row]]),
    ),
    "NoTabs": ("answer", lambda bot, *found: Bot.answer(bot, *found).replace("\t", "")),
    "Spaces": ("answer", lambda bot, *found: Bot.answer(bot, *found).replace("\t", " ")),
    "CarriageReturns": ("answer", lambda bot, *found: Bot.answer(bot, *found).replace("\n", "\r\n")),
    "TrailingTabs": ("answer", lambda bot, *found: Bot.answer(bot, *found).replace("\n", "\t\n")),
    "BlankLines": ("answer", lambda bot, *found: Bot.answer(bot, *found) + "\n"),
    "Twice": ("answer", lambda bot, *found: Bot.answer(bot, *found) * 2),
}


# Bots that need more


class EndsRowsLate(Bot):
    end_of_the_last = ""

    def say(self, text):
        super().say(self.end_of_the_last + text.removesuffix("\n"))
        self.end_of_the_last = "\n"


class Detaches(Bot):
    def start(self):
        if os.fork():
            os._exit(0)
        time.sleep(1000)


class Wrong(Bot):
    def board(self, clues):
        first, *others = super().board(clues)
        return [[1 - first[0], *first[1:]], *others]


class LeavesOutTheLast(Bot):
    def puzzles(self):
        puzzles = [*super().puzzles()]
        yield from puzzles[:-1]


class Renumbers(Bot):
    count = 0

    def number(self, word):
        self.count += 1
        return self.count


class Unique(Bot):
    def solved(self, columns, rows):
        board = solve(columns, rows)
        return board if board == solve_from_below(columns, rows) else None


class WaitsForTheNext(Bot):
    def puzzles(self):
        waiting = []
        for found in super().puzzles():
            yield from waiting
            waiting = [found]
        yield from waiting


class WaitsForTheNextAndThinks(WaitsForTheNext):
    def puzzles(self):
        *others, last = super().puzzles()
        yield from others
        time.sleep(0.3)
        yield last


class SmallTable(Bot):
    count = 0

    def board(self, clues):
        self.count += 1
        return super().board(clues) if self.count <= 100 else sys.exit("table is full")


class KilledOnTheThird(Bot):
    """Ends by a signal in its third puzzle, whatever that is."""

    count = 0

    def board(self, clues):
        self.count += 1
        if self.count == 3:
            self.break_down()
        return super().board(clues)

    def break_down(self):
        os.kill(os.getpid(), signals().SIGSEGV)


class LoopsOnTheThird(KilledOnTheThird):
    def break_down(self):
        while True:
            pass


class EndsOnTheThird(KilledOnTheThird):
    def break_down(self):
        sys.exit(0)


class SleepsOnTheThird(KilledOnTheThird):
    def break_down(self):
        time.sleep(600)


class WithoutNumbers(Bot):
    def answer(self, number, board):
        return super().answer(number, board).partition("\n")[2]


class Chunks(Bot):
    """Takes what a read returns for whole lines."""

    late_seconds = 0.0

    def lines(self):
        while chunk := os.read(0, 1 << 20):
            yield from (
                self.text(line) for line in chunk.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n").split(b"\n")
            )
            time.sleep(self.late_seconds)
            self.late_seconds = 0.0


class ChunksLate(Chunks):
    """Gets no core for a while after the first puzzle, as on a busy machine."""

    late_seconds = 1.0


class KeepsCarriageReturn(Bot):
    def text(self, line):
        text = line.decode("utf-8", "replace").strip(" \t\n")
        return text[:-1] + "x" if text.endswith("\r") else text


class SkipsEmptyAfterNumber(Bot):
    after_number = False

    def lines(self):
        for line in super().lines():
            if line or not self.after_number:
                yield line
            self.after_number = line.startswith("$")


class SkipsEmptyBeforeNumber(Bot):
    """Drops blank lines where a puzzle may end."""

    def is_clue(self, line, clues):
        return line or len(clues) < self.width + self.height - 1


class NoMark(Bot):
    def lines(self):
        yield from map(self.text, iter(sys.stdin.buffer.readline, b""))


class NoBlankLines(Bot):
    def lines(self):
        left = 0
        for line in super().lines():
            left = self.width + self.height if line.startswith("$") else left - 1
            if left < 0:
                sys.exit("expected $")
            yield line


class NeedsNewline(Bot):
    def lines(self):
        for line in iter(sys.stdin.buffer.readline, b""):
            if line.endswith(b"\n"):
                yield self.text(line.removeprefix(b"\xef\xbb\xbf"))


class DiesOfBadClue(Bot):
    def cannot_read(self):
        raise ValueError("not a number")


class WaitsForTheRest(Bot):
    """Looks for the end of the input between puzzles only."""

    def lines(self):
        left = 0
        for line in super().lines():
            left = self.width + self.height if line.startswith("$") else left - 1
            yield line
        if left > 0:
            time.sleep(1000)


class DeafAtWork(Bot):
    """Works for ever on sparse boards, and keeps SIGTERM waiting meanwhile."""

    def solved(self, columns, rows):
        if 0 < sum(map(sum, rows)) < self.width * self.height / 3:
            signals().pthread_sigmask(signals().SIG_BLOCK, {signals().SIGTERM})
            time.sleep(1000)
        return solve(columns, rows)


class DeafToClosedStdout(Bot):
    def say(self, text):
        import contextlib

        with contextlib.suppress(BrokenPipeError):
            os.write(1, text.encode())


class LeavesAChild(Bot):
    def start(self):
        import subprocess

        subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(1000)"], start_new_session=True)


class Chatters(Bot):
    def say(self, text):
        super().say(text)
        sys.stderr.write("x" * 2000 + "\n")


class Differs(Bot):
    """Solves from above and from below by turns; a file keeps whose turn it is."""

    from_below = False

    def start(self):
        from pathlib import Path

        self.from_below = Path("turn").exists()
        Path("turn").unlink() if self.from_below else Path("turn").touch()

    def solved(self, columns, rows):
        return (solve_from_below if self.from_below else solve)(columns, rows)


class Floods(Bot):
    def run(self):
        while True:
            sys.stdout.write("y\n" * 1000)


if __name__ == "__main__":
    name, *size = sys.argv[1:]
    kind = type(name, (Bot,), dict([OTHERS[name]])) if name in OTHERS else globals()[name]
    kind(*map(int, size)).run()
