"""The judge's side: what it does with files that others can write, by observation of its processes (observer.py).

In a hostile folder lies what programs and libraries look for where they run: modules, programs, configuration, a
clone whose configuration names programs. The judge works there, as in a stranger's unpacked archive. Whatever it
executes, imports or hands to a program from there is a breach, and so is a file that it opens without a row in
`DATA`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import msgspec

from nonobot.harness.play.run_state import records_of
from nonobot.harness.process.bot_files import REMOVE
from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.process.revisions import git
from nonobot.harness.results.conditions import Contain
from nonobot.harness.results.result_files import read_result
from nonobot.tournament_data import write_set
from tests.doubles import check_bots
from tests.helpers import observer
from tests.helpers.judged import RECIPE, played
from tests.helpers.places import quoted
from tests.helpers.waiting import PATIENCE_SECONDS, finished, next_line

JUDGE = (sys.executable, "-P", "-m", "nonobot.harness")
SET = ("--set", "sets/set.txt", "--size", "5x5", "--quiet")
RUN = ["run", *SET, "--warm-up", "sh bots/one/warm.sh"]
FILES = ["--reads", "in.txt", "--writes", "out.txt", "--logs", "log.txt"]
CHECKED = [sys.executable, "-S", "-E", "bots/one/checked.py", "Bot", "5", "5"]

COMMANDS = {
    "run": [
        [*RUN, "--force", "--result", "results/run.json", "--", "bots/one/run.sh"],
        [*RUN, "--resume", "results/cut.json", "--", "bots/one/run.sh"],
        ["run", *SET, *FILES, "--", "sh", "bots/two/files.sh"],
        # A command like that of nonobot, but the module that Python finds is the stranger's.
        ["run", *SET, "--env", "PYTHONPATH=bots/own", "--", sys.executable, "-m", "nonobot"],
    ],
    "tournament": [["tournament", "../mine/tournament.toml"]] * 2,  # again: it reads the results
    "check": [["check", "--size", "5x5", "--only", "28", "--", *CHECKED]],  # a part of it is in the sandbox
    "table": [["table", "results"]],
    "report": [["report", "results", "-o", "../mine/report.html"]],
    "history": [["history", "results"]],
    "duel": [["duel", *SET, "--rounds", "6", "bots/one/run.sh", "bots/one/run.sh"]],
    "bisect": [["bisect", *SET, "--rounds", "6", "HEAD~1", "HEAD", "--", "sh", "bot.sh"]],
    "page": [[]],
}
"""The commands, each in one or several ways."""

PAGE = """
import sys
from pathlib import Path
from nonobot.harness import UnusableError
from nonobot.harness.page import site
from nonobot.harness.web.server import listening_socket, serve
site._contents = lambda *_: iter([("service_worker.js", b""), ("static/page.js", b"")])
try:
    site.write_site(Path("site"), 5.0)
except UnusableError as error:
    print(error, file=sys.stderr)
own = listening_socket("127.0.0.1", 0)
serve(own, "127.0.0.1", Path(sys.argv[1]), Path("results"), lambda: print(own.getsockname()[1], flush=True))
"""
"""The server of `nonojudge page --results results`, and `--export site`, without the contents of the page, which
need kernels for browsers."""


class Data(NamedTuple):
    """Files that are not the judge's user's alone, and that the judge opens: data, whatever is in them."""

    use: str  # list, read or write
    files: str  # a pattern, relative to the folder of the layout
    name: str  # of such files, for docs/sandbox.md
    writer: str  # who can write them besides the judge's user
    purpose: str  # what the judge makes of them
    commands: str  # which open them

    def fits(self, layout: Layout, kind: str, path: str, *_: str) -> bool:
        """Return whether an event is such an opening; folders that may be read may be listed."""
        return self.use in (kind, "read" if kind == "list" else kind) and fnmatchcase(
            os.path.relpath(path, layout.folder), self.files
        )


AUTHOR = "the bot's author, its warm-up"


def _of_bot(files: str, commands: str) -> Data:
    purpose = "the interpreter in the `#!` line, a digest"
    return Data("read", files, "files that a bot's command names", AUTHOR, purpose, commands)


def _beside_bot(use: str, files: str, commands: str) -> Data:
    name = "folder of a bot: names, and the beginning of `*.json`"
    return Data(use, files, name, AUTHOR, "which files are results, to hide them", commands)


def _of_clone(files: str) -> Data:
    name, purpose = "HEAD and branches of the working folder's clone", "the revision of a bot in it"
    return Data("read", files, name, "whoever the folder comes from", purpose, "run tournament bisect")


def _of_exchange(files: str) -> Data:
    name, purpose = "exchange folder of a bot that works on files", "answers, the bot's own log, sizes"
    return Data("read", files, name, "the bot", purpose, "run tournament")


def _of_export(use: str, files: str) -> Data:
    return Data(use, files, "list of an earlier `page --export`", "its author", "which files are replaced", "page")


_REPORT = "what a part of `check` reports that runs with the bot"
_RESULTS, _READERS = "results and journals", "run tournament table report history page"
_DUEL = "results of the runs of a duel"

DATA = (
    Data("read", "theirs/sets/set.txt", "set", "its author", "puzzles", "run tournament duel bisect"),
    _of_bot("theirs/bots/*.sh", "run tournament duel"),
    _of_bot("theirs/bots/one/checked.py", "check"),
    _of_bot("theirs/*sh", "bisect"),
    _of_clone("theirs/*.git"),  # of a worktree: a file that names the folder
    _of_clone("theirs/*.git/HEAD"),
    _of_clone("theirs/*.git/refs/heads/*"),
    _beside_bot("list", "theirs/bots/*", "run tournament check duel"),
    _beside_bot("read", "theirs/bots/*.json", "run tournament check duel"),
    _beside_bot("list", "theirs*", "bisect"),
    _beside_bot("read", "theirs/*.json", "bisect"),
    _of_exchange("scratch/nonojudge-*"),
    _of_exchange("theirs/out.txt"),  # named relative to its folder, as the next one
    _of_exchange("theirs/log.txt"),
    Data("read", "scratch/nonojudge-check-*", _REPORT, "the bot", "the processes that the bot left", "check"),
    Data("read", "theirs/results*", _RESULTS, "whoever hands them in", "tables, plots, what is left", _READERS),
    _of_export("list", "theirs/site"),
    _of_export("read", "theirs/site/files.json"),
    Data("write", "theirs/site*", "the page", "", "", "page"),
    Data("list", "scratch/nonojudge-*", _DUEL, "nobody: hidden from bots", "the comparison", "duel"),
    Data("read", "scratch/nonojudge-*/*", _DUEL, "nobody: hidden from bots", "the comparison", "duel bisect"),
    Data("write", "theirs/results*", "results", "", "", "run tournament"),
    Data("write", "scratch*", "temporary files", "", "", "run tournament check duel bisect"),
)
"""All that the judge opens of others' files: it executes and imports none, and hands none to a program."""

NO_FILE = ("bwrap --help", "bwrap --version", "fc-list")
"""Programs that get no file of others; matplotlib asks fc-list for the system's fonts."""

BOTS = ("run.sh", "warm.sh", "files.sh", "checked.py", "bot.sh")
"""Ends of words in the commands of bots, which the judge starts itself where there is no sandbox."""

PLAY = ("run", "tournament", "check", "duel", "bisect")
ON_PURPOSE = "bisect"  # runs git in the clone that the user names, and the code of its revisions
UNPICKLES = ("duel", "bisect")  # what the judge's own processes send to each other
UNPICKLED = ("nonobot.", "msgspec.", "pathlib.", "builtins.getattr")  # the last for enums, before Python 3.11.4


class Layout:
    """A folder: what is the judge's user's alone (`mine`), what strangers brought (`theirs`), and `scratch`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mine, self.theirs, self.scratch = (folder / name for name in ("mine", "theirs", "scratch"))
        self.log, self.ran = folder / "log", folder / "ran"  # of the observer; every trap writes to the latter
        for path in (self.mine / "observer", self.scratch, self.theirs / "results", folder / "made"):
            path.mkdir(parents=True)
        shutil.copyfile(observer.__file__, self.mine / "observer" / "sitecustomize.py")
        self._bring_bots()
        self._set_traps()
        played("perfect", folder / "made")
        shutil.copyfile(folder / "made" / "result.json", self.theirs / "results" / "old.json")
        (self.mine / "tournament.toml").write_text(
            'name = "small"\nsets = [{set = "sets/set.txt", size = "5x5"}]\n'
            '[[bots]]\nname = "one"\ncommand = ["bots/one/run.sh"]\nwarm-up = ["sh", "bots/one/warm.sh"]\n'
            '[[bots]]\nname = "two"\ncommand = ["sh", "bots/two/files.sh"]\n'
            'reads = "in.txt"\nwrites = "out.txt"\nlogs = "log.txt"\n'
        )

    def _bring_bots(self) -> None:
        (self.theirs / "sets").mkdir()
        solutions = self.folder / "solutions"
        with (self.theirs / "sets/set.txt").open("wb") as questions, solutions.open("wb") as answers:
            write_set(RECIPE.boards(), questions, answers)
        self._answer = f"cat <<'END'\n{solutions.read_text()}END\n"
        nonobot = f"import sys\nsys.stdin.read()\nprint('''{solutions.read_text()}''', end='')\n"
        for name, text in {
            "bots/one/run.sh": f"#!/bin/sh\necho words >&2\nexec {self._answer}",
            "bots/one/warm.sh": "echo x > bots/one/made\n",
            "bots/one/checked.py": Path(check_bots.__file__).read_text(),
            "bots/one/weights.json": "{}",
            "bots/two/files.sh": f"echo '#1 0.1' > log.txt\nexec > out.txt {self._answer}",
            "bots/own/nonobot.py": nonobot,
            "site/files.json": '{"files": ["gone", "../../mine/tournament.toml"]}',
            "nonobot.py": nonobot,
        }.items():
            self.write(self.theirs / name, text)

    def _set_traps(self) -> None:
        """Add what programs, Python and libraries take from where they run, if they are allowed to."""
        for name in ("sitecustomize", "usercustomize", "msgspec", "psutil", "numpy", "rich", "trap"):
            self.write(self.theirs / f"{name}.py", self.module)
        for name in ("bwrap", "git", "python3", "sh", "cat", "latex", "fc-list"):
            self.write(self.theirs / name, self.program)
        self.write(self.theirs / "libseccomp.so.2", "\x7fELF")
        # Old versions of matplotlib evaluate this, without names, but a generator leads to its caller's.
        code = "[g := [], g.append((g[0].gi_frame.f_back for _ in [1])), [*g[0]][0]][2].f_back.f_builtins['open']"
        cycle = f"cycler(color=['r', {code}({str(self.ran)!r}, 'a').write('matplotlib')])"
        self.write(self.theirs / "matplotlibrc", f"axes.prop_cycle: {cycle}\n")
        for name in ("cut.stderr.txt", "run.stderr.txt"):
            link = self.theirs / "results" / name
            link.symlink_to(self.ran)  # perhaps a file of the user's that a shell reads
        for folder in (self.theirs, self.theirs / "bots" / "one"):
            self._make_clone(folder)

    @property
    def module(self) -> str:
        return f"open({str(self.ran)!r}, 'a').write(__name__ + ' ')\n"

    @property
    def program(self) -> str:
        return f'#!/bin/sh\necho "$0" >> {quoted(self.ran)}\ncat\n'

    def write(self, path: Path, text: str) -> None:
        """Write an executable file, in place of another one, or of a link or pipe."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def _make_clone(self, folder: Path) -> None:
        """Make a folder a clone with two commits and an edited file, whose configuration names programs."""
        self.write(folder / ".gitattributes", "*.sh filter=trap\n")
        with contextlib.suppress(OSError):  # git is not installed
            git(folder, "init", "-q")
            for text in ("first ", "second", "edited"):  # of the same length: git compares them by the filter
                self.write(folder / "bot.sh", f"# {text}\nexec {self._answer}")
                if text != "edited":
                    git(folder, "add", ".gitattributes", "bot.sh")
                    git(folder, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", text)
        if not (folder / ".git").exists():
            self.write(folder / ".git/HEAD", "ref: refs/heads/main\n")
            self.write(folder / ".git/refs/heads/main", f"{'1' * 40}\n")
        trap = json.dumps(quoted(self.theirs / "git"))
        with (folder / ".git" / "config").open("a") as config:
            config.write(f"[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n")
            config.write(f'[filter "trap"]\n\tclean = {trap}\n\tsmudge = {trap}\n\tprocess = {trap}\n')

    def observed(
        self, arguments: Sequence[str], judge: Sequence[str] = JUDGE, statuses: Sequence[int] = (0, 1, 3)
    ) -> list[list[str]]:
        """Carry a command out in the strangers' folder (no arguments: the page); return what the judge did."""
        for file in (self.log, self.ran):
            file.unlink(missing_ok=True)
        python_path = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        environment = os.environ | {
            "NONOBOT_CACHE_DIR": str(self.mine / "cache"),
            "TMPDIR": str(self.scratch),
            "PYTHONPATH": os.pathsep.join([str(self.mine / "observer"), *python_path]),
            observer.LOG: str(self.log),
            observer.OBSERVED: os.pathsep.join([str(self.theirs), str(self.scratch)]),
        }
        if "--resume" in arguments:
            self._cut()
        if arguments:
            to = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            to |= {"env": environment, "cwd": self.theirs, "timeout": PATIENCE_SECONDS}
            done = subprocess.run([*judge, *arguments], text=True, check=False, **to)
            assert done.returncode in statuses, done.stderr
            assert "Traceback" not in done.stderr, done.stderr
        else:
            self._visit(environment)
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def _cut(self) -> None:
        """Leave the journal of an interrupted run."""
        whole = self.theirs / "results" / "run.json"
        records = records_of(read_result(whole))[:-2] if whole.exists() else []
        (self.theirs / "results" / "cut.json").unlink(missing_ok=True)
        lines = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
        self.write(self.theirs / "results" / "cut.journal.jsonl", lines.decode())

    def _visit(self, environment: dict[str, str]) -> None:
        """Look at the live view as a browser does, also at its plots."""
        command = [sys.executable, "-P", "-c", PAGE, str(self.mine)]
        server = subprocess.Popen(command, env=environment, cwd=self.theirs, stdout=subprocess.PIPE, text=True)
        try:
            address = f"http://127.0.0.1:{int(next_line(server))}/api"
            with urllib.request.urlopen(f"{address}/live", timeout=PATIENCE_SECONDS) as events:
                state = json.loads(events.readline().partition(b"data: ")[2])
            for plot in state["plots"]:
                urllib.request.urlopen(f"{address}/cactus/{plot['key']}", timeout=PATIENCE_SECONDS).close()
        finally:
            server.terminate()
            finished(server)


def breaches(layout: Layout, command: str, judge: Sequence[str] = JUDGE) -> list[str]:
    """Carry a command out in each of its ways; return what it did that it must not do, in words.

    So is each row of `DATA` of which it opened nothing.
    """
    events, found = [], []
    shutil.rmtree(layout.theirs / "results" / "small", ignore_errors=True)  # an earlier tournament's
    for arguments in COMMANDS[command]:
        events += layout.observed(arguments, judge)
        found += breaches_in(layout, command, events)
    unused = [row for row in _rows_of(command) if not any(row.fits(layout, *event) for event in events)]
    return [*dict.fromkeys(found), *(f"not seen: {row}" for row in unused)]


def _rows_of(command: str) -> list[Data]:
    return [row for row in DATA if command in row.commands.split()]


def breaches_in(layout: Layout, command: str, events: Sequence[Sequence[str]]) -> list[str]:
    """Return what a command that has just ended must not have done, in words."""
    rows = _rows_of(command)
    others = [event for event in events if not any(row.fits(layout, *event) for row in rows)]
    found = [breach for kind, *details in others for breach in _breach(layout, command, kind, details)]
    if layout.ran.exists() and command != ON_PURPOSE:
        found.append(f"trap: {layout.ran.read_text()}")
    return found


def _breach(layout: Layout, command: str, kind: str, details: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with an event, if anything is."""
    if kind == "start":
        yield from _breach_of_start(layout, command, Path(details[0]), details[1:])
    elif kind != "unpickle":
        yield f"{kind} {details[0]}"
    elif command not in UNPICKLES or not details[0].startswith(UNPICKLED):
        yield f"unpickle {details[0]}"


def _breach_of_start(layout: Layout, command: str, folder: Path, start: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with a program that the judge starts in a folder."""
    program, *rest = start
    path = folder / (shutil.which(program) or program)
    line = shlex.join([path.name, *rest])
    is_theirs = path.is_relative_to(layout.theirs)
    is_bot = command in PLAY and any(word == "nonobot" or word.endswith(BOTS) for word in start)
    if path.name == "bwrap":
        written = [Path(to) for option, to in zip(start, start[2:], strict=False) if option == "--bind"]
        own = (layout.theirs / "bots", layout.scratch)
        for place in written:
            if not any(place.is_relative_to(allowed) for allowed in own):
                yield f"writable for a bot: {place}"
    elif (is_bot and sandbox_note(Contain.AUTO)) or command == ON_PURPOSE or line.startswith(NO_FILE):
        return
    elif path.name.startswith("python") and not is_theirs:
        if rest[0] not in ("-P", "-I"):
            yield f"start, with the modules of the working folder: {line}"
    elif path.name == "git" and not is_theirs:
        if (folder / rest[rest.index("-C") + 1]).is_relative_to(layout.theirs):
            yield f"start, with the configuration of a clone of others: {line}"
    elif is_theirs or rest[:2] != ["-c", REMOVE] or not Path(rest[-1]).is_relative_to(layout.scratch):
        yield f"start {line}"
