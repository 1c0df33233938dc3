"""What several test modules need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
