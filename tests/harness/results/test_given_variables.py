"""Variables that the user gives to a bot: their values are in no file and no output, but a difference shows."""

import json
import os
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from nonobot.harness import cli
from nonobot.harness.play.journal import journal_path
from nonobot.harness.play.match import Bot, play
from nonobot.harness.process.nonobot_command import HOME
from nonobot.harness.results.comparability import MACHINE_AND_CONFIGURATION, differences
from nonobot.harness.results.conditions import Configuration, digest_of_variable
from nonobot.harness.results.result_files import json_text, read_result, storable
from tests.helpers.judged import RECIPE, SET, command, little_patience, verdicts  # noqa: F401
from tests.helpers.ranked import run_result, written
from tests.helpers.talking import interrupted, wait_until

pytestmark = pytest.mark.usefixtures("own_folder", "little_patience")

VALUE = "xyzzy-plugh"


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_no_value_is_in_a_result_a_journal_or_an_output(capsys):
    folder = Path("results")
    seen = []
    terms = Configuration(environment={"WORD": VALUE, "HOME": VALUE}, wall_limit_seconds=20.0)

    def look(_run):
        wait_until(lambda: b'"judged"' in journal_path(folder / "a.json").read_bytes())
        seen.append(contents(folder))

    bot = Bot("bot", command("perfect", Path.cwd()))
    result = play(SET, bot, terms, folder / "a.json", look)
    written(folder, b=replace(result, configuration=replace(terms, environment={"WORD": "other"})))
    lines = ["table results", "table --format json results", "compare results/a.json results/b.json"]
    lines += ["report results", "run --resume results/a.json", f"run --set {RECIPE} --json --env WORD={VALUE}"]
    for line in lines:
        more = ["--", *command("perfect", Path.cwd())] if "--json" in line else []
        assert cli.run([*line.split(), *more]) in (0, 1, 2, 3)
    said = capsys.readouterr()
    assert "environment" in said.out
    for content in (*seen, contents(Path.cwd())):
        assert not [path for path, text in content.items() if VALUE.encode() in text]
    assert VALUE not in said.out + said.err
    shown = {"PATH", "TMPDIR", "LANG", "NONOBOT_CACHE_DIR"}
    if str(HOME) in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        shown.add("PYTHONPATH")
    assert read_result(folder / "a.json").environment.keys() == shown


def between(*terms):
    runs = [
        (str(number), replace(run_result(terms=configuration), environment={}))
        for number, configuration in enumerate(terms)
    ]
    return differences(runs, {"environment": MACHINE_AND_CONFIGURATION["environment"]})


def test_a_difference_shows_and_the_same_value_is_none():
    original, same, other, none = (
        Configuration(environment=given) for given in ({"A": "1"}, {"A": "1"}, {"A": "2"}, {})
    )
    kept = replace(original, environment=UNSET, environment_digests={"A": digest_of_variable("A", "1")})
    assert between(original, same, kept) == []
    first, second = (digest_of_variable("A", value) for value in "12")
    assert between(kept, other) == [f"not the same environment: A (digest {first}) (0); A (digest {second}) (1)"]
    assert between(kept, none) == [f"not the same environment: A (digest {first}) (0); A not set (1)"]
    assert digest_of_variable("B", "1") != first  # nobody sees that two variables have one value


def test_a_result_that_has_values_is_written_without_them():
    old = run_result(terms=Configuration(environment={"A": VALUE}), environment={"A": VALUE, "LANG": "C"})
    path = Path("edited.json")
    path.write_text(
        json.dumps(
            json.loads(json_text(run_result()))
            | {"configuration": {"environment": {"A": VALUE}}, "environment": {"A": VALUE, "LANG": "C"}}
        )
    )
    read = read_result(path)
    assert read.configuration.environment == {"A": VALUE}
    assert VALUE not in json_text(read) + str(storable(old)) + str(read.configuration.digests)
    assert json.loads(json_text(read))["environment"] == {"LANG": "C"}


# Interrupted runs

LINE = 'echo "$WORD" >&2; test -e go && cat solutions.txt || { touch here; exec sleep 900; }'


def test_an_interrupted_run_gets_its_variables_again_and_no_others(capsys):
    command("perfect", Path.cwd())
    options = ["--set", str(RECIPE), "--contain", "no"]
    bot, value = ["--", "sh", "-c", LINE], ["--env", f"WORD={VALUE}"]
    interrupted("run", *options, "--result", "r.json", *value, *bot, when=Path("here").exists)
    Path("go").touch()
    digest = digest_of_variable("WORD", VALUE)
    other = f"WORD (digest {digest_of_variable('WORD', 'x')})"
    for given, now in (((), "nothing added"), (("--env", "WORD=x"), other)):
        assert cli.run(["run", "--resume", "r.json", *options, *given, *bot]) == 2
        assert f"environment WORD (digest {digest}), now {now}" in capsys.readouterr().err
    assert cli.run(["run", "--resume", "r.json", *options, *value, *bot]) == 0
    assert Path("r.stderr.txt").read_text() == f"{VALUE}\n" * 2
    assert VALUE not in Path("r.json").read_text()
    assert verdicts(read_result(Path("r.json"))) == ["right"] * 5


def test_a_tournament_takes_them_from_its_file():
    command("perfect", Path.cwd())
    text = f'name = "t"\nsets = ["{RECIPE}"]\ncontain = "no"\n[[bots]]\nname = "a"\n'
    text += f"command = {json.dumps(['sh', '-c', LINE])}\nenvironment = {{WORD = '%s'}}\n"
    Path("t.toml").write_text(text % VALUE)
    interrupted("tournament", "t.toml", when=Path("here").exists)
    Path("go").touch()
    Path("t.toml").write_text(text % "another")
    assert cli.run(["tournament", "t.toml"]) == 2
    Path("t.toml").write_text(text % VALUE)
    assert cli.run(["tournament", "t.toml"]) == 0
    [stderr] = Path("results/t").glob("*.stderr.txt")
    assert stderr.read_text() == f"{VALUE}\n" * 2
    stderr.unlink()  # what the bot itself writes is its own affair
    assert not [path for path, text in contents(Path("results")).items() if VALUE.encode() in text]
