"""The environment of a bot: the same from every shell, except the variables that the user gives."""

import json
import os
import sys
from pathlib import Path

import pytest

from nonobot.harness import cli
from nonobot.harness.results.result_files import read_result
from tests.helpers.judged import program
from tests.helpers.places import DOUBLES

SAYS_ALL = "import json, os, sys; print(json.dumps(dict(os.environ)), file=sys.stderr)"


def environment_of(monkeypatch, contain, *options, bot=(sys.executable, "-S", "-c", SAYS_ALL)):
    """Return the environment that a bot finds, in which nothing depends on the judge's shell, and the result."""
    for name in ("PYTHONUNBUFFERED", "LC_ALL", "SECRET_TOKEN", "OMP_NUM_THREADS", "NONOBOT_SETS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("HOME", str(Path.cwd()))
    run = ["run", "--quiet", "--set", "boardgen:5x5x1:seed=3", "--result", "result.json", "--force"]
    cli.run([*run, "--contain", contain, *options, "--", *bot])
    found = json.loads(Path("result.stderr.txt").read_text())
    return {name: value for name, value in found.items() if name != "PWD"}, read_result(Path("result.json"))


@pytest.mark.usefixtures("own_folder")
def test_the_judge_makes_the_environment_and_lists_it(monkeypatch, contain):
    made, result = environment_of(monkeypatch, contain)
    assert len(made.pop("NONOBOT_RUN")) == 32
    assert made == result.environment
    assert sorted(made) == ["HOME", "LANG", "NONOBOT_CACHE_DIR", "PATH", "TMPDIR"]
    assert made["LANG"] == "C.UTF-8"
    assert (made["HOME"] == "/tmp") == (contain == "yes")
    options = ("--env", "A=b=c", "--env", "LANG=C.utf8", "--env", "PATH=/none")
    more, result = environment_of(monkeypatch, contain, *options)
    given = {"A": "b=c", "LANG": "C.utf8", "PATH": "/none"}
    assert more | {"NONOBOT_RUN": ""} == made | given | {"NONOBOT_RUN": ""}
    assert result.environment == {name: value for name, value in made.items() if name not in given}
    assert sorted(result.configuration.environment_digests) == sorted(given)


@pytest.mark.usefixtures("own_folder")
def test_only_programs_named_in_the_command_are_found_on_the_judges_path(tmp_path, monkeypatch, contain):
    for path, line in (("venv/bin/mypython", 'exec sh "$@"'), ("tools/helper", ""), ("bot", "")):
        says = 'printf \'{"PATH": "%s", "helper": "%s"}\' "$PATH" "$(command -v helper)" >&2'
        first = "#!/usr/bin/env mypython" if path == "bot" else "#!/bin/sh"
        program(tmp_path / path, f"{first}\n{line or says}\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:{tmp_path}/venv/bin:{os.environ['PATH']}")
    for bot in (["./bot"], ["mypython", "bot"], ["env", "mypython", "bot"], ["sh", "-c", "mypython bot"]):
        made, _ = environment_of(monkeypatch, contain, "--show", "venv", bot=bot)
        assert made["PATH"].split(":")[0] == f"{tmp_path}/venv/bin"
        assert made["helper"] == ""
    made, _ = environment_of(monkeypatch, "no", "--env", f"PATH={os.environ['PATH']}", bot=["./bot"])
    assert made["helper"] == f"{tmp_path}/tools/helper"


@pytest.mark.usefixtures("own_folder")
def test_a_bot_that_never_flushes_scores_0_despite_pythonunbuffered(monkeypatch, capsys, output_of):
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    bot = ["--", sys.executable, "-S", str(DOUBLES / "check_bots.py")]
    bot += ["Buffers", "5", "6"]
    run = ["run", "--set", "boardgen:5x6x5:seed=3", "--feed", "interactive", "--stall-limit", "0.5"]
    assert "0 of 5 right; 5 missing" in output_of(cli.run, [*run, *bot], status=1).out
    assert cli.run(["check", "--size", "5x6", "--only", "6,7", "--timeout", "1", "--json", *bot]) == 1
    steps = {step["number"]: step["verdict"] for step in json.loads(capsys.readouterr().out)["checks"]}
    assert (steps[6], steps[7]) == ("failed", "skipped")  # which needs the other
    unbuffered_bot = ["--env", "PYTHONUNBUFFERED=1", *bot]
    assert cli.run(["check", "--size", "5x6", "--only", "6,7", *unbuffered_bot]) == 0
