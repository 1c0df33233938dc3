"""The attacks of the siege, each a few times."""

import random
from itertools import islice

import pytest

from tools.siege import ATTACKS

pytestmark = [pytest.mark.usefixtures("compiled", "own_folder")]
TRIES = {"hostile": 4, "memory": 4, "kills": 2, "truncated": 10, "judge": 10}
AT_ONCE = ("results", "truncated")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in AT_ONCE else pytest.mark.nightly) for name in ATTACKS]
)
def test_no_attack_of_the_siege_finds_a_problem(name):
    attack, _ = ATTACKS[name]
    assert not any(islice(attack(random.Random(1)), TRIES.get(name, 40)))
