"""What several test modules need."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.talking import COMMAND, PATIENCE_SECONDS, STRATEGIES, Talk

# No test asserts a time, and the first call of a kernel compiles it.
settings.register_profile("nonobot", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("nonobot")


@pytest.fixture(scope="session")
def official_sets() -> list[Path]:
    """Return the official question files in the folder that NONOBOT_SETS names; skip where there are none."""
    folder = os.environ.get("NONOBOT_SETS")
    if not folder:
        pytest.skip("NONOBOT_SETS is not set; it names a folder of official question files (*.txt)")
    files = sorted(Path(folder).glob("*.txt"))
    if not files:
        pytest.skip(f"NONOBOT_SETS={folder} holds no *.txt file")
    return files


@pytest.fixture(scope="session")
def compiled() -> None:
    """Compile the kernels before anything is compared: the first run says so on stderr."""
    for strategy in STRATEGIES:
        done = subprocess.run(
            [*COMMAND, "--warm-up", "--strategy", strategy], capture_output=True, timeout=PATIENCE_SECONDS
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == b""


@pytest.fixture
def talk() -> Iterator[Callable[..., Talk]]:
    """Return what starts a process to talk to; it is gone after the test."""
    talks: list[Talk] = []

    def start(*options: str) -> Talk:
        talks.append(Talk(*options))
        return talks[-1]

    yield start
    for one in talks:
        one.process.kill()
        one.process.wait()
        for stream in (one.process.stdin, one.process.stdout, one.process.stderr):
            stream.close()
