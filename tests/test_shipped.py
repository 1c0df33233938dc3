"""Kernels that come with the bot: chosen by the processor, and never run if they are not whole or not ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from nonobot.bot.kernels.shipped import LEVELS, processor_level
from tests.patched import patched_house
from tests.test_native import ANSWERS, LOADED, ON_X86_64, PROGRAM, started

pytestmark = pytest.mark.skipif(not ON_X86_64, reason="kernels are shipped for x86-64 Linux")

SHIP = """
import sys, author
from pathlib import Path
from nonobot.bot.kernels.memory import Struct, i8
from nonobot.bot.kernels.object_code import for_processor, kernel_code, machine_code
from nonobot.bot.kernels.shipped import LEVELS, sealed
code = kernel_code(author.subtract.py_func, Struct("Kept", first=i8), 2)
for level in LEVELS:
    folder = Path("bot/kernels/built", level)
    folder.mkdir(parents=True)
    (folder / "subtract-Kept.code").write_bytes(sealed(machine_code(for_processor(code, level))))
"""


@pytest.fixture(name="house", scope="module")
def _house(tmp_path_factory):
    """A house with a kernel for each level, and the environment to run it in."""
    folder = tmp_path_factory.mktemp("house")
    environment = patched_house(folder, "kernels/loading.py")
    started(folder, environment, SHIP)
    return folder, {name: value for name, value in environment.items() if name != "NONOBOT_KERNELS"}


def kept(folder):
    return [path for path in (folder / "cache").rglob("*") if path.is_file()]


@pytest.mark.parametrize("level", ["", *LEVELS[: LEVELS.index(processor_level() or LEVELS[0]) + 1]])
def test_a_kernel_that_came_with_the_bot_is_loaded_without_numba_and_nothing_is_kept(house, level):
    folder, environment = house
    assert started(folder, environment | {"NONOBOT_KERNELS": level}, PROGRAM + LOADED) == ([ANSWERS, ""], "")
    assert not kept(folder)


def test_native_kernels_are_compiled(house, tmp_path):
    folder, environment = house
    own = environment | {"NONOBOT_KERNELS": "native", "NONOBOT_CACHE_DIR": str(tmp_path)}
    assert started(folder, own) == (["compiling", ANSWERS], "")


@pytest.mark.parametrize(
    "damage",
    ["flipped", *(pytest.param(one, marks=pytest.mark.slow) for one in ("empty", "short", "another version"))],
)
def test_a_kernel_that_is_not_whole_or_not_of_these_sources_is_reported_and_not_run(house, tmp_path, damage):
    folder, environment = house
    path = folder / "bot" / "kernels" / "built" / str(processor_level()) / "subtract-Kept.code"
    source = folder / "bot" / "line.py"
    content, text = path.read_bytes(), source.read_text()
    try:
        match damage:
            case "flipped":
                path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
            case "empty":
                path.write_bytes(b"")
            case "short":
                path.write_bytes(content[:-1])
            case _:
                source.write_text(text.replace("cells", "cell", 1))
        found, stderr = started(folder, environment | {"NONOBOT_CACHE_DIR": str(tmp_path)})
    finally:
        path.write_bytes(content)
        source.write_text(text)
    is_lower_used = damage != "another version" and processor_level() != LEVELS[0]
    assert found == ([ANSWERS] if is_lower_used else ["compiling", ANSWERS])
    what = "cannot be read" if damage == "empty" else "is damaged, or belongs to another version"
    assert stderr == f"nonobot: the kernel {path} {what}; install nonobot again\n"


def test_another_name_of_a_level_is_refused_in_a_line(house):
    folder, environment = house
    program = (
        "from nonobot.bot.kernels import shipped\ntry: shipped.chosen_level()\nexcept ValueError as e: print(e)"
    )
    found, _ = started(folder, environment | {"NONOBOT_KERNELS": "v3"}, program)
    assert found == [f"NONOBOT_KERNELS=v3: no such level; choose native, {', '.join(LEVELS)}"]


def test_without_kernels_and_numba_a_line_names_the_command(tmp_path):
    environment = patched_house(tmp_path, "kernels/loading.py")
    lines = PROGRAM.strip().splitlines()
    lines[-2:] = [f"try: {lines[-2]}", "except ValueError as error: print(error)"]
    found, _ = started(tmp_path, environment, "\n".join(["import sys", "sys.modules['numba'] = None", *lines]))
    assert len(found) == 1
    assert found[0].startswith("compiling the kernels needs numba, not installed")


def test_the_level_is_that_of_the_flags_that_the_system_tells():
    flags = set(next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if "flags" in line).split())
    needed = (
        {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"},
        {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
        {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    )
    has = [flags >= set().union(*needed[: at + 1]) for at in range(len(needed))]
    assert processor_level() == LEVELS[sum(has)]
