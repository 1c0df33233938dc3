"""What differs on macOS, tried on Linux under the name of the other system (see docs/compatibility.md)."""

import subprocess
import sys
from pathlib import Path

import pytest

from nonobot.harness import UnusableError
from nonobot.harness.process.machine import on_cores, require_cores, tournament_core
from nonobot.harness.results.result_files import read_result
from nonobot.system import usable_cores, user_cache
from tests.helpers.judged import RECIPE, command
from tests.helpers.waiting import PATIENCE_SECONDS

JUDGE = """
import os, sys, psutil, subprocess, multiprocessing.connection, selectors, tempfile, shutil, signal, platform
del os.sched_getaffinity, os.sched_setaffinity
sys.platform = "darwin"
from nonobot.harness import cli
sys.exit(cli.run(sys.argv[1:]))
"""


def test_on_macos_the_cache_folder_differs_and_bots_are_not_pinned(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delattr("os.sched_getaffinity")
    assert user_cache() == Path.home() / "Library" / "Caches" / "nonobot"
    assert usable_cores()[0] == 0
    assert tournament_core() is None
    with on_cores([0]):
        pass
    with pytest.raises(UnusableError, match="use --core any"):
        require_cores([0])


def test_a_bot_is_judged_without_cores_sandbox_and_cgroup(tmp_path):
    result = tmp_path / "result.json"
    arguments = ["run", "--set", str(RECIPE), "--result", str(result), "--", *command("perfect", tmp_path)]
    judge = [sys.executable, "-c", JUDGE, *arguments]
    done = subprocess.run(judge, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    assert "bots run without a sandbox: sandboxes need Linux" in done.stderr
    found = read_result(result)
    assert (found.score.right, found.sandboxed) == (5, "no")
    assert found.configuration.core is None
