"""Files that remain after commands: those that docs/troubleshooting.md lists, and no others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.places import REPOSITORY
from tests.helpers.plain import IS_PLAIN
from tests.helpers.talking import PATIENCE_SECONDS

PAGE = REPOSITORY / "docs" / "troubleshooting.md"
JUDGE = [sys.executable, "-P", "-m", "nonobot.harness"]
SET = "boardgen:5x5x2:seed=1"
BOT = [sys.executable, "-P", "-m", "nonobot", "--size", "5x5", "--strategy", "papers"]  # compiled fastest


def left_in(folder: Path) -> set[str]:
    """Return where files are below a folder: their names, or those of the first two folders on the way."""
    return {"/".join(path.relative_to(folder).parts[:2]) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.skipif(IS_PLAIN, reason="compiles")
def test_every_file_that_commands_leave_is_listed_in_the_documentation(tmp_path):
    home, temporary, here = (tmp_path / name for name in ("home", "temporary", "here"))
    for folder in (home, temporary, here):
        folder.mkdir()
    own = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary), "TERM": "dumb"}
    for arguments in (
        ["run", "--set", SET, "--result", "results/one.json", "--", *BOT],
        ["table", "results"],
        ["report", "results", "-o", "report.html"],
    ):
        done = subprocess.run(
            [*JUDGE, *arguments], cwd=here, env=own, capture_output=True, timeout=PATIENCE_SECONDS
        )
        assert done.returncode == 0, done.stderr
    assert left_in(here) == {"results/one.json", "report.html"}
    assert left_in(temporary) == set()
    assert left_in(home) == {".cache/nonobot", ".cache/matplotlib"}
    assert {path.name for path in (home / ".cache/nonobot").iterdir()} == {"kernels"}
    listed = PAGE.read_text(encoding="utf-8").partition("## Files that remain")[2]
    for name in ("results/", "$HOME/.cache}/nonobot", "`kernels/`", "`~/.cache/matplotlib`"):
        assert name in listed
