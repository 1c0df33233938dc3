"""The steps of the self-test, in order: the protocol's rules in a form that can be carried out.

Each is tried with a bot started anew. docs/check.md lists the same steps; a test compares the two.
"""

from __future__ import annotations

from nonobot.harness.check import answer_steps, process_steps, question_steps
from nonobot.harness.check.step import Level, Step

__all__ = ["STEPS"]

MUST, SHOULD, NOTE = Level.MUST, Level.SHOULD, Level.NOTE

QUESTION = "A question"
ANSWER = "An answer"
COUNTS = "What counts"
ONE_AT_A_TIME = "Puzzles one at a time"
FORGIVES = "What the question reader forgives"
REFUSES = "What it refuses"
UNSOLVED = "What `nonobot` answers when it has no solution"
JUDGED = "How a judge reads answers"
PROCESS = "The bot's process"

STEPS: tuple[Step, ...] = (
    Step(
        MUST,
        "starts, reads TAB and LF, and solves a puzzle",
        "Everything else builds on it; what the start takes is allowed for in all other steps.",
        QUESTION,
        answer_steps.one_puzzle,
    ),
    Step(
        MUST,
        "writes answers in the official form",
        "An organiser's checker may compare bytes; CR or blanks at the end of a line are a warning.",
        ANSWER,
        answer_steps.official_form,
    ),
    Step(
        MUST,
        "writes nothing but answers to stdout",
        "A banner or a line of debug text shifts every answer after it for a checker that counts lines.",
        ANSWER,
        answer_steps.only_answers,
    ),
    Step(
        MUST,
        "keeps the numbers and the order of the puzzles",
        "Sets are cut and put together: numbers have gaps, and the answer belongs to the number it bears.",
        COUNTS,
        answer_steps.numbers_and_order,
    ),
    Step(
        MUST,
        "takes any solution where a puzzle has several",
        "Most boards with 35% black cells have several; a bot that waits for a unique one solves few of them.",
        COUNTS,
        answer_steps.any_solution,
    ),
    Step(
        MUST,
        "writes each answer out at once",
        "What is still in a buffer when the time is up is lost.",
        ONE_AT_A_TIME,
        answer_steps.writes_at_once,
    ),
    Step(
        MUST,
        "answers before the next $ comes",
        "A judge may send the next puzzle only after the answer; a bot that waits for it waits for ever.",
        ONE_AT_A_TIME,
        answer_steps.answers_before_the_next,
        needs=(answer_steps.writes_at_once,),
    ),
    Step(
        MUST,
        "ends by itself when its input ends",
        "A match is over when the bot has ended; a status other than 0 looks like a crash and is a warning.",
        PROCESS,
        process_steps.ends_with_its_input,
    ),
    Step(
        MUST,
        "answers a large batch that is sent at once",
        "A tournament sends 1000 puzzles at once; a bot that only reads or only writes stands still.",
        COUNTS,
        answer_steps.large_batch,
    ),
    Step(
        MUST,
        "reads input that comes in odd pieces",
        "A pipe cuts where it likes, also within a number.",
        ONE_AT_A_TIME,
        question_steps.odd_pieces,
    ),
    Step(
        MUST,
        "reads CRLF line ends",
        "Two of the official sets have them.",
        FORGIVES,
        question_steps.crlf,
    ),
    Step(
        MUST,
        "counts an empty line as a column's clue, first and last",
        "A column without black cells is an empty line, also directly after the `$`.",
        QUESTION,
        question_steps.empty_columns,
    ),
    Step(
        MUST,
        "counts an empty line as a row's clue, first and last",
        "A row without black cells is an empty line, also directly before the next `$`.",
        QUESTION,
        question_steps.empty_rows,
    ),
    Step(
        MUST,
        "solves the board without black cells",
        "It is all empty lines: a reader that takes them for space finds no puzzle.",
        QUESTION,
        question_steps.all_white,
    ),
    Step(
        MUST,
        "solves the board without white cells",
        "Blocks as long as their line overflow masks and bounds that are one short.",
        QUESTION,
        question_steps.all_black,
    ),
    Step(
        SHOULD,
        "reads 0 as an empty clue",
        "Other programs write it.",
        FORGIVES,
        question_steps.zero_clue,
    ),
    Step(
        SHOULD,
        "reads spaces in place of TAB",
        "Editors and web pages turn TAB into spaces.",
        FORGIVES,
        question_steps.spaces_for_tab,
    ),
    Step(
        SHOULD,
        "reads spaces around the number after $",
        "Hand-made sets have them.",
        FORGIVES,
        question_steps.spaces_around_the_number,
    ),
    Step(
        SHOULD,
        "reads over a byte order mark",
        "Some editors on Windows write one.",
        FORGIVES,
        question_steps.byte_order_mark,
    ),
    Step(
        SHOULD,
        "reads over blank lines between puzzles",
        "Sets that were put together from several files have them.",
        FORGIVES,
        question_steps.blank_lines,
    ),
    Step(
        SHOULD,
        "reads a last line without a line end",
        "Some editors leave it out, and the last puzzle counts like any other.",
        FORGIVES,
        question_steps.no_final_newline,
    ),
    Step(
        SHOULD,
        "survives a clue that is not a number",
        "One damaged line is to cost one puzzle, not the rest of the tournament.",
        REFUSES,
        question_steps.garbled_clue,
    ),
    Step(
        SHOULD,
        "survives a puzzle without a solution",
        "It costs one puzzle, and a search that ends without a board must not end the bot.",
        UNSOLVED,
        question_steps.unsolvable_puzzle,
    ),
    Step(
        SHOULD,
        "ends when its input is cut off within a puzzle",
        "A loop that waits for the missing lines burns its core until somebody kills it.",
        REFUSES,
        process_steps.cut_off_input,
    ),
    Step(
        SHOULD,
        "ends at SIGTERM while it waits",
        "That is how a judge stops a bot; one that does not obey is killed 1.5 s later.",
        PROCESS,
        process_steps.sigterm_idle,
        needs=(answer_steps.writes_at_once, answer_steps.answers_before_the_next),
    ),
    Step(
        SHOULD,
        "ends at SIGTERM in the middle of a puzzle",
        "At the time limit a bot is at work, and its handler may not run before the puzzle is solved.",
        PROCESS,
        process_steps.sigterm_at_work,
        needs=(answer_steps.writes_at_once,),
    ),
    Step(
        SHOULD,
        "ends when its stdout is closed",
        "Solving on for nobody takes time from the next bot.",
        PROCESS,
        process_steps.stdout_closed,
    ),
    Step(
        SHOULD,
        "leaves no process behind",
        "What is left runs beside the next bot and slows it down.",
        PROCESS,
        process_steps.leaves_nothing_behind,
        needs=(process_steps.ends_with_its_input,),
    ),
    Step(
        SHOULD,
        "needs nobody to read its stderr",
        "A pipe holds 64 KiB: a bot that writes more waits for ever where its stderr is not read.",
        PROCESS,
        process_steps.stderr_unread,
        needs=(answer_steps.large_batch,),
    ),
    Step(
        NOTE,
        "gives the same answers to the same input",
        "Nothing asks for it; faults are found sooner in a bot that does.",
        COUNTS,
        answer_steps.same_again,
    ),
    Step(
        NOTE,
        "how long an easy puzzle takes",
        "Much more than a millisecond is a wait in the reading or writing, not in the solving.",
        COUNTS,
        answer_steps.seconds_per_puzzle,
    ),
)
