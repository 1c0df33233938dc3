"""Claims: what stands in the file, running their commands, and what becomes of each."""

import json
import shlex
import sys

import pytest

from nonobot.harness import cli
from nonobot.harness.bench.catalogue import BENCHMARKS, chosen
from nonobot.harness.bench.claims import read_claims
from nonobot.harness.commands import claims
from nonobot.tournament_data.registry import official_sets
from tests.helpers.benching import carry_out
from tests.helpers.places import REPOSITORY

OURS = read_claims()


def as_words(text):
    """Return a text as words alone, so that line ends and emphasis do not count."""
    return " ".join(text.replace("`", "").replace("**", "").split())


@pytest.mark.parametrize("claim", OURS, ids=lambda claim: claim.id)
def test_every_claim_is_documented_and_its_command_exists(claim):
    page = as_words((REPOSITORY / "docs" / "claims.md").read_text(encoding="utf-8"))
    assert as_words(claim.sentence) in page
    assert as_words(claim.command) in page
    program, command, *others = shlex.split(claim.command)
    assert program == "nonojudge"
    assert set(claim.sets) <= set(official_sets())
    assert {word for word in others if word in official_sets()} == set(claim.sets)
    if command == "bench":
        names = [word for word in others if not word.startswith("--")]
        assert [benchmark.name for benchmark in chosen(names)] == [name for name in BENCHMARKS if name in names]
        figures = [claim.figure, *([claim.over] if claim.over else [])]
        assert sorted(figures) == sorted(f"benchmarks.{name}.least_seconds" for name in names)


# The machinery, with commands that say what they are told


def printing(text, status=0):
    code = f"import sys; print({text!r}); sys.exit({status})"
    return shlex.join([sys.executable, "-c", code])


def claim_file(folder, *given):
    """Write a file of claims, each given as what differs from a plain one."""
    lines = []
    for number, changes in enumerate(given):
        plain = {"id": f"p{number}", "sentence": "It is so.", "command": printing("{}"), "figure": "a"}
        claim = {**plain, "is": "==", "bound": 1, **changes}
        lines += ["[[claim]]", *(f"{key} = {json.dumps(value)}" for key, value in claim.items())]
    file = folder / "claims.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def shown(capsys, file, *arguments):
    """Return the exit status, and of each claim its outcome, the figure and the reason."""
    status = carry_out(claims, "--json", "--file", file, *arguments)
    printed = json.loads(capsys.readouterr().out)["claims"]
    return status, [(claim["outcome"], claim["measured"], claim["reason"]) for claim in printed]


def test_figures_are_found_in_what_a_command_prints(tmp_path, capsys):
    printed = printing('{"runs": [{"cpu": 30, "peak": 5e8}], "solved.x": 1}', 1)  # its status does not count
    file = claim_file(
        tmp_path,
        {"command": printed, "figure": "runs.0.cpu", "is": "<=", "bound": 30},
        {"command": printed, "figure": "runs.0.peak", "is": ">=", "bound": 501, "divisor": 1e6},
        {"command": printed, "figure": "runs.0.peak", "over": "runs.0.cpu", "is": "==", "bound": 5e8 / 30},
        {"command": printed, "figure": "runs.0.cpu", "is": ">=", "bound": 30},
    )
    outcomes = [("holds", 30, None), ("does not hold", 500, None), ("holds", 5e8 / 30, None), ("holds", 30, None)]
    assert shown(capsys, file) == (1, outcomes)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"command": printing("no JSON", 3)}, "the command ended with status 3: it prints no JSON"),
        ({"command": shlex.join([sys.executable, "-c", "print(1 / 0)"])}, "ZeroDivisionError: division by zero"),
        ({"command": "/nowhere/program"}, "/nowhere/program cannot be run: No such file"),
        ({"command": printing('{"b": 1}')}, "the command prints no a"),
        ({"command": printing('{"a": [1]}'), "figure": "a.1"}, "the command prints no a.1"),
        ({"command": printing('{"a": [1]}'), "figure": "a.x"}, "the command prints no a.x"),
        ({"command": printing('{"a": true}')}, "a is not a number"),
        ({"command": printing('{"a": 1}'), "figure": "a.b"}, "the command prints no a.b"),
        ({"command": printing('{"a": 1, "b": 0}'), "over": "b"}, "b is 0"),
    ],
)
def test_a_claim_whose_command_prints_no_figure_is_not_measured(tmp_path, capsys, given, reason):
    status, [(outcome, measured, why)] = shown(capsys, claim_file(tmp_path, given))
    assert (status, outcome, measured) == (1, "not measured", None)
    assert reason in why


def test_claims_with_the_same_command_run_it_once_in_an_empty_folder(tmp_path, capsys, own_folder):
    code = f"open('left', 'w'); open({str(tmp_path / 'times')!r}, 'a').write('x'); print('{{\"a\": 1}}')"
    command = shlex.join([sys.executable, "-c", code])
    file = claim_file(tmp_path, {"command": command}, {"command": command})
    assert shown(capsys, file)[0] == 0
    assert (tmp_path / "times").read_text() == "x"
    assert {path.name for path in tmp_path.iterdir()} == {file.name, "times"}


def test_a_claim_without_its_official_set_is_skipped_with_a_note(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("NONOBOT_DATA", str(tmp_path / "empty"))
    monkeypatch.delenv("NONOBOT_SETS", raising=False)
    status, [(outcome, _, reason)] = shown(capsys, claim_file(tmp_path, {"sets": ["taai2011"]}))
    assert (status, outcome) == (0, "skipped")
    assert "taai2011 is not here: `nonojudge data fetch taai2011`, or name a folder" in reason
    (tmp_path / "taai2011.txt").write_text("$1\n")  # not the official file
    monkeypatch.setenv("NONOBOT_SETS", str(tmp_path))
    assert shown(capsys, claim_file(tmp_path, {"sets": ["taai2011"]}))[1][0][0] == "skipped"


def test_official_sets_are_found_where_the_tests_have_them(official_sets, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("NONOBOT_DATA", str(tmp_path / "empty"))
    name = official_sets[0].stem
    code = f"from nonobot.tournament_data import load_set; print('[%d]' % len(load_set({name!r}).puzzles))"
    command = shlex.join([sys.executable, "-c", code])
    file = claim_file(tmp_path, {"command": command, "figure": "0", "bound": 1000, "sets": [name]})
    assert shown(capsys, file) == (0, [("holds", 1000, None)])


def test_claims_run_the_judge_of_this_checkout(compiled, tmp_path, capsys):
    command = "nonojudge run --set boardgen:5x5x3:seed=1 --core any --quiet --json"
    file = claim_file(tmp_path, {"command": command, "figure": "score.verdicts.right", "bound": 3})
    assert shown(capsys, file) == (0, [("holds", 3, None)])


def test_claims_can_be_selected_or_listed(tmp_path, capsys, output_of):
    file = claim_file(tmp_path, {"command": printing('{"a": 1}')}, {"seconds": 31})
    assert shown(capsys, file, "--quick") == (0, [("holds", 1, None)])
    assert shown(capsys, file, "--only", "p0") == (0, [("holds", 1, None)])
    assert len(shown(capsys, file)[1]) == 2
    assert OURS[0].sentence in output_of(cli.run, ["claims", "--list"]).out


def test_claims_are_printed_as_a_readable_table(tmp_path, output_of, monkeypatch):
    monkeypatch.delenv("NONOBOT_SETS", raising=False)
    monkeypatch.setenv("NONOBOT_DATA", "/nowhere")
    bracketed = printing('{"[a]": 2.5}')
    file = claim_file(
        tmp_path,
        {"command": printing('{"a": 2.5}'), "is": "<=", "bound": 1000, "unit": "s"},
        {"command": bracketed, "figure": "[a]", "is": ">=", "bound": 3, "sentence": "It is [thrice]."},
        {"sets": ["taai2011"]},
    )
    lines = output_of(carry_out, claims, "--file", file, status=1).out.splitlines()
    assert lines[1].split() == ["p0", "at", "most", "1,000", "s", "2.5", "s", "holds"]
    assert lines[2].split() == ["p1", "at", "least", "3", "2.5", "does", "not", "hold"]
    assert lines[3].split() == ["p2", "exactly", "1", "skipped"]
    assert "p1: It is [thrice]." in lines
    assert '"[a]"' in "".join(lines), "brackets in a command are no styles"
    assert lines[-1] == "3 claims: 1 holds, 1 does not hold, 1 skipped"
    listed = output_of(carry_out, claims, "--file", file, "--list").out
    assert "  at most 1,000 s; about 10 s\n" in listed
    assert "needs taai2011" in listed
