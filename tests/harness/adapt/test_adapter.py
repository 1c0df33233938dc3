"""`nonojudge adapt` with real programs, alone and in the judge."""

import json
import math
import os
import re
import subprocess
import sys
import textwrap

import pytest

from nonobot.harness import cli
from nonobot.harness.adapt import adapter
from nonobot.harness.solver_bot import Clock
from nonobot.protocol import Puzzle
from nonobot.protocol.formats import read
from tests.helpers.judged import pids_with
from tests.helpers.talking import CAPTURED
from tests.helpers.waiting import wait_until

ADAPT = [sys.executable, "-m", "nonobot.harness", "adapt"]
FIRST = b"$1\n1\n\n1\n1\n\n1\n"
QUESTIONS = FIRST + b"$2\n\n1\t1\n\n1\n\n1\n$3\n1\n1\n1\n1\n1\n1\n"
ANSWERS = b"$1\n1\t0\t0\n0\t0\t0\n0\t0\t1\n", b"$2\n0\t1\t0\n0\t0\t0\n0\t1\t0\n"


@pytest.fixture
def program(tmp_path):
    """Return a function that writes a Python program and returns the command that starts it."""

    def write(code, name="solver.py"):
        (tmp_path / name).write_text(textwrap.dedent(code))
        return [sys.executable, str(tmp_path / name)]

    return write


def adapted(*arguments, given=QUESTIONS):
    return subprocess.run([*ADAPT, *arguments], input=given, **CAPTURED)


def test_the_adapter_writes_a_file_per_puzzle_and_reads_the_printed_board(program):
    command = program("""
        import sys
        text = open(sys.argv[1]).read()
        print("read", sys.argv[1].endswith(".non"), "width 3" in text, file=sys.stderr)
        rows = text.split("rows\\n")[1].split("\\n")[:3]
        if rows == ["1", "0", "1"]:
            columns = text.split("columns\\n")[1].split("\\n")[:3]
            print("#..\\n...\\n..#" if columns == ["1", "0", "1"] else "+---+\\n| # |\\n|   |\\n| # |\\n+---+")
        else:
            print("no idea")
            sys.exit(3)
    """)
    done = adapted("--as", "non", "--", *command, "{file}")
    assert done.stdout == b"".join(ANSWERS) + b"$3\n0\t0\t0\n0\t0\t0\n0\t0\t0\n"
    assert (done.returncode, done.stderr.count(b"read True True")) == (1, 3)
    why = "no board of 3x3 with 3 black cells in the output; it begins 'no idea'; exit status 3"
    assert done.stderr.decode().splitlines()[-2:] == [
        f"$3: line 15: {why}",
        f"no board for 1 puzzle (see --black, --white and --pattern), the first: {why}",
    ]


def test_the_adapter_ends_with_the_first_failure_and_explains_open_cells(program):
    command = program("""
        import sys
        print("xx#\\nx#?\\n?##" if "rows\\n1\\n0" in open(sys.argv[1]).read() else "no idea")
    """)
    done = adapted("--as", "non", "--", *command, "{file}")
    last = done.stderr.decode().splitlines()[-1]
    assert last.startswith(
        "no board for 3 puzzles (see --black, --white and --pattern), the first: no board of 3x3"
    )
    assert last.endswith("; its cells have three signs ('#', '?', 'x'), as if some were not decided")


@pytest.mark.parametrize(
    "arguments", [["{file}", "{output}"], ["--in={file}", "--out={output}"], ["-", "{output}"]]
)
def test_a_program_may_read_stdin_and_write_a_file(program, arguments):
    command = program("""
        import sys
        source, target = (word.partition("=")[2] or word for word in sys.argv[1:])
        text = sys.stdin.read() if source == "-" else open(source).read()
        assert text.count("<count>") == 4
        open(target, "w").write("[[1, 0, 0], [0, 0, 0], [0, 0, 1]]")
        print("###\\n###\\n###")
    """)
    done = adapted("--as", "webpbn", "--size", "3x3", "--", *command, *arguments, given=FIRST)
    assert (done.returncode, done.stdout.count(b"1")) == (0, 3), done.stderr


def test_a_program_that_takes_too_long_is_stopped_with_its_children(program):
    word = f"adapted-{os.getpid()}"
    command = program(f"""
        import subprocess, sys, time
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "{word}"])
        time.sleep(600)
    """)
    done = adapted("--as", "non", "--puzzle-limit", "1", "--", *command, "{file}", given=FIRST)
    assert (done.returncode, done.stdout) == (1, b"$1\n0\t0\t0\n0\t0\t0\n0\t0\t0\n")
    assert done.stderr == b"$1: line 1: not solved within the limit of 1 s\n"
    wait_until(lambda: not pids_with(word))


def test_a_program_that_prints_without_end_is_stopped(program):
    command = program("while True: print('x' * 1000)")
    done = adapted("--as", "non", "--", *command, "{file}", given=FIRST)
    assert done.stderr == b"$1: line 1: the program printed more than 16 MiB\n"


LEFT = {
    "os.mkfifo(output)": "cannot be read: not a regular file",
    "os.mkdir(output)": "cannot be read: Is a directory",
    "os.symlink('/dev/zero', output)": "cannot be read: not a regular file",
    "open(output, 'wb').truncate(1 << 40)": "cannot be read: more than 16 MiB",
    "open(output, 'wb')": "it is empty",
    "os.unlink(file); os.mkfifo(file)": "did not write the file {output}",
    "os.unlink(file); os.mkdir(file)": "did not write the file {output}",
    "os.chmod(file, 0)": "did not write the file {output}",
    "shutil.rmtree(os.path.dirname(file))": "did not write the file {output}",
}
"""What a program leaves in its folder, and what is then said of its puzzle."""


def test_files_left_in_the_folder_affect_only_their_own_puzzle(program, tmp_path):
    command = program(f"""
        import os, shutil, sys
        _, file, output = sys.argv
        with open({str(tmp_path / "starts")!r}, "a") as starts:
            starts.write(".")
            number = starts.tell()
        if number % 2:
            exec({[*LEFT]!r}[number // 2])
        else:
            open(output, "w").write("#..\\n.#.\\n..#")
    """)
    bad, good = QUESTIONS.split(b"$")[1::2]
    numbers = range(1, 2 * len(LEFT) + 1)
    given = b"".join(b"$%d%b" % (number, (good, bad)[number % 2][1:]) for number in numbers)
    done = adapted("--as", "webpbn", "--size", "3x3", "--", *command, "{file}", "{output}", given=given)
    answers = done.stdout.split(b"$")[1:]
    assert (done.returncode, b"Traceback" in done.stderr, len(answers)) == (1, False, len(numbers)), done.stderr
    assert {answer.partition(b"\n")[2] for answer in answers[1::2]} == {b"1\t0\t0\n0\t1\t0\n0\t0\t1\n"}
    said = done.stderr.decode().splitlines()
    for number, why in zip(numbers[::2], LEFT.values(), strict=True):
        [line] = [line for line in said if line.startswith(f"${number}: line ")]
        assert line.endswith(why)


def test_with_a_file_of_all_puzzles_the_program_starts_once(program):
    command = program("""
        import sys
        assert sys.stdin.read().count("GRID") == 3
        print("1:\\n#..\\n...\\n..#\\n\\n2: none\\n3:\\n#..\\n.#.\\n..#\\n")
    """)
    done = adapted("--as", "picross", "--batch", "--", *command)
    assert done.stdout == ANSWERS[0] + b"$2\n0\t0\t0\n0\t0\t0\n0\t0\t0\n$3\n1\t0\t0\n0\t1\t0\n0\t0\t1\n"
    assert b"2 of 3 puzzles have a board in the output; it begins '1:' / '#..' / '...'" in done.stderr


def test_the_option_try_prints_the_file_the_output_and_the_board(program, tmp_path, capfd):
    (tmp_path / "puzzle.hv").write_text("H\n1\n0\n1\nV\n1\n0\n1\n")
    command = program("print('\\x1b[31m#..\\x1b[0m\\n...\\n..#')")
    assert cli.run(["adapt", "--as", "oneline", "--try", str(tmp_path / "puzzle.hv"), "--", *command]) == 0
    expected = "--- the file (oneline):\n1:0:1-1:0:1\n--- the output:\n\\x1b[31m#..\\x1b[0m\n...\n..#\n"
    assert capfd.readouterr().out == f"{expected}--- the board:\n#..\n...\n..#\n"
    assert cli.run(["adapt", "--as", "oneline", "--try", str(tmp_path / "puzzle.hv"), "--", "true"]) == 1
    message = (
        "no board of 3x3 with 2 black cells in the output; it is empty (see --black, --white and --pattern; "
        "the command has no {file}, so the program gets its file on stdin)"
    )
    assert message in capfd.readouterr().err
    command = program("print('..#\\n...\\n.#.')")
    assert cli.run(["adapt", "--as", "oneline", "--try", str(tmp_path / "puzzle.hv"), "--", *command]) == 1
    out, err = capfd.readouterr()
    assert out.endswith("--- the board:\n..#\n...\n.#.\n")
    assert err == "nonojudge: the board does not solve the puzzle: column 1: expected 1, found no black cell\n"


def test_the_programs_output_file_may_have_its_own_extension(program):
    command = program("""
        import sys
        open(sys.argv[1], "w").write("#..\\n...\\n..#" if sys.argv[1].endswith("output.board.json") else "")
    """)
    done = adapted("--as", "non", "--", *command, "{output}.board.json", given=FIRST)
    assert (done.returncode, done.stdout) == (0, ANSWERS[0])


def test_output_in_utf_16_is_read(program):
    command = program("""
        import sys
        sys.stdout.buffer.write("█..\\n...\\n..█".encode("utf-16"))
    """)
    done = adapted("--as", "non", "--", *command, given=FIRST)
    assert (done.returncode, done.stdout) == (0, ANSWERS[0])


@pytest.mark.parametrize("options", [[], ["--batch"]])
def test_output_without_a_board_is_never_right(options):
    blank = b"$1\n\n\n\n\n\n\n"
    done = adapted("--as", "picross", "--size", "3x3", *options, "--", "echo", "###\n###\n###", given=blank)
    assert (done.returncode, done.stdout) == (1, b"$1\n1\t1\t1\n1\t1\t1\n1\t1\t1\n")
    why = "no board of 3x3 with 0 black cells" if not options else "0 of 1 puzzles have a board in the output"
    assert why in done.stderr.decode().splitlines()[-1]


@pytest.mark.parametrize("feed", ["batch", "interactive"])
@pytest.mark.usefixtures("compiled")
def test_the_judge_plays_an_adapted_program(program, tmp_path, capfd, feed):
    command = program("""
        import sys
        from nonobot import read, solve
        [record] = read(open(sys.argv[1], "rb").read())
        for row in solve(record.puzzle).solutions[0].numbers():
            print("|" + "".join(" #"[cell] * 2 for cell in row) + "|")
    """)
    result = tmp_path / "result.json"
    run = ["run", "--quiet", "--set", "boardgen:7x7x3:seed=1", "--feed", feed, "--result", str(result)]
    command_line = [*run, "--", *ADAPT, "--as", "cwd", "--", *command, "{file}"]
    assert cli.run(command_line) == 0, capfd.readouterr()
    assert json.loads(result.read_text())["bot"] == "solver"


@pytest.mark.slow
def test_every_format_that_convert_writes_can_be_the_file(program):
    from nonobot.protocol.formats import formats

    command = program("import sys; print(open(sys.argv[1]).read(), file=sys.stderr); print('#..\\n...\\n..#')")
    for form in formats():
        done = adapted("--as", form.name, "--size", "3x3", "--", *command, "{file}", given=FIRST)
        assert done.stdout == ANSWERS[0], form.name
        text = re.sub(rb"nonojudge.*\n", b"", done.stderr)
        [record] = read(text, form.name, (3, 3)) if not form.states_size else read(text, form.name)
        assert record.puzzle == Puzzle(columns=[[1], [], [1]], rows=[[1], [], [1]])


class _PrintsAtTheEnd(subprocess.Popen):
    """A program that prints and ends just before somebody sees that it has ended."""

    def poll(self):
        self.stdin.close()
        return self.wait()


def test_output_printed_just_before_the_exit_is_read():
    command = [sys.executable, "-c", "import sys; sys.stdin.read(); print('#.')"]
    with _PrintsAtTheEnd(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert adapter._printed(program, Clock(math.inf)) == b"#.\n"
