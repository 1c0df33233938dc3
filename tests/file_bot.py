"""Bots that work on files: `python file_bot.py BEHAVIOUR SOLUTIONS`, run in a folder with `input.txt`.

They know the solutions, write them to `solution.txt`, and keep `log.txt`. What they say on stdout is for people.
Where a bot has to know what the judge has seen, the test leaves a file for each verdict beside the solutions.
"""

from __future__ import annotations

import os
import sys
import time

SIDE = 5

FOLDER = sys.argv[2].rpartition("/")[0]


def solutions() -> dict[int, str]:
    """Return the answers of the solution file, by number."""
    with open(sys.argv[2]) as file:  # noqa: PTH123 - pathlib costs a tenth of this program's start
        return {int(text.split("\n")[0]): f"${text}" for text in file.read().split("$")[1:]}


def numbers() -> list[int]:
    """Return the numbers of the questions."""
    with open("input.txt") as file:  # noqa: PTH123
        return [int(line[1:]) for line in file if line.startswith("$")]


def write(text: str, mode: str = "a", name: str = "solution.txt") -> None:
    with open(name, mode) as file:  # noqa: PTH123
        file.write(text)


def ruled(number: int) -> None:
    """Wait until the judge has ruled on a puzzle."""
    while not os.access(f"{FOLDER}/ruled-{number}", os.F_OK):
        time.sleep(0.001)


def champion():
    """Like the published champion of 2011 to 2015: an answer and a line in the log for each puzzle, at once."""
    print("here:", os.getcwd(), sys.stdin.read())  # noqa: PTH109
    for number in numbers():
        sys.stderr.write(f"#{number} solved!!!\n")
        write(known[number])
        write(f"#{number}\t{number / 8:f}\n", name="log.txt")
        ruled(number)
    write("total time: 2.000000\n", name="log.txt")


def late():
    write("".join(known.values()))


def replaces():
    for number in numbers():
        write("".join(known[one] for one in range(1, number + 1)), "w", "new")
        os.replace("new", "solution.txt")  # noqa: PTH105
        ruled(number)


def links_to_the_solutions():
    os.symlink(sys.argv[2], "solution.txt")  # noqa: PTH211


def flood_stdout():
    os.write(1, b"x" * 3_000_000)
    late()


def hang_at_3():
    for number in numbers():
        if number == 3:
            write("$3\n0\t1\n")
            write("#1\t0.25\n#2\t0.", name="log.txt")
            sys.stderr.write("hanging\n")
            time.sleep(1000)
        write(known[number])
    write("#4\t0.5\ntotal time: 0.75\n", name="log.txt")


def crashes_at_3():
    write(known[1] + known[2] + known[3][:-5])
    sys.exit(3)


known = solutions()
globals()[sys.argv[1]]()
