"""The attacks of the siege, each a few times."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from tests.siege import ATTACKS

pytestmark = [pytest.mark.nightly, pytest.mark.usefixtures("compiled", "own_folder")]
TRIES = {"hostile": 4, "memory": 4, "kills": 2}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_withstood(name):
    attack, _ = ATTACKS[name]
    assert not any(islice(attack(random.Random(1)), TRIES.get(name, 40)))
