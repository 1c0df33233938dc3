"""Definitions of puzzle and solution, and the functions that read, write and draw them."""

from nonobot.protocol.answers import Answer, AnswerReader, read_answers
from nonobot.protocol.batch import DEFAULT_SIZE, TaaiReader, format_answer, format_puzzle, read_batch
from nonobot.protocol.clues import BLACK, UNKNOWN, WHITE, Clue, Fault, PuzzleError, clue_of
from nonobot.protocol.puzzle import Found, PartialGrid, Puzzle, Record, Solution
from nonobot.protocol.verify import Mismatch, mismatches

__all__ = [
    "BLACK",
    "DEFAULT_SIZE",
    "UNKNOWN",
    "WHITE",
    "Answer",
    "AnswerReader",
    "Clue",
    "Fault",
    "Found",
    "Mismatch",
    "PartialGrid",
    "Puzzle",
    "PuzzleError",
    "Record",
    "Solution",
    "TaaiReader",
    "clue_of",
    "format_answer",
    "format_puzzle",
    "mismatches",
    "read_answers",
    "read_batch",
]
