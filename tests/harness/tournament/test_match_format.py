"""A match: four bots, four sets, a broken and an unsolvable puzzle, and a judge that is killed."""

import itertools
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nonobot.harness import cli
from nonobot.harness.results.result_files import read_result
from nonobot.harness.results.run_result import Verdict
from nonobot.protocol import Puzzle, format_answer, format_puzzle
from nonobot.tournament_data import Recipe
from tests.helpers.judged import so_far
from tests.helpers.places import quoted, unfilled
from tests.helpers.sandboxes import sandbox_only
from tests.helpers.terminals import Terminal
from tests.helpers.waiting import finished, running, wait_until

pytestmark = pytest.mark.usefixtures("own_folder", "short_look")

BOTS = ("alice", "bob", "carol", "dave")
BOARDS = {name: list(Recipe(5, 5, 5, seed=seed, p1=0.6).boards()) for seed, name in enumerate(BOTS)}
UNSOLVABLE = Puzzle(columns=((2,), (), (), (), (2,)), rows=((2,), (2,), (), (), ()))
"""No line can say so: each has room for its blocks, and rows and columns count four black cells."""

CRASHING = """\
import os, sys, time
answers = open(sys.argv[1]).read().split("$")[1:]
lines = sys.stdin.read()
sys.stdout.write("$" + answers[0] + "$" + answers[1])
sys.stdout.flush()
parent = os.getppid()
while not os.path.exists(sys.argv[2]) and os.getppid() == parent:
    time.sleep(0.01)
sys.exit("out of ideas")
"""
"""It answers $1 and $2 of dave's opponent alice, and crashes at a sign, or when the judge is gone."""


def question_file(name: str) -> bytes:
    texts = [format_puzzle(number, puzzle) for number, (puzzle, _) in enumerate(BOARDS[name], 1)]
    if name == "bob":
        texts[2] = texts[2].replace(b"\n", b"\nx", 1)
    if name == "carol":
        texts[1] = format_puzzle(2, UNSOLVABLE)
    return b"".join(texts)


def match(folder: Path, contain: str = "no", bot: str | None = None) -> Path:
    """Write the match; return its definition. All play as one `bot` plays, if that is named."""
    for name, boards in BOARDS.items():
        (folder / f"{name}.txt").write_bytes(question_file(name))
        answers = [format_answer(number, solution) for number, (_, solution) in enumerate(boards, 1)]
        (folder / f"{name}-solved.txt").write_bytes(b"".join(answers))
    (folder / "crash.py").write_text(CRASHING)
    files = " ".join(quoted(unfilled(folder / name)) for name in ("crash.py", "alice-solved.txt", "go"))
    commands = {
        "alice": "{python} -P -m nonobot --size {size} --strategy champion",
        "bob": "{python} -P -m nonobot --size {size} --strategy papers",
        "carol": "{python} -P -m nonobot.harness.opponents.csp --size {size}",
        "dave": f"{{python}} -S {files}",
    }
    text = f'name = "m"\nformat = "match"\ncontain = "{contain}"\npuzzles-each = 5\nsize = "5x5"\n'
    text += "[limits]\nstall = 0\n"
    for name in commands:
        command = commands[bot or name]
        text += f'[[bots]]\nname = "{name}"\ncommand = {json.dumps(command)}\npuzzles = "{name}.txt"\n'
    text += 'setter-solutions = "dave-solved.txt"\n'
    (folder / "m.toml").write_text(text)
    return folder / "m.toml"


def solved_by_counting(folder: Path) -> dict[tuple[str, str], int]:
    """Return how many puzzles of a setter each bot solved, from nothing but the text of the result files."""
    solved = {}
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text())
        right = [puzzle for puzzle in result["score"]["puzzles"] if puzzle["verdict"] == "right"]
        solved[result["bot"], result["set"]["setter"]] = len(right) + 5 - len(result["score"]["puzzles"])
    return solved


BY_HAND = {
    **dict.fromkeys(itertools.permutations(BOTS[:3], 2), (1, 5, 5)),
    ("alice", "dave"): (2, 5, 2),  # dave answers $1 and $2 of alice
    ("bob", "dave"): (2, 5, 1),  # $3 is broken
    ("carol", "dave"): (2, 5, 1),  # $2 has no solution
    ("dave", "alice"): (0, 2, 5),
    ("dave", "bob"): (0, 1, 5),
    ("dave", "carol"): (0, 1, 5),
}
"""Points, solved and conceded in each pairing."""

TOTALS = {"alice": (4, 15), "bob": (4, 15), "carol": (4, 15), "dave": (0, 4)}


@pytest.mark.usefixtures("compiled")
def test_a_match_with_a_killed_judge_has_the_same_result(tmp_path, output_of):
    path = match(tmp_path)
    results = tmp_path / "results/m"
    journal = results / "alice.txt--dave.journal.jsonl"
    command = [sys.executable, "-m", "nonobot.harness", "tournament", str(path)]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as judge:
        wait_until(lambda: b'"number":2' in so_far(journal), judge)
        judge.kill()
        finished(judge)
        assert judge.returncode == -signal.SIGKILL
    before = {result.name: result.read_bytes() for result in results.glob("*.json")}
    assert sorted(before) == ["alice.txt--bob.json", "alice.txt--carol.json"]
    (tmp_path / "go").touch()

    out, err = output_of(cli.run, ["tournament", str(path)])
    assert {name: (results / name).read_bytes() for name in before} == before
    assert err.count("played before") == 2
    resumed = read_result(journal.with_name("alice.txt--dave.json"))
    assert (len(resumed.attempts), resumed.score.verdicts[Verdict.RIGHT]) == (2, 2)
    void = "1 void puzzle: no bot plays it, and it counts as solved by every opponent; press Ctrl-C to replace it"
    assert f"bob: bob.txt: {void}\n  $3: line" in err
    assert f"carol: carol.txt: {void}\n  $2: no" in err

    solved = solved_by_counting(results)
    assert solved == {pair: figures[1] for pair, figures in BY_HAND.items()}
    sections = json.loads(output_of(cli.run, ["table", str(results), "--format", "json"]).out)["sections"]
    [section] = [section for section in sections if section["scope"] == "match"]
    assert {row["bot"]: (row["points"], row["solved"]) for row in section["rows"]} == TOTALS
    pairings = {
        (row["bot"], pairing["opponent"]): (pairing["points"], pairing["solved"], pairing["conceded"])
        for row in section["rows"]
        for pairing in row["pairings"]
    }
    assert pairings == BY_HAND
    times = [row["time_seconds"] for row in section["rows"]]
    assert [row["rank"] for row in section["rows"]] == [1, 2, 3, 4]
    assert times[:3] == sorted(times[:3])

    order = [row["bot"] for row in section["rows"]]
    cell_of = {pair: f"{points} ({own}:{its})" for pair, (points, own, its) in BY_HAND.items()}
    for bot in order:
        cells = [cell_of[bot, other] for other in order if other != bot]
        line = rf"^\d  {bot} .* {TOTALS[bot][0]} +{TOTALS[bot][1]} +" + " +".join(map(re.escape, cells))
        assert re.search(line, out, re.MULTILINE)
    assert output_of(cli.run, ["report", str(results), "-o", "report.html"]).out == "report: report.html\n"
    page = Path("report.html").read_text()
    match_part = page[page.index('<section id="match">') : page.index('<section id="set-1">')]
    rows = re.findall(r"<tr.*?</tr>", match_part, re.DOTALL)[1:]
    for bot, row in zip(order, rows, strict=True):
        texts = [re.sub("<[^>]*>", "", cell).strip() for cell in re.findall("<td.*?</td>", row)]
        shown = [cell_of.get((bot, other), "") for other in order]
        assert texts[1:7] == [str(TOTALS[bot][0]), str(TOTALS[bot][1]), *shown]


@pytest.mark.usefixtures("compiled")
def test_a_terminal_shows_void_puzzles_before_the_first_run_of_a_match(tmp_path):
    command = [sys.executable, "-m", "nonobot.harness", "tournament", str(match(tmp_path))]
    with Terminal(command, errors_too=True) as terminal:
        terminal.wait_for("press Ctrl-C to replace it", "[1/12]", "[3/12]")  # the third waits for its sign
        terminal.process.send_signal(signal.SIGINT)
        status, shown, _ = terminal.end()
    assert status == 130
    assert "interrupted; the same command resumes" in shown
    between = shown[shown.index("press Ctrl-C") : shown.index("[1/12]")]
    assert "starts in" not in between


def test_replaced_puzzles_are_refused_until_all_play_again_and_old_results_are_kept(tmp_path, output_of):
    path = match(tmp_path, bot="dave")
    (tmp_path / "go").touch()
    output_of(cli.run, ["tournament", str(path), "--quiet"])
    (tmp_path / "bob.txt").write_bytes(question_file("bob").replace(b"\nx", b"\n"))
    err = output_of(cli.run, ["tournament", str(path), "--quiet"], status=2).err
    said = r"played under other conditions: set bob\.txt \(4 of 5x5, 1 void, .*\), now bob\.txt \(5 of 5x5, sha"
    assert re.search(said, err)
    assert len(err.splitlines()) == 1
    output_of(cli.run, ["tournament", str(path), "--quiet", "--again"])
    results = tmp_path / "results/m"
    assert len([*results.glob("*.json")]) == len([*results.glob("*.json.before-1")]) == 12
    assert solved_by_counting(results)["dave", "bob"] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_workers_play_a_match(tmp_path, output_of):
    path = match(tmp_path)
    (tmp_path / "go").touch()
    output_of(cli.run, ["tournament", str(path), "--quiet", "--on", "local"])
    assert solved_by_counting(tmp_path / "results/m") == {pair: figures[1] for pair, figures in BY_HAND.items()}


SPY = """\
import sys
for path in sys.argv[1:]:
    try:
        print(path, len(open("/" + path).read()), file=sys.stderr)
    except OSError as error:
        print(path, type(error).__name__, file=sys.stderr)
"""
"""It tries to read files, whose names it gets without the first slash: the judge shows what a command names."""


@sandbox_only
def test_a_bot_cannot_find_the_puzzles_and_solutions_of_a_match(tmp_path, output_of):
    entries = {name: tmp_path / "entries" / name for name in ("spy", "other")}
    text = 'name = "m"\nformat = "match"\ncontain = "yes"\npuzzles-each = 5\nsize = "5x5"\n'
    for (name, folder), setter in zip(entries.items(), ("alice", "dave"), strict=True):
        folder.mkdir(parents=True)
        match(folder)
        (folder / "spy.py").write_text(SPY)
        wanted = [path / file for path in entries.values() for file in ("alice.txt", "dave-solved.txt", "spy.py")]
        command = ["{python}", "-S", unfilled(folder / "spy.py"), *(unfilled(path)[1:] for path in wanted)]
        text += f'[[bots]]\nname = "{name}"\ncommand = {json.dumps(command)}\n'
        text += f'puzzles = "{folder}/{setter}.txt"\nsetter-solutions = "{folder}/{setter}-solved.txt"\n'
    Path("m.toml").write_text(text)
    output_of(cli.run, ["tournament", "m.toml"])
    [seen] = Path("results/m").glob("*--spy.stderr.txt")
    found = dict(line[len(str(tmp_path)) :].rsplit(" ", 1) for line in seen.read_text().splitlines())
    assert found == {
        "entries/spy/alice.txt": "PermissionError",
        "entries/spy/dave-solved.txt": str(len((entries["spy"] / "dave-solved.txt").read_text())),
        "entries/spy/spy.py": str(len(SPY)),
        "entries/other/alice.txt": "FileNotFoundError",
        "entries/other/dave-solved.txt": "FileNotFoundError",
        "entries/other/spy.py": "FileNotFoundError",
    }
