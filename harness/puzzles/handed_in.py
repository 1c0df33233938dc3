"""The sets that the participants of a match hand in: which of their puzzles are void, and why."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nonobot.arguments import size
from nonobot.harness import UnusableError
from nonobot.harness.progress import Progress
from nonobot.harness.puzzles.grading import LINE_LIMIT, PUZZLE_SECONDS, Grading, grading_bot
from nonobot.harness.results.conditions import Contain
from nonobot.harness.results.referee import score_of_file
from nonobot.harness.results.run_result import Verdict
from nonobot.harness.text import first_of, from_to, say
from nonobot.harness.tournament.definition import MATCH_PUZZLES, MATCH_SIZE, Entrant, Tournament
from nonobot.protocol import Puzzle, format_puzzle
from nonobot.protocol.clues import count
from nonobot.system import content_of, reason_of
from nonobot.tournament_data import PuzzleSet, SetError, load_set
from nonobot.tournament_data.sets import MOST_SET_BYTES

MOST_SHOWN = 20  # void puzzles, or wrong solutions, of a set that are named one by one
DECIDED = ".decided-puzzles.txt"
"""File among the results with the puzzles that nonobot has decided: a match that is resumed decides none again."""

SOLVABLE = "solvable"
DECISIONS = {True: SOLVABLE, False: "unsolvable", None: "undecided"}
WHY_VOID = {
    "unsolvable": "no solution",
    "undecided": f"nonobot found no solution in {LINE_LIMIT:,} line solves; setter-solutions can show one",
}


def sets_handed_in(tournament: Tournament, folder: Path, quiet: bool = False) -> list[PuzzleSet]:
    """Return the set of each bot of a match: the puzzles to play, and those that are void.

    A puzzle is void if it is missing, unreadable, there twice, or not known to have a solution: either the setter
    shows one, or nonobot finds one. `folder` is that of the results. UnusableError if a file cannot be read, has
    no puzzle to play, or has the same puzzles as another.
    """
    sets = [_read(bot, tournament, quiet) for bot in tournament.bots]
    _compare(sets, quiet)
    unshown = [_unshown(bot, puzzle_set, quiet) for bot, puzzle_set in zip(tournament.bots, sets, strict=True)]
    doubtful = [puzzle for puzzles in unshown for puzzle in puzzles.values()]
    decided = _decided(doubtful, folder / DECIDED, tournament.contain, quiet)
    checked = []
    for puzzle_set, puzzles in zip(sets, unshown, strict=True):
        decisions = {number: decided[_digest(puzzle)] for number, puzzle in puzzles.items()}
        void = {number: WHY_VOID[decision] for number, decision in decisions.items() if decision != SOLVABLE}
        checked.append(_without(puzzle_set, void))
        _say_void(checked[-1], quiet)
    return checked


def _read(bot: Entrant, tournament: Tournament, quiet: bool) -> PuzzleSet:
    """Return a set as it was handed in, without what cannot be read and what is there twice."""
    source = bot.puzzles or ""
    try:
        puzzle_set = load_set(source, size(tournament.size or MATCH_SIZE))
    except SetError as error:
        raise UnusableError(f"{bot.name}: {error}; correct the file, or leave the bot out") from None
    wanted = range(1, (tournament.puzzles_each or MATCH_PUZZLES) + 1)
    puzzles = puzzle_set.by_number
    for fault in puzzle_set.faults:
        if fault.number in puzzles:
            say(f"{bot.name}: {source}: {fault}", quiet)
    if more := [f"${number}" for number in puzzles if number not in wanted]:
        say(f"{bot.name}: {source}: only $1 to ${wanted[-1]} count, not {first_of(more, 1)}", quiet)
    kept = tuple(set_puzzle for set_puzzle in puzzle_set.puzzles if set_puzzle.number in wanted)
    return _without(replace(puzzle_set, puzzles=kept, setter=bot.name), _void_as_written(puzzle_set, wanted))


def _void_as_written(puzzle_set: PuzzleSet, wanted: range) -> dict[int, str]:
    """Return the puzzles that are missing, unreadable or there twice, with the reason."""
    faults = {fault.number: f"line {fault.line}: {fault.message}" for fault in reversed(puzzle_set.faults)}
    puzzles, first = puzzle_set.by_number, dict[Puzzle, int]()
    void = {}
    for number in wanted:
        puzzle = puzzles.get(number)
        if puzzle is None:
            void[number] = faults.get(number, "missing")
        elif first.setdefault(puzzle, number) != number:
            void[number] = f"the same puzzle as ${first[puzzle]}"
    return void


def _without(puzzle_set: PuzzleSet, void: dict[int, str]) -> PuzzleSet:
    """Return a set without its void puzzles; UnusableError if none is left."""
    every = dict(sorted({**puzzle_set.void, **void}.items()))
    kept = [set_puzzle.number for set_puzzle in puzzle_set.puzzles if set_puzzle.number not in every]
    if not kept:
        number, why = next(iter(every.items()))
        place = f"{puzzle_set.setter}: {puzzle_set.name}: ${number}: {why}"
        raise UnusableError(f"{place}; no puzzle is left: correct the file, or leave the bot out")
    return replace(puzzle_set.only(kept), setter=puzzle_set.setter, void=every)


def _compare(sets: Sequence[PuzzleSet], quiet: bool) -> None:
    """Tell which sets have puzzles in common; UnusableError if two have the same ones."""
    every = [(puzzle_set, set(puzzle_set.by_number.values())) for puzzle_set in sets]
    for (first, its_puzzles), (second, other_puzzles) in itertools.combinations(every, 2):
        common = len(its_puzzles & other_puzzles)
        place = f"{second.setter}: {second.name}"
        if its_puzzles == other_puzzles:
            remedy = "each bot needs puzzles of its own; replace a file, or leave a bot out"
            raise UnusableError(f"{place}: the same puzzles as {first.setter}'s {first.name}; {remedy}")
        if common:
            say(f"{place}: {count(common, 'puzzle')} also in {first.setter}'s {first.name}; they count", quiet)


def _unshown(bot: Entrant, puzzle_set: PuzzleSet, quiet: bool) -> dict[int, Puzzle]:
    """Return the puzzles that the setter's own solutions do not solve."""
    if not bot.setter_solutions:
        return puzzle_set.by_number
    try:
        score = score_of_file(puzzle_set, str(Path(bot.setter_solutions).absolute()), any_order=True, waits=False)
    except UnusableError as error:
        raise UnusableError(f"{bot.name}: {error}; correct the file, or remove setter-solutions") from None
    wrong = score.having(*{*Verdict} - {Verdict.RIGHT, Verdict.MISSING})
    place = f"{bot.name}: {bot.setter_solutions}"
    if score.unanswered:
        say(f"{place}: no solution of a puzzle in {bot.puzzles}; nonobot looks for them", quiet)
    elif wrong:
        first = f"{place}: {count(len(wrong), 'solution')} not right; nonobot looks for others"
        say(_listed(first, [f"${result.number}: {result.verdict}: {result.detail}" for result in wrong]), quiet)
    right = {result.number for result in score.having(Verdict.RIGHT)}
    return {number: puzzle for number, puzzle in puzzle_set.by_number.items() if number not in right}


def _decided(puzzles: Sequence[Puzzle], file: Path, contain: Contain, quiet: bool) -> dict[str, str]:
    """Return whether nonobot finds the puzzles solvable, by their digests, from the file or after a search."""
    decided = _decided_before(file)
    left = {_digest(puzzle): puzzle for puzzle in puzzles if _digest(puzzle) not in decided}
    if not left:
        return decided
    grading = Grading(
        puzzles[0].size, solutions=1, puzzle_seconds=PUZZLE_SECONDS, line_limit=LINE_LIMIT, contain=contain
    )
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    with (
        os.fdopen(os.open(file, flags, 0o666), "w") as record,
        Progress(None if quiet else len(left)) as progress,
        grading_bot(grading) as bot,
    ):
        for number, (digest, puzzle) in enumerate(left.items(), 1):
            solvable = bot.solvable(puzzle)
            decided[digest] = DECISIONS[solvable]
            record.write(f"{digest} {decided[digest]}\n")
            record.flush()
            progress.show(number, f"puzzle {number} of {len(left)} checked for a solution")
    return decided


def _decided_before(file: Path) -> dict[str, str]:
    try:
        lines = content_of(file, MOST_SET_BYTES).decode(errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        remedy = "remove it, and nonobot decides again"
        raise UnusableError(f"cannot read {file}: {reason_of(error)}; {remedy}") from None
    words = (line.partition(" ") for line in lines)
    return {digest: word for digest, _, word in words if word in DECISIONS.values()}


def _digest(puzzle: Puzzle) -> str:
    size = "x".join(map(str, puzzle.size))
    return hashlib.sha256(size.encode() + format_puzzle(1, puzzle)).hexdigest()


def _say_void(puzzle_set: PuzzleSet, quiet: bool) -> None:
    if void := puzzle_set.void:
        they_count, them = ("they count", "them") if len(void) > 1 else ("it counts", "it")
        meaning = (
            f"no bot plays {them}, and {they_count} as solved by every opponent; press Ctrl-C to replace {them}"
        )
        first = f"{puzzle_set.setter}: {puzzle_set.name}: {count(len(void), 'void puzzle')}: {meaning}"
        say(_listed(first, _void_in_words(void)), quiet)


def _void_in_words(void: Mapping[int, str]) -> list[str]:
    """Return a line for each void puzzle; neighbours that are void for the same reason share one."""
    lines = []
    for (why, _), run in itertools.groupby(enumerate(void), lambda item: (void[item[1]], item[1] - item[0])):
        numbers = [number for _, number in run]
        lines.append(f"{from_to(f'${numbers[0]}', f'${numbers[-1]}')}: {why}")
    return lines


def _listed(first: str, lines: Sequence[str]) -> str:
    more = [f"and {len(lines) - MOST_SHOWN} more"] if lines[MOST_SHOWN:] else []
    return "\n  ".join([first, *lines[:MOST_SHOWN], *more])
