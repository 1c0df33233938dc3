"""The wheels of tools/release/wheel.py: installed without other packages, by each Python that is here."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from nonobot.protocol import format_answer
from tests.bot.test_native import ON_X86_64
from tests.helpers.talking import CAPTURED, GOOD, GRID, Solution, batch
from tests.helpers.terminals import Terminal

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not ON_X86_64, reason="kernels are shipped for x86-64 Linux")]

ANSWER = format_answer(1, Solution(GRID))
PROGRAM = """
import nonobot
solved = nonobot.solve(nonobot.read("good.nin")[0])
board = solved.solutions[0]
print(solved.verdict, *board.rows)
try: board.cells
except ModuleNotFoundError as error: print(error)
"""


@pytest.fixture(name="wheels", scope="module")
def _wheels(tmp_path_factory):
    from tools.release.wheel import build

    return build(tmp_path_factory.mktemp("dist"))


def metadata(wheel: Path) -> bytes:
    with ZipFile(wheel) as content:
        [name] = [path for path in content.namelist() if path.endswith(".dist-info/METADATA")]
        return content.read(name)


def installed(wheel: Path, python: str, folder: Path) -> Path:
    """Install a wheel, and nothing that it depends on, into a new environment; return its commands."""
    subprocess.run([python, "-m", "venv", "--without-pip", folder / "env"], check=True)
    commands = folder / "env" / "bin"
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", commands / "python")
    subprocess.run([*pip, "install", "--no-index", "--no-deps", wheel], check=True)
    return commands


def done(folder: Path, *command: str | Path, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command in a folder with a home and a puzzle, and nothing else."""
    (folder / "home").mkdir(exist_ok=True)
    (folder / "good.nin").write_text("2 2\n1\n2\n2\n1\n")
    environment = {"HOME": str(folder / "home")}
    return subprocess.run(command, input=text, cwd=folder, env=environment, **CAPTURED)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14", "3.15"])
def test_the_wheel_with_kernels_plays_without_other_packages_and_keeps_nothing(wheels, version, tmp_path):
    python = shutil.which(f"python{version}")
    if not python or subprocess.run([python, "-m", "venv", "--help"], capture_output=True).returncode:
        pytest.skip(f"there is no Python {version} here")
    commands = installed(wheels[1], python, tmp_path)

    def said(*command: str, text: bytes = b"") -> bytes:
        run = done(tmp_path, commands / command[0], *command[1:], text=text)
        assert (run.returncode, run.stderr) == (0, b"")
        return run.stdout

    assert said("nonobot", "--size", "2x2", text=batch(GOOD)) == ANSWER
    assert said("nonobot", "--size", "2x2", "--strategy", "papers", text=batch(GOOD)) == ANSWER
    assert said("nonobot", "good.nin") == ANSWER
    question = {"do": "solve", "rows": GOOD.rows, "columns": GOOD.columns}
    told = said("nonobot", "--dialogue", text=f"{json.dumps(question)}\n".encode())
    assert json.loads(told)["solutions"] == ["1011"]
    assert said("python", "-c", PROGRAM).decode().splitlines() == [
        r"unique b'\x01\x00' b'\x01\x01'",
        "an array of cells needs numpy: pip install numpy",
    ]
    watch = [str(commands / "nonobot"), "--watch", str(tmp_path / "good.nin"), "--speed=1000"]
    with Terminal(watch, environment={"HOME": str(tmp_path / "home")}) as terminal:
        terminal.wait_for("4 of 4 cells known. Any key continues")
        terminal.press("x")
        assert terminal.end()[::2] == (0, "")
    assert not [*(tmp_path / "home").iterdir()]
    native = done(tmp_path, commands / "nonobot", "--native", "good.nin")
    assert (native.returncode, native.stdout) == (2, b"")
    assert native.stderr.endswith(b" install numba\n")
    assert native.stderr.count(b"\n") == 1


def test_both_wheels_have_the_same_metadata_and_need_numba_only_without_kernels(wheels):
    pure, kernels = wheels
    assert metadata(pure) == metadata(kernels)
    markers = [line for line in metadata(pure).decode().splitlines() if line.startswith("Requires-Dist: num")]
    elsewhere = '; sys_platform != "emscripten" and (platform_system != "Linux" or platform_machine != "x86_64")'
    assert markers[:2] == [f"Requires-Dist: numpy>=1.26{elsewhere}", f"Requires-Dist: numba>=0.61{elsewhere}"]
    assert all("extra ==" in line for line in markers[2:])
    assert kernels.stat().st_size <= 4_000_000
    browser = {"sys_platform": "emscripten", "platform_system": "Emscripten", "platform_machine": "wasm32"}
    required = (line for line in metadata(pure).decode().splitlines() if line.startswith("Requires-Dist: "))
    markers = (Requirement(line.partition(": ")[2]).marker for line in required)
    assert not any(marker is None or marker.evaluate({**browser, "extra": ""}) for marker in markers)


def test_the_pure_wheel_without_numba_prints_the_install_command(wheels, tmp_path):
    commands = installed(wheels[0], sys.executable, tmp_path)
    run = done(tmp_path, commands / "nonobot", "good.nin")
    assert (run.returncode, run.stdout) == (2, b"")
    assert run.stderr.startswith(b"nonobot: compiling the kernels needs numba")
    assert run.stderr.count(b"\n") == 1
