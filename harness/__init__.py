"""The judge: runs any bot, verifies, scores, compares, reports.

The rooms, in the order in which a run passes through them:

    cli, commands/    a command line becomes a command; its module holds its options and its help
    options           the options that several commands share
    check/            does the bot follow the protocol?
    process/          the bot as a program: its files, sandbox, pipes, usage and limits
    play/             a run: attempts, verdicts as they come, the journal, resuming
    results/          the referee; what a result is, with its conditions; its file
    tournament/       many runs, defined by a file; cluster/ hands them to many cores or machines
    ranking/          results ranked; compare/ tests whether one version is slower than another
    report/, page/    a ranking as one HTML file, and live in a browser; pictures/ draws boards

Beside this path:

    puzzles/          sets and single puzzles made, graded and made unique
    bench/            benchmarks, bisect and claims; profiling/ shows where a bot's time goes
    opponents/        reference solvers to measure against
    text, progress, user_files    words, progress and files for all of them
"""

from __future__ import annotations

# Errors that end a command with a one-line message; they are here because every command loads this module first.

EXIT_UNUSABLE = 2  # exit statuses
EXIT_CANNOT_TELL = 3
EXIT_SKIP = 125  # `git bisect run` then skips a revision that cannot be judged
EXIT_INTERRUPTED = 130  # 128 and the number of SIGINT, as in shells


class UnusableError(Exception):
    """Arguments or input that cannot be used; the message is one line that says what and why."""


class StartError(Exception):
    """The bot's command cannot be run; the message is one line that says why."""


ALL_PARTS = "in a clone, -e '.[judge]' in place of the names installs what most commands need"


def require_libraries(what: str, *libraries: str) -> None:
    """Raise UnusableError, with the command that installs them, if libraries that `what` needs are missing."""
    from importlib.util import find_spec

    from nonobot.arguments import missing

    absent = [name for name in libraries if find_spec(name) is None]
    if absent:
        raise UnusableError(f"{missing(what, *absent)} ({ALL_PARTS})")
