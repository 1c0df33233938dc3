"""The one import name: what an author's files are called is the author's business."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata

import pytest

from tests.talking import COMMAND, PATIENCE_SECONDS

pytestmark = pytest.mark.usefixtures("compiled")

ROOMS = ("bot", "protocol", "harness", "tournament_data")

QUESTION = b"$1\n2\n\n\n1\n1\n\n"


@pytest.fixture
def authors_folder(tmp_path):
    """Return a folder with an author's own modules, which end whatever imports them."""
    for room in ROOMS:
        (tmp_path / f"{room}.py").write_text("raise SystemExit('an author\\'s module was imported')\n")
    return tmp_path


def run(folder, *command, **variables):
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | variables,
        input=QUESTION,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )


@pytest.mark.parametrize("path", ["", "."])
def test_the_bot_is_ours_beside_an_authors_modules(authors_folder, path):
    done = run(authors_folder, *COMMAND, "--size", "3x3", PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (0, b"$1\n1\t0\t0\n1\t0\t0\n0\t0\t0\n"), done.stderr


@pytest.mark.parametrize("path", ["", "."])
def test_the_judge_and_the_bot_that_it_starts_are_ours_beside_an_authors_modules(authors_folder, path):
    judge = [sys.executable, "-m", "nonobot.harness", "run", "--set", "boardgen:5x5x2:seed=1"]
    done = run(authors_folder, *judge, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert b"2 of 2" in done.stdout


def test_the_bot_that_the_judge_starts_is_no_nonobot_of_the_working_folder(authors_folder):
    (authors_folder / "nonobot.py").write_text("raise SystemExit('an author\\'s module was imported')\n")
    judge = [sys.executable, "-P", "-m", "nonobot.harness", "run", "--set", "boardgen:5x5x2:seed=1"]
    done = run(authors_folder, *judge)
    assert done.returncode == 0, done.stderr


def test_one_name_is_installed():
    names = (metadata.distribution("nonobot").read_text("top_level.txt") or "").split()
    assert names == ["nonobot"]
