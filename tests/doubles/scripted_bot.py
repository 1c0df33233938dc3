"""Bots that the judge is tested with: `python scripted_bot.py BEHAVIOUR SOLUTIONS`.

They know the solutions. Most read their puzzles a line at a time, as a bot does that is fed interactively.
The tests start hundreds: what takes long to load is loaded by the bots that use it.
"""

from __future__ import annotations

import os
import sys
import time

SIDE = 5


def signals():
    """Return the module `signal`: loading it takes a third of this program's start."""
    import signal

    return signal


def solutions() -> dict[int, str]:
    """Return the answers of the solution file, by number."""
    with open(sys.argv[2]) as file:  # noqa: PTH123 - pathlib costs a tenth of this program's start
        return {int(text.split("\n")[0]): f"${text}" for text in file.read().split("$")[1:]}


def puzzles():
    """Yield the number of each puzzle once its last line has come."""
    for line in iter(sys.stdin.readline, ""):
        if line.startswith("$"):
            for _ in range(2 * SIDE):
                sys.stdin.readline()
            yield int(line[1:])


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def unlike(text: str) -> str:
    """Return an answer with its first cell changed."""
    head, _, cells = text.partition("\n")
    return f"{head}\n{1 - int(cells[0])}{cells[1:]}"


def perfect():
    for number in puzzles():
        say(known[number])


def wrong_at_2():
    for number in puzzles():
        say(unlike(known[number]) if number == 2 else known[number])


def odd():
    for number in puzzles():
        say(known[number] if number % 2 else unlike(known[number]))


def even():
    for number in puzzles():
        say(unlike(known[number]) if number % 2 else known[number])


def at_3(work):
    """Return a bot that does `work` when the third puzzle comes, and solves whatever else comes."""

    def bot():
        for number in puzzles():
            if number == 3:
                work()
            say(known[number])

    return bot


@at_3
def crash_at_3():
    say("$3\n0\t1\t0\t0\t0\n")
    raise RuntimeError("cannot go on")


@at_3
def killed_at_3():
    os.kill(os.getpid(), signals().SIGKILL)


@at_3
def hang_at_3():
    say("$3\n0\t1\t0\t0\t0\n")
    sys.stderr.write("hanging\n")
    time.sleep(1000)


def hang_and_ignore_sigterm():
    signals().signal(signals().SIGTERM, signals().SIG_IGN)
    hang_at_3()


@at_3
def hang_once_at_3():
    if not noted("solutions.txt.marker"):
        note("solutions.txt.marker")
        time.sleep(1000)


def ends_with_2_in_colours():
    perfect()
    sys.stderr.write("many words\n\t\x1b[31mcannot  go on: " + 1000 * "x" + "\r\n \n")
    sys.exit(2)


@at_3
def ends_after_2():
    sys.exit(0)


@at_3
def expires_at_3():
    sys.stderr.write("licence expired\n")
    sys.exit(0)


@at_3
def end_after_3_without_a_line_end():
    say(known[3].rstrip("\n"))
    sys.exit(0)


@at_3
def hang_after_3_without_a_line_end():
    say(known[3].rstrip("\n"))
    time.sleep(1000)


def ends_lines_late():
    end = ""
    for number in puzzles():
        say(end + known[number].rstrip("\n"))
        end = "\n"


def answer_before_the_questions():
    say("".join(known.values()))
    perfect()


def launch_another():
    if os.fork() == 0:
        time.sleep(1000)


def crash_beside_another():
    if os.fork() == 0:
        time.sleep(1000)
    sys.exit("cannot go on")


def abort_at_the_end():
    perfect()
    os.abort()


def detach_a_sleeper():
    """Sleep in a process of a session of its own, whose parent is gone."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signals().signal(signals().SIGTERM, signals().SIG_IGN)
            time.sleep(1000)
        os._exit(0)
    os.wait()
    perfect()


def eat_memory_in_children():
    import subprocess

    eat = "import time; held = b'x' * 60_000_000; time.sleep(1000)"
    for _ in range(3):
        subprocess.Popen([sys.executable, "-S", "-c", eat])
    hang_at_3()


def share_memory_with_children():
    held = b"x" * 80_000_000
    children = [os.fork() or (time.sleep(0.5), os._exit(0)) for _ in range(3)]
    for child in children:
        os.waitpid(child, 0)
    perfect()
    del held


def map_a_file():
    import mmap

    with open(beside("book"), "wb") as file:  # noqa: PTH123
        for _ in range(100):
            file.write(bytes(1_000_000))
    with open(beside("book"), "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as book:  # noqa: PTH123
        sum(book[::4096])
        time.sleep(0.2)  # so that the judge looks
        perfect()


def say_my_cores():
    sys.stderr.write(f"{sorted(os.sched_getaffinity(0))}\n")
    perfect()


def backwards():
    say("".join(known[number] for number in reversed(list(puzzles()))))


def flood_stderr():
    for number in puzzles():
        sys.stderr.write("x" * 999_999 + "\n")
        say(known[number])
    sys.stderr.write("the last words\n")


def close_stdout():
    say(known[1])
    os.close(1)
    time.sleep(1000)


def close_stdin():
    os.close(0)
    say(known[1])


def never_end():
    perfect()
    time.sleep(1000)


@at_3
def wait_at_3():
    """Wait until there is a file `go` beside the solutions."""
    note("waiting")
    wait_for("go")


def solve_once_and_wait():
    """Solve all puzzles as one of the first two that run, then wait for ever."""
    note("runs")
    meet()
    if noted("runs") > 2:
        note("waiting")
        signals().pause()
    perfect()


def ends_with_2_at_once():
    sys.stderr.write("unrecognized: --fats\n")
    sys.exit(2)


def meet():
    """Wait until another one is there as well: it adds the second of two lines to the file `met`."""
    note("met")
    while noted("met") % 2:
        time.sleep(0.01)


def meet_and_solve():
    meet()
    compute_and_solve(0.015)


def meet_and_compute():
    meet()
    compute_and_solve(0.06)


def compute_and_solve(seconds):
    for number in puzzles():
        compute(seconds)
        say(known[number])


def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@at_3
def compute_at_3():
    """Wait until there is a file `go`, then compute for longer than the limit of the test."""
    note("waiting")
    wait_for("go")
    compute(0.6)


@at_3
def compute_and_end_at_3():
    note("waiting")
    wait_for("go")
    compute(0.6)
    sys.exit(0)


def solve_and_compute():
    perfect()
    compute(0.6)


def dawdle():
    for number in puzzles():
        time.sleep(0.2)
        say(known[number])


@at_3
def kill_worker_at_3():
    """Kill the process that started the judge."""
    note("kills")
    with open(f"/proc/{os.getppid()}/stat") as file:  # noqa: PTH123
        os.kill(int(file.read().rpartition(")")[2].split()[1]), signals().SIGKILL)
    time.sleep(60)  # until the judge has seen it


def kill_worker_once():
    try:
        os.close(os.open(beside("killer"), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        perfect()
    else:
        kill_worker_at_3()


def beside(name):
    return f"{os.path.dirname(sys.argv[2])}/{name}"  # noqa: PTH120


def note(name):
    """Add this process's number to a file beside the solutions."""
    write(f"{os.getpid()}\n", name=beside(name))


def noted(name):
    try:
        with open(beside(name)) as file:  # noqa: PTH123
            return len(file.readlines())
    except FileNotFoundError:
        return 0


def wait_for(name):
    """Wait until there is a file beside the solutions."""
    while not os.path.exists(beside(name)):  # noqa: PTH110
        time.sleep(0.002)


# Bots that work on files, in a folder with `input.txt`: what they say on stdout is for people


def numbers() -> list[int]:
    with open("input.txt") as file:  # noqa: PTH123
        return [int(line[1:]) for line in file if line.startswith("$")]


def write(text: str, mode: str = "a", name: str = "solution.txt") -> None:
    with open(name, mode) as file:  # noqa: PTH123
        file.write(text)


def champion():
    """Like the published champion of 2011 to 2015: an answer and a line in the log for each puzzle, at once."""
    print("here:", os.getcwd(), sys.stdin.read())  # noqa: PTH109
    for number in numbers():
        sys.stderr.write(f"#{number} solved!!!\n")
        write(known[number])
        write(f"#{number}\t{number / 8:f}\n", name="log.txt")
        wait_for(f"judged-{number}")
    write("total time: 2.000000\n", name="log.txt")


def writes_late():
    write("".join(known.values()))


def writes_milliseconds():
    writes_late()
    write("#1\t125\n#2\t2125\ntotal time: 98765\n", name="log.txt")


def writes_files_anew():
    for number in numbers():
        write("".join(known[earlier] for earlier in range(1, number + 1)), "w", "new")
        os.replace("new", "solution.txt")  # noqa: PTH105
        wait_for(f"judged-{number}")


def links_to_the_solutions():
    os.symlink(sys.argv[2], "solution.txt")  # noqa: PTH211


def writes_and_floods_stdout():
    os.write(1, b"x" * 3_000_000)
    writes_late()


def writes_and_hangs_at_3():
    for number in numbers():
        if number == 3:
            write("$3\n0\t1\n")
            write("#1\t0.25\n#2\t0.", name="log.txt")
            sys.stderr.write("hanging\n")
            time.sleep(1000)
        write(known[number])
    write("#4\t0.5\ntotal time: 0.75\n", name="log.txt")


def writes_and_crashes_at_3():
    write(known[1] + known[2] + known[3][:-5])
    sys.exit(3)


def writes_and_nests():
    write(known[1])
    while True:
        os.mkdir("d" * 200)  # noqa: PTH102
        os.chdir("d" * 200)


def writes_and_litters():
    write(known[1])
    for number in range(1000):
        write("x" * 10_000, name=f"{number}.tmp")
    time.sleep(1000)


known = solutions()
globals()[sys.argv[1]]()
