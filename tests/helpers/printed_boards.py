"""Outputs as solvers print them: a board in some alphabet, with clues, frames, colours and text around it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from nonobot.protocol import Puzzle

ALPHABETS = ["#.", "#-", "# ", "#_", "X.", "X ", "X-", "X_", "10", "1.", "*.", "* ", "*-", "@.", "@ ", "@-"]
ALPHABETS += ["█ ", "█.", "█░", "■□", "■ ", "⬛⬜", "▓░"]
DOUBLED = ["##..", "##  ", "██  ", "# . ", "X - ", "1 0 ", "[]  ", "@@--"]
TEXTS = ["solved in 0.02 s", "Solver 1.3 (c) 2009", "", "1 solution, unique", "nodes: 10 depth: 3", "Done."]

Cells = Sequence[Sequence[int]]


def random_board(rng: random.Random, most: int = 25) -> list[list[int]]:
    """Return a board of any size and density."""
    width, height, share = rng.randrange(3, most + 1), rng.randrange(3, most + 1), rng.uniform(0.2, 0.8)
    return [[int(rng.random() < share) for _ in range(width)] for _ in range(height)]


def _rows(rng: random.Random, cells: Cells) -> list[str]:
    signs = rng.choice([*DOUBLED, *ALPHABETS])
    black, white = signs[: len(signs) // 2], signs[len(signs) // 2 :]
    between = rng.choice(["", "", " ", ",", ", "]) if len(black) == 1 and white != " " else ""
    rows = [between.join(black if cell else white for cell in row) for row in cells]
    group = rng.random() < 0.15 and not between and white.strip()
    if group:  # a gap or a line after every fifth cell
        step, sign = 5 * len(black), rng.choice([" ", "|"])
        rows = [sign.join(row[start : start + step] for start in range(0, len(row), step)) for row in rows]
    return rows


def _framed(rng: random.Random, rows: list[str]) -> list[str]:
    corner, across, upright = rng.choice(["+-|", "┌─│", "╔═║", "+=|"])
    edge = corner + across * len(rows[0]) + corner
    return [edge, *(f"{upright}{row}{upright}" for row in rows), edge]


def _with_clues(rng: random.Random, rows: list[str], puzzle: Puzzle, is_framed: bool) -> list[str]:
    texts = [" ".join(map(str, clue)) or "0" for clue in puzzle.rows]
    texts = ["", *texts, ""] if is_framed else texts
    if rng.random() < 0.5:
        length = max(map(len, texts)) + 1
        head = [" " * length + rng.choice(["1 2 1 1", "2", "3   1"]) for _ in range(rng.randrange(3))]
        return head + [f"{text.rjust(length)} {row}" for text, row in zip(texts, rows, strict=True)]
    return [f"{row} {text}" for text, row in zip(texts, rows, strict=True)]


def _coloured(rng: random.Random, rows: list[str]) -> list[str]:
    code = rng.choice(["\x1b[1;32m", "\x1b[7m", "\x1b[38;5;12m"])
    if rng.random() < 0.5:
        return [f"{code}{row}\x1b[0m" for row in rows]
    return [row.replace("#", f"{code}#\x1b[m") for row in rows]


def drawing(rng: random.Random, cells: Cells, puzzle: Puzzle) -> str:
    """Return a board as some solver prints it."""
    if rng.random() < 0.1:
        rows = [[bool(cell) for cell in row] for row in cells] if rng.random() < 0.3 else cells
        text = json.dumps(rows, indent=rng.choice([None, 1])) if rng.random() < 0.5 else str([*map(list, rows)])
        return f"{rng.choice(['', 'grid = ', 'Solution: '])}{text}"
    rows = _rows(rng, cells)
    is_framed = rng.random() < 0.3
    rows = _framed(rng, rows) if is_framed else rows
    rows = _with_clues(rng, rows, puzzle, is_framed) if rng.random() < 0.3 else rows
    rows = _coloured(rng, rows) if rng.random() < 0.2 else rows
    rows = [row.rstrip(" ") for row in rows] if rng.random() < 0.3 else rows
    return "\n".join(rows)


def output(rng: random.Random, cells: Cells, puzzle: Puzzle) -> str:
    """Return what some solver prints: perhaps other boards first, and text around them."""
    parts = [rng.choice(TEXTS) for _ in range(rng.randrange(3))]
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        other = [[int(rng.random() < 0.5) for _ in row] for row in cells]
        parts += [drawing(rng, other, Puzzle.from_grid(other)), rng.choice(TEXTS)]
    parts += [drawing(rng, cells, puzzle), *(rng.choice(TEXTS) for _ in range(rng.randrange(3)))]
    return rng.choice(["\n", "\n", "\r\n"]).join("\n".join(parts).split("\n")) + "\n"
