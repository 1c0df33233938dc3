"""Arguments that several commands take."""

from __future__ import annotations

import argparse
import re
from typing import Literal

from nonobot.harness.errors import UnusableError
from nonobot.tournament_data import PuzzleSet, SetError, load_set

__all__ = ["SET_HELP", "Commands", "add_file_size", "add_size", "byte_count", "core", "loaded", "seconds"]

Commands = argparse._SubParsersAction  # what add_subparsers returns; argparse has no public name for it

SET_HELP = (
    "an official set such as taai2011 (see `nonojudge data`), a file of puzzles, or "
    "boardgen:WIDTHxHEIGHTxCOUNT:seed=S for a generated set"
)


def size(text: str) -> tuple[int, int]:
    """Return width and height from a text such as `25x25`."""
    if not re.fullmatch(r"[1-9][0-9]{0,3}x[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT, such as 25x25")
    width, height = map(int, text.split("x"))
    return width, height


def seconds(text: str) -> float:
    """Return a positive number of seconds."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return found


def byte_count(text: str) -> int:
    """Return a number of bytes from a text such as `500M` or `4G`; K, M and G are powers of 1024."""
    found = re.fullmatch(r"([1-9][0-9]{0,15})([KMG]?)B?", text.strip().upper())
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 500M or 4G")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]]


def core(text: str) -> int | None:
    """Return the number of a core; None for `any`."""
    if text == "any":
        return None
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is neither the number of a core nor any")
    return int(text)


def add_size(parser: argparse.ArgumentParser) -> None:
    """Add `--size`."""
    parser.add_argument(
        "--size",
        type=size,
        metavar="WxH",
        help="size of every board; a question file does not state it (default: 25x25)",
    )


def add_file_size(parser: argparse.ArgumentParser) -> None:
    """Add `--size` for files that are read as `nonobot.protocol.formats` does."""
    parser.add_argument(
        "--size",
        type=_file_size,
        metavar="WxH|auto",
        help="size of the boards of a TAAI file, which states none; auto: square ones of any sizes (default: "
        "25x25 if the first board can be that, else auto)",
    )


def _file_size(text: str) -> tuple[int, int] | Literal["auto"]:
    return "auto" if text == "auto" else size(text)


def loaded(source: str, board_size: tuple[int, int] | None) -> PuzzleSet:
    """Return the set that `source` names.

    Raises
    ------
    UnusableError
        If there is none.
    """
    try:
        return load_set(source, board_size)
    except SetError as error:
        raise UnusableError(str(error)) from None
