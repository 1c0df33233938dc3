"""What a bot brings is data: the judge runs none of it, imports none of it, and lets it decide nothing.

Most attacks need no sandbox: they are on what the judge does on its own side.
"""

import json
import os
import shlex
import site
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from nonobot.harness import UnusableError, cli
from nonobot.harness.play.journal import Journal, journal_path
from nonobot.harness.play.match import Bot, not_started, resume, warmed_up
from nonobot.harness.play.run_state import RunState, records_of
from nonobot.harness.process import revisions
from nonobot.harness.process.bot_process import NOTHING_MORE
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.machine import place_of_workers
from nonobot.harness.process.nonobot_command import HOME, OWN_BOT, own_warm_up
from nonobot.harness.process.revisions import git, revision_of
from nonobot.harness.process.sandbox import Sandbox, working_options
from nonobot.harness.results.conditions import Configuration, Contain, FileNames
from nonobot.harness.results.result_files import read_result, write_json
from nonobot.harness.text import last_line_of
from nonobot.system import kernel_cache, temporary_cache, user_cache
from tests.harness.commands.test_history import made
from tests.harness.play.test_match_resume import interrupt_after
from tests.harness.process.test_mounts import seen
from tests.helpers.clusters import definition
from tests.helpers.judged import RECIPE, SET, command, played, program, verdicts
from tests.helpers.places import quoted, sparse
from tests.helpers.sandboxes import sandbox_only

pytestmark = pytest.mark.usefixtures("own_folder", "short_look")

CAPTURED = {"capture_output": True, "text": True, "check": False}


@pytest.fixture
def ran(tmp_path):
    """Return a file that every trap makes when something of it runs."""
    return tmp_path / "ran"


# Git


def trapped(folder, ran):
    """Make a clone whose configuration names a program in each way that git has for its own files; return it."""
    made(folder, **{".gitattributes": "* filter=evil diff=evil\n"})
    trap = program(folder / "program", f"#!/bin/sh\ntouch {quoted(ran)}\ncat\n")
    with (folder / ".git" / "config").open("a") as config:
        runs, alias = (json.dumps(mark + quoted(trap)) for mark in ("", "!"))
        config.write(f"[core]\n\tfsmonitor = {runs}\n\tpager = {runs}\n\tsshCommand = {runs}\n")
        config.write(f'[filter "evil"]\n\tclean = {runs}\n\tsmudge = {runs}\n\tprocess = {runs}\n')
        config.write(f'[diff "evil"]\n\tcommand = {runs}\n\ttextconv = {runs}\n[alias]\n\tstatus = {alias}\n')
    for name in ("post-index-change", "reference-transaction"):
        program(folder / ".git" / "hooks" / name, trap.read_text())
    (folder / "bot").write_text("#!/bin/sh\nexit\n")  # edited: git compares it with the commit by the filter
    return folder


def is_loaded(folder, ran):
    """Return whether git, asked about a folder, runs the trap."""
    subprocess.run(["git", "describe", "--always", "--dirty"], cwd=folder, capture_output=True)
    return ran.exists()


def test_git_runs_no_program_configured_in_an_untrusted_working_folder(tmp_path, ran, monkeypatch, capsys):
    trapped(tmp_path / "theirs", ran)
    monkeypatch.chdir(tmp_path / "theirs")
    assert cli.run(["run", "--set", str(RECIPE), "--contain", "no", "--quiet", "--", "./bot"]) == 1
    assert not ran.exists()
    [result] = Path("results").glob("*.json")
    assert read_result(result).revision == git(Path.cwd(), "rev-parse", "HEAD").decode().strip()
    write_json(result, replace(read_result(result), revision="f" * 40))
    assert cli.run(["history", str(result)]) == 0  # git is not asked about a commit that the clone lacks
    assert not ran.exists()
    assert is_loaded(Path.cwd(), ran)


def test_git_runs_no_program_configured_in_an_untrusted_submodule(tmp_path, ran, monkeypatch):
    theirs = trapped(tmp_path / "bots" / "theirs", ran)
    commit = made(tmp_path, good="#!/bin/sh\n")  # adds the inner clone as a submodule
    assert b"160000" in git(tmp_path, "ls-tree", "HEAD", "bots/theirs")
    found = [revision_of(["./good"]), revision_of(["bots/theirs/bot"])]
    assert not ran.exists()
    monkeypatch.setattr(revisions, "HOME", tmp_path)
    assert [*found, revision_of(OWN_BOT)] == [commit, None, commit]
    assert not ran.exists()
    assert is_loaded(theirs, ran)


def test_git_runs_no_program_configured_in_a_fake_worktree(tmp_path, ran):
    """Git takes the name after `gitdir: ` as it is: here it begins with a blank."""
    made(tmp_path)
    theirs = tmp_path / "bots" / "theirs"
    trapped(theirs / "far" / "away", ran)
    program(theirs / "bot")
    (theirs / " ..").symlink_to("far/away/in")
    (theirs / "far" / "away" / "in").mkdir()
    (theirs / ".git").write_text("gitdir:  ../../.git\n")
    revision_of(["bots/theirs/bot"])
    assert not ran.exists()


def test_a_fake_worktree_yields_no_commit(tmp_path):
    commit = made(tmp_path)
    git(tmp_path, "worktree", "add", "-q", "bots/mine")
    (tmp_path / "bots/mine/bot").write_text("#!/bin/sh\n")
    assert revision_of(["sh", "bots/mine/bot"]) == commit
    its = str(tmp_path / "bots/theirs/.git")
    for name, content in (("HEAD", "1" * 40), ("commondir", "../../../.git"), ("gitdir", its)):
        theirs = tmp_path / "bots/theirs/.git" / name
        theirs.parent.mkdir(parents=True, exist_ok=True)
        theirs.write_text(content)
    (tmp_path / "bots/other").mkdir()
    (tmp_path / "bots/other/.git").write_text(f"gitdir: {tmp_path}/.git/worktrees/mine")
    for name in ("theirs", "other"):
        (tmp_path / "bots" / name / "bot").write_text("#!/bin/sh\n")
        assert revision_of(["sh", f"bots/{name}/bot"]) is None


@pytest.mark.parametrize("name", [".git", ".git/HEAD", ".git/commondir", ".git/gitdir"])
def test_a_huge_name_in_git_data_does_not_delay_the_judge(tmp_path, name):
    """The way to two million folders would hold the judge for half an hour."""
    made(tmp_path)
    theirs = tmp_path / "bots/theirs"
    theirs.mkdir(parents=True)
    (theirs / "bot").write_text("#!/bin/sh\n")
    if name != ".git":
        (theirs / ".git").mkdir()
        (theirs / ".git/commondir").write_text(str(tmp_path / ".git"))
    start = {".git": "gitdir: ", ".git/HEAD": "ref: refs/"}.get(name, "")
    (theirs / name).write_text(start + "a/" * 2_000_000)
    assert revision_of(["sh", "bots/theirs/bot"]) is None


@pytest.mark.parametrize(
    "of_git", [".git", ".git/HEAD", ".git/refs/heads/main", ".git/packed-refs", ".git/commondir"]
)
@pytest.mark.parametrize("trap", ["digits", "pipe", "zeros", "large", "circle", "kernel", "gone", "nul", "up"])
def test_irregular_git_files_take_no_time_and_no_memory(tmp_path, of_git, trap):
    made(tmp_path)
    git(tmp_path, "checkout", "-q", "-B", "main")
    path = tmp_path / of_git
    if of_git == ".git":
        path.rename(tmp_path / "moved")
    elif path.exists():
        path.unlink()
    if of_git == ".git/packed-refs":
        (tmp_path / ".git/refs/heads/main").unlink()
    if trap == "pipe":
        os.mkfifo(path)
    elif trap == "large":
        sparse(path)
    elif trap in ("nul", "up"):
        path.write_bytes({"nul": b"gitdir: \0\n", "up": b"ref: refs/../../secret\n"}[trap])
    else:
        (tmp_path / "private").mkdir()
        (tmp_path / "private" / "token").write_text("ab" * 20)
        targets = {"zeros": "/dev/zero", "kernel": "/proc/self/environ", "gone": "/nowhere"}
        targets |= {"digits": tmp_path / "private" / "token", "circle": path}
        path.symlink_to(targets[trap])
    revision = revision_of(["./bot"])
    assert revision is None or of_git == ".git/commondir"


# Modules, the kernels and their cache


def test_the_judge_warms_up_its_own_bot_in_a_clean_environment_and_folder(tmp_path, ran, monkeypatch):
    for name in ("sitecustomize", "usercustomize", "argparse", "nonobot", "numpy"):
        (tmp_path / f"{name}.py").write_text(f"open({str(ran)!r}, 'w')\n")
    given = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": str(tmp_path), "PYTHONSTARTUP": str(tmp_path / "numpy.py")}
    given |= {"HOME": str(tmp_path), "NONOBOT_CACHE_DIR": str(tmp_path), "NUMBA_OPT": "0"}
    limits = Configuration(environment=given)
    for start in (OWN_BOT, [str(Path(sys.executable).with_name("nonobot"))]):
        assert warmed_up([*start, "--version"], limits) > 0
    assert not ran.exists()
    assert warmed_up([*OWN_BOT, "--version"], replace(limits, contain=Contain.AUTO)) > 0
    assert not ran.exists()


def test_the_warm_up_of_the_judges_own_bot_writes_nothing_but_kernels(tmp_path):
    warmed_up([*OWN_BOT, "--stats", "stats", "--log", "log", "--version"], Configuration())
    assert not any(tmp_path.iterdir())
    warm_up = own_warm_up(["--stats", "stats", "--log", "log", "--size", "5x5"])
    assert warm_up[warm_up.index("--warm-up") - 1].endswith("command()")  # before any word of the bot's


@pytest.mark.parametrize(
    "arguments", [["-m", "nonobot"], ["-I", "-m", "nonobot"], ["-P", "-c", ""], ["-P", "nonobot"]]
)
def test_a_python_that_may_import_another_nonobot_gets_no_trusted_warm_up(arguments, ran):
    Path("nonobot.py").write_text(f"open({str(ran)!r}, 'w')\n")
    result = not_started(SET, Bot("a", [sys.executable, *arguments]), Configuration(), "not now")
    assert "-m nonobot" not in [file.name for file in result.program_files or ()]
    assert not ran.exists()


def test_ctrl_c_ends_the_reading_of_a_long_journal(tmp_path):
    result = played("perfect", tmp_path)
    path = tmp_path / "long.journal.jsonl"
    lines = [msgspec.json.encode(record) + b"\n" for record in records_of(result)]
    path.write_bytes(content := b"".join(lines[:2]) + lines[2] * 1000)
    with Interrupts() as interrupts:
        with Journal(path) as journal:
            records = journal.records
        assert len(records) == 1002
        interrupts.stop_requested = True
        with pytest.raises(KeyboardInterrupt):
            Journal(path)
        run = RunState(result, SET, tmp_path / "long.json", journal, interrupts, lambda *_: None, NOTHING_MORE)
        with pytest.raises(KeyboardInterrupt):
            run.replay(records)
    assert path.read_bytes() == content


@pytest.mark.slow
def test_workers_import_nothing_of_the_working_folder(tmp_path, ran):
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    path = definition(tmp_path, {"good": "perfect"})
    for name in ("multiprocessing", "distributed", "pickle", "tornado", "psutil"):
        (tmp_path / f"{name}.py").write_text(f"open({str(ran)!r}, 'w')\n")
    command = [str(Path(sys.executable).with_name("nonojudge")), "tournament", str(path), "--on", "local:1"]
    scratch = tmp_path / "temporary" / "dask-scratch-space"  # perhaps another user's
    scratch.mkdir(parents=True)
    done = subprocess.run(command, env=os.environ | {"TMPDIR": str(scratch.parent)}, **CAPTURED)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert not ran.exists()
    assert not [*scratch.iterdir()]


@pytest.mark.parametrize("text", ["opt: 0\ndisable_jit: 1\ncpu_name: 5", "- a list"])
def test_a_numba_configuration_in_the_working_folder_is_ignored(tmp_path, text):
    pytest.importorskip("yaml", reason="without it, numba reads no such file")
    (tmp_path / ".numba_config.yaml").write_text(text)
    code = "from nonobot.bot.kernels import loading; assert not loading._change_in_numba(); import os, numba; "
    code += "print(int(numba.config.OPT), numba.config.DISABLE_JIT, os.getcwd())"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(HOME)}, **CAPTURED)
    assert (done.stdout, done.stderr) == (f"3 0 {tmp_path.resolve()}\n", "")


def test_programs_in_relative_path_folders_are_never_run(tmp_path, ran):
    """Such as an empty one in `PATH=$PATH:`, where a program is not installed."""
    for name in ("bwrap", "git", "fc-list"):
        program(tmp_path / name, f"#!/bin/sh\ntouch {quoted(ran)}\n")
    judge = [sys.executable, "-P", "-m", "nonobot.harness", "run", "--set", str(RECIPE), "--", "/bin/cat"]
    for path in ("", ".", f":.:{os.environ['PATH']}"):
        done = subprocess.run(judge, env=os.environ | {"PATH": path}, **CAPTURED)
        assert (done.returncode, "Traceback" in done.stderr, ran.exists()) == (1, False, False), path


def warm_up_writes(bot_folder, *paths):
    """Return what the warm-up of a bot that names a folder may do with some paths."""
    return seen(Sandbox(prepares=True).mounts(["sh", str(bot_folder)]), *paths)


def test_no_warm_up_can_write_files_that_the_judge_runs_or_trusts(tmp_path, monkeypatch):
    library = Path(pytest.__file__).parents[1]
    programs = tmp_path / "programs"
    (programs / "of").mkdir(parents=True)
    (tmp_path / "clone/.git/hooks").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(programs / "of"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(site, "USER_SITE", str(tmp_path / "home/.local/lib/python3/site-packages"))
    for name in (".config/git", ".local/lib/python3/site-packages", ".cache/nonobot/kernels", "bots/.mine"):
        (tmp_path / "home" / name).mkdir(parents=True)
    monkeypatch.setenv("NONOBOT_CACHE_DIR", str(tmp_path / "elsewhere"))
    kernel_cache().mkdir()
    home, elsewhere = tmp_path / "home", tmp_path / "configuration"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(elsewhere))
    for folder in (home / ".config/dask/later", home / "bin/of", home / "bots/bin", elsewhere / "git"):
        folder.mkdir(parents=True)
    for folder in (
        *(library, library / "pytest", library.parent, Path(sys.prefix), Path(sys.executable).parent),
        *(HOME / "nonobot", HOME / "harness", HOME, Path(json.__file__).parent),
        *(programs, programs / "of", tmp_path / "clone/.git", tmp_path / "clone/.git/hooks"),
        *(home / ".config", home / ".local", home / ".local/lib", home / ".local/lib/python3/site-packages"),
        *(home / ".cache", user_cache(), user_cache() / "kernels", kernel_cache()),
        *(home / ".config/git", home / ".config/dask/later", home / "bin", home / "bin/of", elsewhere / "git"),
    ):
        assert "write" not in warm_up_writes(folder, folder), folder
    for folder in (home / "bots", home / "bots/.mine", home / "bots/bin", tmp_path / "clone"):
        assert warm_up_writes(folder, folder) == ["write"], folder
    assert warm_up_writes(tmp_path / "clone", tmp_path / "clone/.git/hooks") == ["read"]
    for folder in (temporary_cache(), place_of_workers()):
        folder.mkdir(mode=0o700, exist_ok=True)
        assert "write" not in warm_up_writes(folder, folder)


def test_a_relative_xdg_cache_home_is_ignored(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("cache", "./cache", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", name)  # the specification says to ignore relative paths
        assert user_cache() == tmp_path / ".cache" / "nonobot"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert user_cache() == tmp_path / "cache" / "nonobot"


# Not even root writes there.
WRITABLE = 'for path; do if test -w "$path"; then echo "writable: $path" >&2; fi; done'


@sandbox_only
def test_a_sandboxed_warm_up_cannot_write_trusted_folders_in_its_command(tmp_path, monkeypatch, capfd):
    bots = tmp_path / "bots"
    made(bots)
    monkeypatch.setenv("NONOBOT_CACHE_DIR", str(tmp_path / "cache"))
    kernel_cache().mkdir(mode=0o700)
    library = Path(pytest.__file__).parents[1]
    trusted = [kernel_cache(), library, library / "pytest", Path(sys.prefix), HOME / "nonobot", HOME / "bot"]
    files = [library / "pytest" / "__init__.py", Path(sys.executable).with_name("nonojudge")]
    git_data = [bots / ".git", bots / ".git" / "config", bots / ".git" / "hooks"]
    warm_up = ["sh", "-c", WRITABLE, "sh", *map(str, [*trusted, *files, *git_data])]
    assert warmed_up([*warm_up, str(bots / "bot")], Configuration(contain=Contain.YES)) > 0
    assert capfd.readouterr().err == f"writable: {bots}/bot\n"  # its own folder


# What a folder shows


def shows(bot, path):
    """Return whether a bot sees a path."""
    return seen(Sandbox().mounts(bot), path) == ["read"]


def test_links_and_first_lines_of_a_bot_reveal_no_other_folder(tmp_path):
    key, run = program(tmp_path / "secret/deep/key"), program(tmp_path / "secret/deep/run.sh")
    key.chmod(0o600)
    evil = program(tmp_path / "bots/evil/bin/bot").parent.parent
    program(evil / "code.sh")
    program(evil / "odd.sh", f"#!{run}\n")
    program(evil / "far.sh", f"#!{key}\n")
    targets = {"lib": key.parent, "share": key.parents[1], "etc": "../../secret", "to": key.parent, "up": "../.."}
    targets |= {"data": key, "bot": run}
    for name, target in targets.items():
        (evil / name).symlink_to(target)
    names = ("data", "to", "to/key", "to/run.sh", "bot", "up", "odd.sh", "far.sh")
    named = [["sh", f"bots/evil/{name}"] for name in names]
    named += [[bot[1]] for bot in named] + [[str(tmp_path / bot[1])] for bot in named]
    named += [["bots/evil/bin/bot"], ["sh", "-c", "cat bots/evil/to/key"], ["cat", f"--book={evil}/data"]]
    for bot in named:
        mounts = Sandbox().mounts([*bot, "bots/evil/code.sh"])
        assert seen(mounts, key) != ["read"], bot
        assert seen(mounts, tmp_path / "bots") != ["read"], bot
        assert not {str(evil / name) for name in targets} & {mount[-1] for mount in mounts}, bot


def test_links_of_the_user_and_to_installed_programs_are_followed(plain_path, monkeypatch):
    monkeypatch.chdir(plain_path)
    python = program(plain_path / "elsewhere/versions/3/bin/python3")
    (python.parents[1] / "lib").mkdir()
    program(plain_path / "mine/env/bin/bot", f"#!{plain_path}/mine/env/bin/python\n")
    (plain_path / "mine/env/bin/python").symlink_to(python)
    (plain_path / "mine/book").touch()
    (plain_path / "mine/now").symlink_to("book")
    for bot in (["mine/env/bin/python", "mine/book"], ["mine/env/bin/bot"], ["nice", "mine/env/bin/bot"]):
        assert shows(bot, python)
        assert shows(bot, python.parents[1] / "lib")
    (plain_path / "link").symlink_to("mine")
    assert shows(["cat", "link/now"], plain_path / "mine/book")
    assert shows(["cat", "link/now"], plain_path / "link/book")
    (plain_path / "bot").symlink_to("elsewhere/versions/3/bin/python3")
    assert shows(["./bot"], python)


@sandbox_only
def test_a_link_that_is_not_followed_is_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "here").mkdir()
    (tmp_path / "here/bot").symlink_to(program(tmp_path / "there/bot"))
    monkeypatch.chdir(tmp_path / "here")
    run = ["run", "--set", str(RECIPE), "--contain", "yes", "--quiet"]
    there = tmp_path / "there/bot"
    for bot in (["./bot"], ["sh", "./bot"]):
        assert cli.run([*run, "--", *bot]) == 2
        said = f"': ./bot is a link out of its folder; name {there} itself, or add --show {there}\n"
        assert capsys.readouterr().err.endswith(said)
    assert cli.run([*run, "--show", str(tmp_path / "there"), "--", "./bot"]) == 1
    assert cli.run([*run, "--", str(tmp_path / "there/bot")]) == 1


# Resuming


def cut_off(tmp_path, **changes):
    """Leave the journal of an interrupted run of a bot, changed by a stranger; return the run as it was."""
    run = played("hang_once_at_3", tmp_path, on_verdict=interrupt_after(2))
    (tmp_path / "solutions.txt.marker").write_text("\n")
    (tmp_path / "result.json").unlink()
    first, *others = records_of(run)
    with Journal(journal_path(tmp_path / "result.json")) as journal:
        for record in (replace(first, **changes), *others):
            journal.add(record)
    return run


def test_a_journal_cannot_change_the_command_or_the_limits_of_a_resumed_run(tmp_path, ran):
    without = {"memory_limit_bytes": None, "process_limit": None, "wall_limit_seconds": 1e9, "contain": Contain.NO}
    evil = Configuration(**without, environment={"LD_PRELOAD": "/evil.so"})
    changes = {"command": ["touch", str(ran)], "configuration": evil, "show": ["/root", "/home"], "bot": "evil"}
    changes |= {"files": FileNames("../../etc/passwd", "../out"), "hide": ["/"], "program_files": UNSET}
    run = cut_off(tmp_path, **changes)
    limits = Configuration(contain=Contain.AUTO, memory_limit_bytes=1 << 30, process_limit=50)
    result = resume(SET, Bot("mine", run.command, show=[tmp_path]), limits, tmp_path / "result.json")
    assert not ran.exists()
    assert verdicts(result) == ["right"] * 5
    assert (result.bot, result.command, result.configuration) == ("mine", run.command, limits)
    assert (result.show, result.hide, result.files) == ([str(tmp_path)], UNSET, UNSET)
    assert "LD_PRELOAD" not in result.environment
    assert result.attempts[-1].sandboxed is (working_options()[0] is not None)


def test_the_files_that_a_journal_names_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    run = cut_off(tmp_path)
    [first, *_] = records_of(run)
    [file] = first.program_files[:1]
    (tmp_path / "result.journal.jsonl").unlink()
    names = ["/dev/zero", "/proc/kcore", str(tmp_path / "pipe"), "/etc/passwd"]
    changed = [replace(file, name=name, sha256="0" * 64) for name in names]
    write_json(tmp_path / "result.json", replace(run, program_files=[*first.program_files, *changed]))
    result = resume(SET, Bot(run.bot, run.command), run.configuration, tmp_path / "result.json")
    assert [file.name for file in result.program_files] == [file.name for file in first.program_files]


def test_no_text_of_the_target_of_a_linked_stderr_file_is_shown(tmp_path, capsys):
    run = cut_off(tmp_path, stderr_file="result.stderr.txt", stderr_bytes=6)
    (tmp_path / "key").write_text("secret\n")
    (tmp_path / "result.stderr.txt").symlink_to("key")
    own = ["--name", run.bot, "--contain", "no", "--time-limit", "20", "--stall-limit", "0", "--core", "any"]
    assert resumed(*own, "--process-limit", "0", "--", *run.command) == 0
    assert last_line_of(tmp_path / "result.stderr.txt") == ""
    assert "secret" not in str(capsys.readouterr())


def test_a_folder_in_place_of_the_stderr_file_is_an_error_and_leaves_no_journal(tmp_path, capsys):
    (tmp_path / "result.stderr.txt").mkdir()
    assert cli.run(["run", "--quiet", "--set", str(RECIPE), "--result", "result.json", "--", "true"]) == 2
    assert capsys.readouterr().err == "nonojudge: cannot write result.stderr.txt: Is a directory\n"
    assert [path.name for path in tmp_path.iterdir()] == ["result.stderr.txt"]


def resumed(*arguments):
    return cli.run(["run", "--quiet", "--set", str(RECIPE), "--resume", "result.json", *arguments])


def test_a_run_is_resumed_by_its_own_command_and_options_alone(tmp_path, ran, capsys):
    run = cut_off(tmp_path, command=["touch", str(ran)], show=[str(tmp_path)])
    own = ["--name", run.bot, "--contain", "no", "--time-limit", "20", "--stall-limit", "0", "--core", "any"]
    own += ["--process-limit", "0"]
    assert resumed() == 2
    assert resumed(*own) == 2
    assert resumed(*own, "--show", str(tmp_path), "--", *run.command) == 2
    assert not ran.exists()
    err = capsys.readouterr().err.splitlines()
    said = "nonojudge: result.json: this run began under other conditions; give its command and options again: "
    assert [line.startswith(said) for line in err] == [True, True, True]
    now = shlex.join([sys.executable, "-P", "-m", "nonobot", "--size", "5x5"])
    assert f"command touch {quoted(ran)}, now {now}; " in err[1]
    assert f"shown files {quoted(tmp_path)}, now none" in err[1]
    (tmp_path / "result.journal.jsonl").unlink()
    write_json(tmp_path / "result.json", run)
    assert resumed(*own, "--contain", "auto", "--", *run.command) == 2
    assert "options again: sandbox requested no, now auto\n" in capsys.readouterr().err
    assert resumed(*own, "--result", "other.json", "--", *run.command) == 2
    assert resumed(*own, "--result", "result.json", "--force", "--", *run.command) == 0
    assert verdicts(read_result(tmp_path / "result.json")) == ["right"] * 5


def test_the_run_of_a_replaced_bot_is_not_resumed(tmp_path):
    run = cut_off(tmp_path)
    (script := tmp_path / "bot.sh").write_text("exit\n")
    [first, *_] = records_of(run)
    bot = Bot("a", ["sh", str(script)])
    file = replace(first.program_files[0], name=str(script))
    (tmp_path / "result.journal.jsonl").unlink()
    write_json(tmp_path / "result.json", replace(run, program_files=[file]))
    with pytest.raises(UnusableError, match=r"the bot was replaced after this run began \(.*bot\.sh\)"):
        resume(SET, bot, run.configuration, tmp_path / "result.json")


def test_a_resumed_run_follows_the_current_tournament_file_and_lists_changes(tmp_path, ran, capsys):
    path = definition(tmp_path, {"good": "perfect"})  # without a sandbox
    entry = Path("results/small/boardgen-5x5x5-seed-3--good.json")
    assert cli.run(["tournament", str(path)]) == 0
    beginning, *_ = records_of(read_result(entry))
    for option, said, change in (
        ("yes", "sandbox requested no, now yes", {}),
        ("no", f"shown files {quoted(tmp_path)}, now none", {"show": [str(tmp_path)]}),
        ("no", f"command touch {quoted(ran)}, now ", {"command": ["touch", str(ran)]}),
    ):
        entry.unlink(missing_ok=True)
        with Journal(journal_path(entry)) as journal:
            journal.add(replace(beginning, **change))
        assert cli.run(["tournament", str(path), "--contain", option]) == 2
        assert f"played under other conditions: {said}" in capsys.readouterr().err
        journal_path(entry).unlink()
    assert not ran.exists()


@sandbox_only
def test_a_path_shown_only_in_a_journal_stays_hidden(tmp_path):
    (secret := tmp_path / "secret" / "file").parent.mkdir()
    secret.write_text("x")
    run = cut_off(tmp_path, show=[str(secret.parent)])
    bot = Bot(run.bot, ["sh", "-c", f"cat {quoted(secret.parent)}/fi*"])
    result = resume(SET, bot, Configuration(contain=Contain.YES), tmp_path / "result.json")
    assert result.attempts[-1].sandboxed is True
    assert "No such file" in (tmp_path / "result.stderr.txt").read_text()


def test_the_set_name_in_a_result_is_not_opened_on_resume(tmp_path, capsys):
    facts = not_started(SET, Bot("a", ["true"]), Configuration(), "not now").set
    run = cut_off(tmp_path, set=replace(facts, name="/dev/zero"))
    assert cli.run(["run", "--resume", "result.json", "--quiet", "--", *run.command]) == 2
    assert "set /dev/zero (5 of 5x5, " in capsys.readouterr().err


def test_a_damaged_git_folder_stops_no_command(tmp_path, monkeypatch):
    (tmp_path / ".git").write_text("gitdir: .git\n")
    assert revision_of(["./bot"]) is None
    run = ["run", "--set", str(RECIPE), "--contain", "no", "--quiet"]
    assert cli.run([*run, "--", *command("perfect", tmp_path)]) == 0
