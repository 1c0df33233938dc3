"""Bots that work on files: `python file_bot.py BEHAVIOUR SOLUTIONS`, run in a folder with `input.txt`.

They know the solutions, write them to `solution.txt`, and keep `log.txt`. What they say on stdout is for people.
Where a bot has to know what the judge has seen, the judge leaves a file for each ruling beside the solutions.
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


def numbers(name: str = "input.txt") -> list[int]:
    """Return the numbers of the questions."""
    with open(name) as file:  # noqa: PTH123
        return [int(line[1:]) for line in file if line.startswith("$")]


def write(text: str, mode: str = "a", name: str = "solution.txt") -> None:
    with open(name, mode) as file:  # noqa: PTH123
        file.write(text)


def ruled(number: int) -> None:
    """Wait until the judge has ruled on a puzzle."""
    while not os.access(f"{FOLDER}/ruled-{number}", os.F_OK):
        time.sleep(0.001)


def everything() -> str:
    return "".join(known.values())


def champion():
    """Like the published champion of 2011 to 2015: an answer and a line in the log for each puzzle, at once."""
    print("here:", os.getcwd(), sys.stdin.read())  # noqa: PTH109
    for number in numbers():
        sys.stderr.write(f"#{number} solved!!!\n")
        write(known[number])
        write(f"#{number}\t{number / 8:f}\n", name="log.txt")
        ruled(number)
    write("total time: 2.000000\n", name="log.txt")


def shows_its_questions():
    with open("input.txt", "rb") as file:  # noqa: PTH123
        sys.stderr.buffer.write(file.read())


def late():
    write(everything())


def in_blocks():
    text = everything()
    for start in range(0, len(text), 7):
        write(text[start : start + 7])


def torn_after_2():
    text = everything()
    cut = text.index("$3") + 9
    write(text[:cut])
    ruled(2)
    write(text[cut:])


def replaces():
    for number in numbers():
        write("".join(known[one] for one in range(1, number + 1)), "w", "new")
        os.replace("new", "solution.txt")  # noqa: PTH105
        ruled(number)


def never_writes():
    print(everything())


def in_a_folder():
    for number in numbers("in/questions.txt"):
        write(known[number], name="out/solutions/mine.txt")


def links_to_the_solutions():
    os.symlink(sys.argv[2], "solution.txt")  # noqa: PTH211


def makes_a_pipe():
    os.mkfifo("solution.txt")
    os.mkfifo("log.txt")


def no_final_newline():
    write(everything().rstrip("\n"))


def flood_without_lines():
    """Write far more than a bot may, and stay: the disk is others' as well."""
    with open("solution.txt", "w") as file:  # noqa: PTH123
        while file.tell() < 20_000_000:
            file.write("1\t" * 1000)
        time.sleep(1000)


def flood_stdout():
    os.write(1, b"x" * 3_000_000)
    late()


def hangs(log: str = "") -> None:
    write(f"#1\t0.25\n{log}", name="log.txt")
    sys.stderr.write("hanging\n")
    sys.stderr.flush()
    time.sleep(1000)


def hang_at_3():
    for number in numbers():
        if number == 3:
            write("$3\n0\t1\n")
            hangs("#2\t0.")
        write(known[number])
    write("#4\t0.5\ntotal time: 0.75\n", name="log.txt")


def hang_once_at_3():
    marker = sys.argv[2] + ".marker"
    for number in numbers():
        if number == 3 and not os.access(marker, os.F_OK):
            write("", name=marker)
            hangs()
        write(known[number])


def never_end():
    late()
    time.sleep(1000)


def crashes_at_3():
    write(known[1] + known[2] + known[3][:-5])
    sys.exit(3)


def logs_badly():
    late()
    write("#1\t625\t0\t0.25\n", name="log.txt")


def logs_too_much():
    late()
    write("#1\t0.25\n" * 200_000, name="log.txt")


known = solutions()
globals()[sys.argv[1]]()
