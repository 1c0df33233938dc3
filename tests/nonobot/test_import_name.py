"""The one import name: what an author's files are called is the author's business."""

import importlib
import os
import shutil
import subprocess
import sys
from importlib import metadata

import pytest

from nonobot.protocol.clues import needed_length
from tests.helpers.places import REPOSITORY
from tests.helpers.talking import CAPTURED, COMMAND

pytestmark = pytest.mark.usefixtures("compiled")

PACKAGES = ("bot", "protocol", "harness", "tournament_data")

QUESTION = b"$1\n2\n\n\n1\n1\n\n"
AUTHORS = "raise SystemExit('an author\\'s module was imported')\n"


@pytest.fixture
def authors_folder(tmp_path):
    """Return a folder with an author's own modules, which end whatever imports them."""
    for package in PACKAGES:
        (tmp_path / f"{package}.py").write_text(AUTHORS)
    return tmp_path


def run(folder, *command, **variables):
    environment = os.environ | variables
    return subprocess.run(command, cwd=folder, env=environment, input=QUESTION, **CAPTURED)


@pytest.mark.parametrize("path", ["", "."])
def test_nonobot_runs_despite_modules_of_the_same_names_in_an_authors_folder(authors_folder, path):
    done = run(authors_folder, *COMMAND, "--size", "3x3", PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (0, b"$1\n1\t0\t0\n1\t0\t0\n0\t0\t0\n"), done.stderr


@pytest.mark.parametrize(("path", "options"), [("", ()), (".", ()), ("", ("-P",))])
def test_judge_and_bot_run_despite_an_authors_modules_of_the_same_names(authors_folder, path, options):
    if options:  # the judge does not look into the working folder, and the bot that it starts is not to either
        (authors_folder / "nonobot.py").write_text(AUTHORS)
    judge = [sys.executable, *options, "-m", "nonobot.harness", "run", "--set", "boardgen:5x5x2:seed=1"]
    done = run(authors_folder, *judge, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert b"2 of 2" in done.stdout


def test_nonobot_is_the_only_installed_top_level_module():
    names = (metadata.distribution("nonobot").read_text("top_level.txt") or "").split()
    assert names == ["nonobot"]
    for package in PACKAGES:  # code has the name of its file, and not of the link
        assert importlib.import_module(f"nonobot.{package}").__file__ == str(REPOSITORY / package / "__init__.py")


def test_an_installed_package_adds_no_finder_of_modules(tmp_path):
    shutil.copytree(REPOSITORY / "nonobot", tmp_path / "nonobot", ignore=shutil.ignore_patterns("__pycache__"))
    code = "import sys; old = [*sys.meta_path]; import nonobot.bot as bot; assert sys.meta_path == old; print(bot)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, **CAPTURED)
    assert str(tmp_path / "nonobot/bot/__init__.py") in done.stdout, done.stderr


# A clone, where the packages are links to the top-level folders: debuggers and coverage identify code by its file

LINE = needed_length.__code__.co_firstlineno + 2


def test_a_breakpoint_set_in_pdb_fires(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from nonobot.protocol.clues import needed_length\nprint(needed_length((1, 2)))\n")
    pdb = [sys.executable, "-m", "pdb", "-c", f"b protocol/clues.py:{LINE}", "-c", "c", "-c", "p clue", "-c", "q"]
    done = subprocess.run([*pdb, script], cwd=REPOSITORY, text=True, **CAPTURED)
    assert "(1, 2)" in done.stdout.splitlines(), done


SAMPLE = REPOSITORY / "docs/samples/robot.non"
JUDGE = "from nonobot.harness import cli; cli.run({})"


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import nonobot, nonobot.__main__", "typing numpy numba llvmlite argparse"),
        ("from nonobot.bot.cli import parse; parse([])", "shutil numpy numba llvmlite"),
        ("import nonobot; nonobot.Puzzle", "numba llvmlite argparse"),
        ("import nonobot.protocol", "nonobot.protocol.formats"),
        ("from nonobot.protocol import formats; formats.detect_prefix(b'$')", "pyexpat html"),
        ("from nonobot.protocol import formats; list(formats.read(b'1-1'))", "pyexpat"),
        (JUDGE.format(["--help"]), "nonobot.bot rich numba numpy"),
        (JUDGE.format(["run", "--help"]), "nonobot.bot rich numba numpy matplotlib logging"),
        (JUDGE.format(["tournament", "--help"]), "nonobot.bot rich numba numpy asyncio multiprocessing"),
        (JUDGE.format(["profile", "--help"]), "nonobot.bot rich numba numpy matplotlib"),
        (JUDGE.format(["bisect", "--help"]), "nonobot.bot rich numba numpy"),
        (JUDGE.format(["data", "list"]), "pooch requests rich"),
        (JUDGE.format(["convert", str(SAMPLE), "-", "--to", "non"]), "PIL numpy"),
        (JUDGE.format(["render", "--help"]), "PIL rich"),
        (JUDGE.format(["report", "--help"]), "matplotlib jinja2 rich"),
    ],
)
def test_unneeded_modules_are_not_imported(code, unwanted):
    program = f"import sys; before = set(sys.modules); {code}; print(*set(sys.modules) - before, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stderr.splitlines()[-1].split()
    assert "nonobot" in loaded
    packages = {name for name in unwanted.split() for module in loaded if f"{module}.".startswith(f"{name}.")}
    assert packages == set()
