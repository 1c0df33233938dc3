"""What the judge opens, executes, imports and starts is what `judges_side.DATA` lists, whatever lies around it."""

import shutil
import sys
from pathlib import Path

import pytest

from nonobot.harness.process.nonobot_command import OWN_BOT
from nonobot.harness.process.sandbox import Sandbox
from tests.helpers.judges_side import COMMANDS, Layout, breaches

SLOW = ("duel", "bisect", "report", "page")
LIBRARIES = {"report": ("matplotlib", "jinja2"), "page": ("starlette", "uvicorn")}


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    return Layout(tmp_path_factory.mktemp("layout"))


@pytest.mark.parametrize("bubblewrap", ["stand-in", pytest.param("real", marks=pytest.mark.slow)], indirect=True)
@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize(
    "command", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in COMMANDS]
)
def test_the_judge_trusts_no_file_of_others(layout, command):
    if command == "bisect" and not shutil.which("git"):
        pytest.skip("no git to bisect with")
    for library in LIBRARIES.get(command, ()):
        pytest.importorskip(library, reason="an extra is not installed")
    assert breaches(layout, command) == []


MUTATIONS = {
    "start, with the configuration of a clone": "subprocess.run(['git', '-C', 'bots/one', 'describe', '--dirty'])",
    "start, with the modules of the working folder": "subprocess.run([sys.executable, '-c', ''])",
    "start sh bots/one/": "subprocess.run(['sh', 'bots/one/warm.sh'])",
    "start git": "subprocess.run(['./git'], stdin=subprocess.DEVNULL)",
    "read {theirs}/bots/one/new": "open('bots/one/new')",
    "read {theirs}/bots": "os.listdir('bots')",
    "write {theirs}/results/link": "os.symlink('/nowhere', 'results/link')",
    "words": "open('results/cut.stderr.txt', 'a').write('words')",
    "run {theirs}/trap.py": "sys.path.insert(0, ''), importlib.import_module('trap')",
    "__main__": "exec(open('trap.py').read())",
    "run {theirs}/libseccomp.so.2": "ctypes.CDLL('./libseccomp.so.2')",
    "unpickle builtins.exec": "pickle.loads(b'cbuiltins\\nexec\\n.')",
    "socket.connect {theirs}/socket": "socket.socket(socket.AF_UNIX).connect(os.path.abspath('socket'))",
}
"""What a change of the judge might do, and the breach that it is."""

MUTANT = """
import contextlib, ctypes, importlib, os, pickle, socket, subprocess, sys
for change in {changes}:
    with contextlib.suppress(OSError, AttributeError):
        exec(change)
sys.path[:] = [one for one in sys.path if one]
from nonobot.harness.__main__ import main
sys.exit(main())
"""


def test_a_change_that_trusts_a_file_of_others_is_seen(layout):
    mutant = [sys.executable, "-P", "-c", MUTANT.format(changes=[*MUTATIONS.values()])]
    found = "\n".join(breaches(layout, "table", mutant))
    needed = [breach for breach in MUTATIONS if shutil.which("git") or "of a clone" not in breach]
    assert [breach for breach in needed if breach.format(theirs=layout.theirs) not in found] == []


@pytest.mark.parametrize("python_path", [[], ["bots/own"]])
@pytest.mark.parametrize(
    "command",
    [
        ["bots/one/run.sh"],
        [*OWN_BOT, "--warm-up"],
        [sys.executable, "-m", "nonobot", "--warm-up"],
        [str(Path(sys.executable).with_name("nonobot")), "--warm-up"],
        ["sh", "-c", "exec bots/one/run.sh"],
    ],
)
def test_no_bot_writes_what_is_trusted_later(layout, monkeypatch, command, python_path):
    """Whatever its command looks like, nothing is writable but its own folders, and these for its warm-up."""
    monkeypatch.chdir(layout.theirs)
    for prepares in (True, False):
        mounts = Sandbox(prepares=prepares).mounts(
            command, modules=[Path(folder).absolute() for folder in python_path]
        )
        written = {Path(mount[-1]) for mount in mounts if mount[0] == "--bind"}
        assert written <= ({layout.theirs / "bots/one"} if prepares else set())
