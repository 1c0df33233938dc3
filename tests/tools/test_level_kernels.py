"""Compiling the kernels for browsers: it says first what is missing, and never looks complete before it is."""

import os
import signal
import subprocess
import sys

import pytest

from nonobot.bot.kernels import shipped
from tests.helpers.waiting import running, wait_until
from tools.release import level_kernels


@pytest.mark.parametrize("script", [None, "echo cannot load libLLVM.so >&2; exit 127"])
def test_an_unusable_linker_is_reported_before_compiling(script, tmp_path):
    linker = tmp_path / "wasm-ld"
    message = level_kernels.NO_LINKER
    if script:
        linker.write_text(f"#!/bin/sh\n{script}\n")
        linker.chmod(0o755)
        message = f"{linker} cannot start: cannot load libLLVM.so; sudo apt-get install --reinstall lld"
    command = (sys.executable, "-m", "tools.release.level_kernels", "--only-wasm", "-o", tmp_path / "kernels")
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, f"tools.release.level_kernels: {message}\n")
    assert not (tmp_path / "kernels").exists()


@pytest.mark.slow
def test_an_interrupted_build_leaves_no_seemingly_complete_kernels(tmp_path, monkeypatch):
    command = (sys.executable, "-m", "tools.release.level_kernels", "--only-wasm", "-o", tmp_path)
    made = [tmp_path / file for file in level_kernels.files(wasm=True)]
    with running(command, stderr=subprocess.DEVNULL, start_new_session=True) as run:
        wait_until(lambda: any(path.exists() and path.stat().st_size for path in made), run)
        os.killpg(run.pid, signal.SIGKILL)
    monkeypatch.setattr(shipped, "_FOLDER", tmp_path)
    monkeypatch.setattr(shipped, "_FOLDER_OF_CLONE", tmp_path)
    assert shipped.wasm_kernels() == []
