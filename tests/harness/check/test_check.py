"""The self-test: its puzzles, the bots that miss a step, and what `nonojudge check` shows."""

import io
import json
import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from nonobot.harness import cli
from nonobot.harness.check import check_puzzles
from nonobot.harness.check.answer_steps import numbers_and_order
from nonobot.harness.check.self_test import STEPS, selected, summary
from nonobot.harness.check.session import BotUnderTest, ShortfallError
from nonobot.harness.check.step import PROCESS, Level, StepResult, StepVerdict, carried_out
from nonobot.protocol import Answer, Solution, mismatches, read_batch
from nonobot.tournament_data import Recipe, write_set
from tests.doubles.check_bots import placements, solve, solve_from_below
from tests.helpers.places import DOUBLES, REPOSITORY
from tests.helpers.terminals import Terminal

SIZE = (5, 6)
NUMBER_OF = {step.name: number for number, step in enumerate(STEPS, 1)}

# By bot: what does not pass. A step that needs one of these is skipped.
MISSED_AT_ONCE = {
    "Wrong": {"one_puzzle": "failed"},
    "CarriageReturns": {"official_form": "warning"},
    "TrailingTabs": {"official_form": "warning"},
    "Spaces": {"official_form": "failed"},
    "Banner": {"only_answers": "failed"},
    "Report": {"only_answers": "failed"},
    "BlankLines": {"only_answers": "warning"},
    "Renumbers": {"numbers_and_order": "failed"},
    "Twice": {"numbers_and_order": "failed"},
    "Unique": {"any_solution": "failed"},
    "Crashes": {"ends_with_its_input": "failed"},
    "Status3": {"ends_with_its_input": "warning"},
    "SmallTable": {"large_batch": "failed"},
    "Chunks": {"odd_pieces": "failed"},
    "ChunksLate": {"odd_pieces": "failed"},
    "KeepsCarriageReturn": {"crlf": "failed"},
    "SkipsEmptyAfterNumber": {"empty_columns": "failed", "all_white": "failed"},
    "SkipsEmptyBeforeNumber": {"empty_rows": "failed", "all_white": "failed"},
    "NoWhiteBoard": {"all_white": "failed"},
    "NoBlackBoard": {"all_black": "failed"},
    "NoZero": {"zero_clue": "warning"},
    "TabsOnly": {"spaces_for_tab": "warning"},
    "StrictNumber": {"spaces_around_the_number": "warning"},
    "NoMark": {"byte_order_mark": "warning"},
    "NoBlankLines": {"blank_lines": "warning"},
    "NeedsNewline": {"no_final_newline": "warning"},
    "DiesOfBadClue": {"garbled_clue": "warning"},
    "DiesOfUnsolvable": {"unsolvable_puzzle": "warning"},
    "LeavesAChild": {"leaves_nothing_behind": "warning"},
}
MISSED = MISSED_AT_ONCE | {
    "Buffers": {"writes_at_once": "failed"},
    "WaitsForTheNext": {"answers_before_the_next": "failed"},
    "Stays": {"ends_with_its_input": "failed", "cut_off_input": "warning"},
    "WaitsForTheRest": {"cut_off_input": "warning"},
    "DeafToSigterm": {"sigterm_idle": "warning", "sigterm_at_work": "warning"},
    "DeafAtWork": {"sigterm_at_work": "warning"},
    "DeafToClosedStdout": {"stdout_closed": "warning"},
    "Chatters": {"stderr_unread": "warning"},
}


def command(bot, size=SIZE):
    return [sys.executable, "-S", "-E", str(DOUBLES / "check_bots.py"), bot, *map(str, size)]


def results_of(folder, bot, only=(), patience=2.0, start=10.0):
    numbers = selected([NUMBER_OF[name] for name in only])
    under_test = BotUnderTest(command(bot), SIZE, patience, start, folder / "report")
    return {result.name: result for result in carried_out(STEPS, numbers, under_test, lambda _: None)}


def missed(results):
    """Return the verdicts on what does not pass, each with all that its author is told."""
    short = {name: result for name, result in results.items() if result.verdict not in ("passed", "skipped")}
    for result in short.values():
        assert all((result.sent, result.expected, result.got, result.advice, result.rule, result.transcript))
    return {name: str(result.verdict) for name, result in short.items()}


def test_a_bot_that_follows_every_rule_passes_every_check(tmp_path, own_folder):
    results = results_of(tmp_path, "Bot")
    assert [result.verdict for result in results.values()] == ["passed"] * len(STEPS)
    assert [result.number for result in results.values()] == list(range(1, len(STEPS) + 1))
    assert results["same_again"].note == "the same answers twice"
    differs = results_of(tmp_path, "Differs", only=["same_again"])["same_again"]
    assert differs.verdict == "passed"
    assert "other answers to $6" in differs.note


def test_answers_in_one_burst_take_less_time_than_can_be_measured(tmp_path):
    result = results_of(tmp_path, "Buffers", only=["seconds_per_puzzle"])["seconds_per_puzzle"]
    assert result.note.endswith(" s, then an easy puzzle takes less than 0.1 ms (median), at most 0.1 ms")


@pytest.mark.parametrize("bot", MISSED_AT_ONCE)
def test_each_faulty_bot_fails_its_check(tmp_path, bot):
    assert missed(results_of(tmp_path, bot, only=MISSED[bot])) == MISSED[bot]


# By bot: what is said of its answers to five puzzles; all of them, if not counted here.
MISTAKES = {
    "RowsFirst": "all 5 wrong answers would be right if transposed: a question lists the columns first",
    "Mirrored": "all 5 wrong answers would be right if mirrored left to right: the first number of a row is its",
    "Inverted": "all 5 wrong answers would be right with 0 and 1 exchanged: 1 is black",
    "CountsFromZero": "all 4 wrong answers would be right for the puzzle after it: the answers are off by one",
    "OtherSize": "all 5 malformed answers have rows of 3 numbers: check the bot's board size;",
    "TooTall": "answers have more than 5 rows: check the bot's board size; these boards are 5x5",
    "Mutters": "all 5 malformed answers have text in place of a row: write rows of 0 and 1, and",
    "NoTabs": "all 5 malformed answers have rows of one word: a TAB belongs between two numbers",
    "OneLine": "all 5 malformed answers have all 25 cells on one line: end the line after each row of 5 numbers",
}


@pytest.mark.parametrize("bot", MISTAKES)
def test_run_verify_and_check_explain_common_mistakes(bot, tmp_path, own_folder, capsys):
    program = command(bot, (5, 5))
    assert cli.run(["run", "--set", "boardgen:5x5x5:seed=3", "--result", "r.json", "--quiet", "--", *program]) == 1
    assert f"\n  {MISTAKES[bot]}" in capsys.readouterr().out
    assert json.loads(Path("r.json").read_text())["score"]["mistake"].startswith(MISTAKES[bot])

    write_set(Recipe.parse("boardgen:5x5x5:seed=3").boards(), questions := io.BytesIO())
    Path("questions.txt").write_bytes(questions.getvalue())
    done = subprocess.run(program, input=questions.getvalue(), capture_output=True)
    Path("answers.txt").write_bytes(done.stdout)
    assert cli.run(["verify", "questions.txt", "answers.txt", "--size", "5x5"]) == 1
    assert f"\n  {MISTAKES[bot]}" in capsys.readouterr().out

    assert cli.run(["check", "--size", "7x7", "--only", "1", "--timeout", "2", "--", *command(bot, (7, 7))]) == 1
    said = MISTAKES[bot].replace("all 5 wrong answers", "the wrong answer")
    said = said.replace("all 5 malformed answers have", "the malformed answer has")
    for five, seven in (("25 cells", "49 cells"), ("row of 5", "row of 7"), ("5 rows", "7 rows"), ("5x5", "7x7")):
        said = said.replace(five, seven)
    got, remedy = said.split(": ")
    if bot == "CountsFromZero":
        got = "no answer to $1 (its solution came as the answer to $0)"
    shown = capsys.readouterr().out
    assert re.search(rf"got .*{re.escape(got)}.*\n *do +{re.escape(remedy)}.*\n *rule .*, An answer\n", shown)


@pytest.mark.parametrize(
    ("bot", "advice"),
    [
        ("Missing", "find the cause in what the bot wrote to stderr; `nonojudge check --verbose`"),
        ("LacksAProgram", "install the program that its last line on stderr names"),
        ("LeavesOutTheLast", "answer the last puzzle, too"),
        ("Silent", "check that the bot expects boards of 5x6 (option --size); a start that takes longer needs"),
        ("Expires", "find the cause in what the bot wrote to stderr; otherwise check that the bot expects boards"),
        ("WithoutNumbers", "begin each answer with a line of '$' and the puzzle's number, here '$1'"),
        ("Detaches", "start the bot in the foreground: it ended while 1 process that it had started ran"),
    ],
)
def test_the_advice_to_a_bot_that_answers_nothing_fits_its_end(bot, advice, tmp_path):
    assert results_of(tmp_path, bot, only=["one_puzzle"])["one_puzzle"].advice.startswith(advice)


def test_a_bot_that_ends_its_last_row_late_gets_advice(tmp_path):
    result = results_of(tmp_path, "EndsRowsLate", only=["answers_before_the_next"])["answers_before_the_next"]
    assert result.advice == "end the last row of each answer with a line end; that of $1 has none"


@pytest.mark.parametrize(
    ("bot", "breakdown", "advice"),
    [
        ("KilledOnTheThird", "crashes (SIGSEGV) on its third puzzle", "find the line with a debugger"),
        ("LoopsOnTheThird", "computes without end on its third puzzle", "look for a loop without end"),
        ("EndsOnTheThird", "exits with status 0 on its third puzzle", "after each answer, read the next puzzle"),
        ("SleepsOnTheThird", None, "answer in the order of the questions"),
    ],
)
def test_a_breakdown_is_explained_at_its_first_check_alone(bot, breakdown, advice, tmp_path):
    results = results_of(tmp_path, bot, only=["numbers_and_order", "unsolvable_puzzle"])
    first, later = results["numbers_and_order"], results["unsolvable_puzzle"]
    assert (first.breakdown, later.breakdown) == (breakdown, breakdown)
    assert first.advice.startswith(advice)
    again = f"see check 4, where the bot {breakdown} as well"
    assert later.advice.startswith(again if breakdown else "give such a")


def test_a_crash_on_an_odd_puzzle_keeps_the_advice_of_that_check(tmp_path):
    result = results_of(tmp_path, "DiesOfBadClue", only=["garbled_clue"])["garbled_clue"]
    assert (result.breakdown, result.advice[:26]) == (None, "give such a puzzle up with")


def test_output_that_is_not_an_answer_is_quoted(tmp_path):
    result = results_of(tmp_path, "WithoutNumbers", only=["one_puzzle"])["one_puzzle"]
    assert re.search(r"; on stdout: '[01]\\t[01]\\t[01]\\t[01]\\t[01]\\n[01]\\t", result.got)


def test_the_summary_repeats_advice_that_many_checks_share():
    step = StepResult(1, "x", "x", Level.MUST, StepVerdict.FAILED, advice="count")
    warning = replace(step, verdict=StepVerdict.WARNING)
    assert summary([step] * 3 + [warning]).startswith("3 failed, 1 warning: ")
    assert summary([step] * 3 + [warning] * 2).startswith("3 failed, 2 warnings: ")
    assert summary([step] * 5).endswith("\n5 checks give the same advice: count")
    assert "advice" not in summary([step] * 4)


@pytest.mark.parametrize(
    "bot",
    [
        pytest.param(bot, marks=pytest.mark.nightly if bot in MISSED_AT_ONCE else pytest.mark.slow)
        for bot in MISSED
    ],
)
def test_each_faulty_bot_fails_only_its_own_check(tmp_path, bot):
    results = results_of(tmp_path, bot, patience=4.0)  # a machine at work may hold up the steps that are met
    assert missed(results) == MISSED[bot]
    unmet = {step for step in STEPS if MISSED[bot].get(step.name) == "failed"}
    for step in STEPS:
        skipped = results[step.name].verdict is StepVerdict.SKIPPED
        assert skipped == bool(unmet & {STEPS[0], *step.needs} - {step}), step.name


def test_answers_in_the_wrong_order_are_reported():
    def ask(wanted, *_):
        return SimpleNamespace(answers=[Answer(number, 1) for number, _ in sorted(wanted)])

    with pytest.raises(ShortfallError, match=r"\$3 \$7 \$100 \$1000000"):
        numbers_and_order.test(SimpleNamespace(size=SIZE, ask=ask))


def test_each_check_has_a_bot_that_fails_it():
    known = {name for expected in MISSED.values() for name in expected}
    assert known >= {step.name for step in STEPS if step.level is not Level.NOTE}


@pytest.mark.slow
@pytest.mark.parametrize("size", [(25, 25), (5, 4)])
def test_nonobot_passes_every_check(tmp_path, size):
    own = [sys.executable, "-m", "nonobot", "--size", f"{size[0]}x{size[1]}"]
    subprocess.run([*own, "--warm-up"], check=True)
    bot = BotUnderTest(own, size, 10.0, 120.0, tmp_path / "report")
    results = carried_out(STEPS, selected([]), bot, lambda _: None)
    assert [result.verdict for result in results] == ["passed"] * len(STEPS)


@pytest.mark.nightly
def test_a_slow_start_or_a_failed_wait_does_not_shorten_later_checks(tmp_path):
    only = ["official_form", "answers_before_the_next", "sigterm_idle", "crlf"]
    assert missed(results_of(tmp_path, "StartsSlowly", only=only, patience=0.5)) == {}
    assert missed(results_of(tmp_path, "WaitsForTheNextAndThinks", only=["odd_pieces"], start=0.0)) == {}


@pytest.mark.parametrize(
    ("bot", "got"),
    [
        ("Missing", "exited with status 1; last on stderr: 'config.toml is not there'"),
        ("SaysNothing", "the bot was still there after"),
        ("Floods", "the bot was still there after"),
        ("Wrong", "row 1: expected "),
    ],
)
def test_a_failed_first_check_skips_all_others(tmp_path, bot, got):
    results = list(results_of(tmp_path, bot, patience=0.3, start=0.7).values())
    assert results[0].verdict == "failed"
    assert got in results[0].got
    assert ("no answer to $1; " in results[0].got) == (bot != "Wrong")
    assert results[0].advice.startswith("flush stdout after each answer; check that") == (bot == "SaysNothing")
    assert {result.verdict for result in results[1:]} == {"skipped"}
    assert {result.note for result in results[1:]} == {"needs check 1, which did not pass"}


def lines_of(page):
    return (REPOSITORY / "docs" / page).read_text(encoding="utf-8").splitlines()


def test_the_documentation_lists_the_current_checks_and_rules():
    rows = [line for line in lines_of("check.md") if line.startswith("| ") and line[2].isdigit()]
    assert rows == [
        f"| {number} | {step.level} | {step.title} | {step.why} | {step.section} |"
        for number, step in enumerate(STEPS, 1)
    ]
    assert {f"## {step.section}" for step in STEPS} <= {*lines_of("protocol.md"), f"## {PROCESS}"}
    assert f"## {PROCESS}" in lines_of("check.md")
    named = {2: "official_form", 3: "only_answers", 4: "numbers_and_order", 26: "sigterm_at_work"}
    named |= {27: "stdout_closed", 28: "leaves_nothing_behind", 29: "stderr_unread"}
    assert {STEPS[number - 1].name for number in named} == {*named.values()}


# The puzzles of the steps are what their names say


@pytest.fixture(params=[(4, 4), (5, 6), (6, 5)])
def size(request):
    return request.param


def solution_count(puzzle):
    """Count the boards with the clues: every choice of rows, looked at column by column."""
    ways = [placements(clue, puzzle.width) for clue in puzzle.rows]
    return sum(not mismatches(puzzle, Solution(rows)) for rows in product(*ways))


def test_check_boards_have_the_intended_empty_lines_and_solutions(size):
    for puzzle in check_puzzles.easy(size, 20):
        assert (puzzle.width, puzzle.height) == size
        assert all((*puzzle.columns, *puzzle.rows))
        assert solution_count(puzzle) == 1
    by_columns, by_rows = check_puzzles.with_empty_edge_columns(size), check_puzzles.with_empty_edge_rows(size)
    assert [not clue for clue in by_columns.columns] == [True, *[False] * (size[0] - 2), True]
    assert [not clue for clue in by_rows.rows] == [True, *[False] * (size[1] - 2), True]
    assert all((*by_columns.rows, *by_rows.columns))
    assert solution_count(by_columns) == solution_count(by_rows) == 1
    puzzle = check_puzzles.ambiguous(size)
    assert all((*puzzle.columns, *puzzle.rows))
    assert solution_count(puzzle) > 1
    assert solve(puzzle.columns, puzzle.rows) != solve_from_below(puzzle.columns, puzzle.rows)
    puzzle = check_puzzles.unsolvable(size)
    assert solution_count(puzzle) == 0
    [entry] = read_batch(check_puzzles.text_of([(1, puzzle)]).splitlines(), size)
    assert entry.puzzle == puzzle, "clues that fit their lines, and the same black cells both ways"


def test_the_boards_of_a_tournament_differ():
    assert len(set(check_puzzles.easy((25, 25), 201))) == 201
    assert len(check_puzzles.hard((25, 25))) == 1000


COMMAND = ["check", "--contain", "no", "--size", f"{SIZE[0]}x{SIZE[1]}", "--timeout", "2"]


@pytest.fixture
def check(capsys):
    """Return what carries out the command in this process, and returns its status and what it wrote."""

    def run(*options, bot="Bot"):
        status = cli.run([*COMMAND, *options, "--", *command(bot)])
        return subprocess.CompletedProcess(options, status, *capsys.readouterr())

    return run


def test_the_output_has_a_line_for_each_check_it_needs_and_a_summary(check):
    done = check("--only", "2,7")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    start, time = lines[0].split("  (")
    assert start == "  1  passed   must    starts, reads TAB and LF, and solves a puzzle"
    assert re.fullmatch(r"first answer after \d+\.\d\d s\)", time)
    assert lines[1:] == [
        "  2  passed   must    writes answers in the official form",
        "  6  passed   must    writes each answer out at once",
        "  7  passed   must    answers before the next $ comes",
        "",
        "4 passed: 4 of 4 musts passed",
    ]


def test_a_failed_check_prints_what_happened_and_what_to_do(check):
    done = check("--only", "11", bot="KeepsCarriageReturn")
    assert done.returncode == 1
    hint = [line.split(maxsplit=1) for line in done.stdout.splitlines()[2:7]]
    assert [label for label, _ in hint] == ["sent", "expected", "got", "do", "rule"]
    texts = dict(hint)
    assert texts["sent"].startswith("two puzzles with CRLF line ends: '$1\\r\\n")
    assert texts["expected"] == "the right answers to $1, $2"
    assert texts["rule"] == "docs/protocol.md, What the question reader forgives"
    assert done.stdout.endswith("1 passed, 1 failed: not ready for a tournament; see check 11\n")


def test_skipped_checks_print_the_reason(check):
    done = check("--only", "7", "--timeout", "0.3", bot="Buffers")
    assert done.returncode == 1
    assert "answers before the next $ comes  (needs check 6, which did not pass)" in done.stdout
    assert done.stdout.endswith("1 passed, 1 failed, 1 skipped: not ready for a tournament; see check 6\n")
    done = check(bot="Greets")
    assert done.returncode == 1
    got = "no answer to $1; the bot exited with status 0; on stdout: 'usage: bot FILE\\n'"
    assert f"got       {got}" in done.stdout
    assert done.stdout.splitlines()[-3:] == [
        f"  2  skipped  up to check {len(STEPS)}  (needs check 1, which did not pass)",
        "",
        f"1 failed, {len(STEPS) - 1} skipped: not ready for a tournament; see check 1",
    ]


def test_verbose_prints_the_conversation_and_list_starts_no_bot(check):
    out = check("--only", "1", "--verbose").stdout
    assert re.search(r"\d\.\d{3} s  sent \d+ bytes: '\$1\\n.*, closed stdin\n", out)
    assert re.search(r"\d\.\d{3} s  got 63 bytes: '\$1\\n[01]\\t", out)
    done = check("--list")
    assert done.returncode == 0
    for number, step in enumerate(STEPS, 1):
        assert f"{number:3}  {step.level:<6}  {step.title}\n             {step.why}" in done.stdout


def test_json_goes_to_stdout_text_to_stderr_and_a_warning_exits_with_0(check):
    done = check("--only", "19", "--json", bot="NoMark")
    assert done.returncode == 0
    assert " 19  warning  should  reads over a byte order mark" in done.stderr
    assert done.stderr.endswith("1 passed, 1 warning: 1 of 1 must passed\n")
    result = json.loads(done.stdout)
    assert (result["kind"], result["conforms"], result["size"]) == ("check", True, list(SIZE))
    first, second = result["checks"]
    assert (first["name"], first["verdict"]) == ("one_puzzle", "passed")
    assert (second["name"], second["verdict"], second["level"]) == ("byte_order_mark", "warning", "should")
    assert second["advice"] == "drop the bytes EF BB BF at the start"
    assert "advice" not in first


PRESSES_CTRL_C = """
import os, signal, subprocess, sys
import psutil
from nonobot.harness.__main__ import main
from nonobot.harness.process.bot_process import BotProcess

moment, _, after = sys.argv.pop(1).partition(" ")
owner = subprocess.Popen if moment == "_execute_child" else BotProcess
carried_out = getattr(owner, moment)

def pressed(*arguments):
    if after:
        carried_out(*arguments)
    print(*(child.pid for child in psutil.Process().children()), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
    if not after:
        carried_out(*arguments)

setattr(owner, moment, pressed)
sys.exit(main())
"""


@pytest.mark.parametrize("moment", ["_execute_child after", "_serve", "_serve after", "read", "_kill"])
def test_ctrl_c_while_the_bot_starts_answers_or_exits_ends_the_bot(moment):
    sleeper = ["--timeout", "0.1", "--start-timeout", "0.1", "--only", "1", "--", "sleep", "1000"]
    command = [sys.executable, "-c", PRESSES_CTRL_C, moment, "check", "--contain", "no", *sleeper]
    done = subprocess.run(command, capture_output=True)
    bot, *_ = map(int, done.stdout.split())
    assert (done.returncode, done.stderr) == (130, b"nonojudge: interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.kill(bot, 0)


def test_check_results_are_coloured_on_a_terminal():
    arguments = [*COMMAND, "--only", "11", "--", *command("KeepsCarriageReturn")]
    judge = [sys.executable, "-m", "nonobot.harness", *arguments]
    with Terminal(judge, columns=120) as terminal:
        shown = terminal.end()[1]
    assert f"step 11 of {len(STEPS)}: reads CRLF line ends" in shown
    assert "\x1b[32mpassed\x1b[0m" in shown
    assert "\x1b[1;31mfailed\x1b[0m" in shown
