"""The sandbox around bots: what a bot sees and does in it, and that its ends are told as without it."""

import errno
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import psutil
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from nonobot.harness import StartError, UnusableError, cli
from nonobot.harness.check.sandbox_trials import (
    CALLS,
    CORE,
    ENDED,
    GONE,
    SCRATCH,
    TRIALS,
    UNPRIVILEGED,
    tried_sandbox,
)
from nonobot.harness.play.journal import journal_path, read_records
from nonobot.harness.play.match import Bot, WarmUpError, play, warmed_up
from nonobot.harness.play.run_events import AttemptStarted
from nonobot.harness.process import bot_process, system_calls
from nonobot.harness.process import sandbox as sandbox_module
from nonobot.harness.process.access import Access
from nonobot.harness.process.bot_files import scratch_folder
from nonobot.harness.process.bot_process import NOTHING_MORE, BotProcess, LastWords, sandbox_note
from nonobot.harness.process.nonobot_command import OWN_BOT, OWN_JUDGE
from nonobot.harness.process.process_tree import ProcessTree
from nonobot.harness.process.sandbox import Sandbox, built_sandbox
from nonobot.harness.process.system_calls import KEYCTL, filter_program
from nonobot.harness.results.conditions import Configuration, Contain, FileNames
from nonobot.harness.results.result_files import read_result
from nonobot.harness.results.run_result import EndReason
from nonobot.harness.results.worth import worth
from tests.helpers.judged import RECIPE, SET, command, pids_with, played, program, verdicts
from tests.helpers.places import quoted, unfilled
from tests.helpers.sandboxes import any_sandbox, no_sandbox, sandbox_only
from tests.helpers.waiting import next_line, running, wait_until

pytestmark = pytest.mark.usefixtures("own_folder", "short_look")


IN_SANDBOX = Configuration(contain=Contain.YES)


def said_by(bot_command, access=NOTHING_MORE, **limits):
    output = b""
    with BotProcess(bot_command, LastWords(), replace(IN_SANDBOX, **limits), access) as bot:
        bot.send(b"", last=True)
        until = time.monotonic() + 60
        while not bot.exited and time.monotonic() < until:
            output += bot.read(until)
        output += bot.read(0.0)
    return output.decode()


def shell(line, **access):
    return said_by(["sh", "-c", line], Access(**access))


def broken():
    """Return the claims that do not hold in a sandbox, as far as this machine can provide them."""
    breaches, _ = tried_sandbox(Contain.YES)
    assert [*breaches] == [*TRIALS]
    if not filter_program():
        breaches.pop(CALLS)
    return {claim: breach for claim, breach in breaches.items() if breach}


@sandbox_only
@pytest.mark.parametrize("folder", ["/tmp", pytest.param("/", marks=pytest.mark.slow)])
def test_the_sandbox_blocks_every_tried_breach(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert broken() == {}


@sandbox_only
def test_a_bot_that_leaves_its_core_is_moved_back_without_a_cgroup(monkeypatch):
    monkeypatch.setattr(bot_process, "made_group", lambda *_: None)
    assert broken() == {}


@pytest.fixture
def in_memory(request, monkeypatch):
    """Return a folder that has a name in a bot's scratch, as the home, the caches' and that of temporary files."""
    with tempfile.TemporaryDirectory(dir=request.param) as folder:
        (kernels := Path(folder, "home/cache/nonobot")).mkdir(parents=True)
        for name in ("HOME", "TMPDIR"):
            monkeypatch.setenv(name, folder)
        for name in ("NONOBOT_CACHE_DIR", "XDG_CACHE_HOME"):
            monkeypatch.setenv(name, str(kernels))
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


slow_places = [pytest.param(folder, marks=pytest.mark.slow) for folder in ("/var/tmp", "/dev/shm")]


@sandbox_only
@pytest.mark.parametrize("in_memory", ["/tmp", *slow_places], indirect=True)
def test_the_sandbox_blocks_every_breach_with_homes_below_the_temporary_folder(in_memory, monkeypatch):
    for home, here in product(("", "home"), ("", "home", "/usr")):
        monkeypatch.setenv("HOME", str(in_memory / home))
        monkeypatch.chdir(in_memory / here)
        assert broken() == {}, (home, here)


@sandbox_only
@pytest.mark.parametrize("in_memory", ["/tmp"], indirect=True)
def test_a_writable_home_below_the_temporary_folder_is_reported(in_memory, monkeypatch):
    leaky = built_sandbox(IN_SANDBOX, Access(writable=(in_memory / "home",)))
    monkeypatch.setenv("HOME", str(in_memory / "home"))
    monkeypatch.setattr(bot_process, "built_sandbox", lambda *_: leaky)
    assert broken()[GONE].startswith(f"left {in_memory}/home/")


def test_the_trial_reports_breaches_without_a_sandbox():
    broken = {claim for claim, breach in tried_sandbox(Contain.NO)[0].items() if breach}
    of_the_machine = {SCRATCH, UNPRIVILEGED, CALLS, CORE, ENDED, "it has no environment of the judge's"}
    assert {*TRIALS} - of_the_machine <= broken


@sandbox_only
def test_a_working_folder_among_hidden_results_exists_and_is_empty(tmp_path, monkeypatch):
    for name in ("shown/results/here", "shown/results/run"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "shown/results/here")
    places = {"show": (tmp_path / "shown",), "results": (tmp_path / "shown/results",)}
    assert shell('ls; ls "${PWD%/*}"; echo x > file; cat file', **places) == "here\n"


@sandbox_only
@pytest.mark.parametrize("show", ["../data", "link", "chain", "sub/../../data", "away/..", "{}/here/../data"])
def test_relative_and_absolute_paths_show_the_same_files(tmp_path, monkeypatch, show):
    for folder in ("here/sub", "data/sub", "other"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "data/file").write_text("read\n")
    show = show.replace("{}", str(tmp_path))
    named = [f"{show}/file", "../data/file", f"{tmp_path}/data/file"]
    (bot := tmp_path / "here/bot").write_text(f"cat {shlex.join(named)}\n")
    (tmp_path / "here/link").symlink_to("../data")
    (tmp_path / "here/chain").symlink_to("../other/link")
    (tmp_path / "other/link").symlink_to(tmp_path / "data")
    (tmp_path / "here/away").symlink_to("../data/sub")
    monkeypatch.chdir(tmp_path / "here")
    assert said_by(["sh", bot.name], Access(show=(Path(show),))) == "read\n" * 3
    assert said_by(["sh", bot.name], environment={"PYTHONPATH": "../data"}).endswith("read\n" * 2)


@sandbox_only
def test_scratch_is_a_temporary_home_or_the_given_folder(tmp_path):
    assert shell('echo $HOME $TMPDIR; cd; echo x > file; cat file; echo x > "$OLDPWD/file"') == "/tmp /tmp\nx\n"
    assert not (tmp_path / "file").exists()
    with scratch_folder() as folder:
        line, words = 'echo x > file; echo y > "$TMPDIR/file"; cat file', LastWords()
        exchange = (folder, FileNames("in", "out"), SET.puzzles)
        with BotProcess(["sh", "-c", line], words, IN_SANDBOX, exchange=exchange) as bot:
            while not bot.exited:
                bot.read(time.monotonic() + 60)
        assert words.data == b"x\n"
        assert (folder / "file").read_text() == "x\n"


@any_sandbox
def test_variables_reach_the_bot_and_not_bubblewrap(tmp_path):
    own = tmp_path / "preload.so"
    own.write_text("not a library: the loader complains of it on stderr")
    given = {"LD_PRELOAD": str(own), "TMPDIR": "/dev/shm"}
    line = f'test "$LD_PRELOAD" = {quoted(own)} && echo $HOME $TMPDIR && '
    line += "tr '\\0' '\\n' < /proc/$PPID/environ"
    said = said_by(["sh", "-c", line], environment=given)
    assert said == "/tmp /dev/shm\n"  # bubblewrap's own environment is empty


@any_sandbox
def test_values_of_variables_are_on_no_command_line_and_add_no_option():
    """Every user of the machine can read command lines."""
    given = {"TOKEN": "a secret\nof two lines", "EMPTY": ""}
    limits, line = replace(IN_SANDBOX, environment=given), 'echo "${EMPTY+set}$EMPTY, $TOKEN"; exec sleep 60'
    with BotProcess(["sh", "-c", line], LastWords(), limits) as bot:
        assert bot.read(time.monotonic() + 60) == b"set, a secret\nof two lines\n"
        lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
        assert any(line in arguments for arguments in lines)
        assert not [arguments for arguments in lines if given["TOKEN"] in " ".join(arguments)]
        bot.stop(at_once=True)
    with pytest.raises(StartError, match="null byte"):
        said_by(["true"], environment={"A": "\0--bind\0/\0/"})


@sandbox_only
def test_a_warm_up_writes_in_the_bots_own_folder_and_the_bot_does_not(tmp_path):
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "bot.sh").write_text("echo x >> bot/made && cat bot/made")
    assert warmed_up(["sh", "bot/bot.sh"], IN_SANDBOX) > 0
    assert said_by(["sh", "bot/bot.sh"]) == ""
    assert (tmp_path / "bot" / "made").read_text() == "x\n"
    (tmp_path / "here.sh").write_text("echo x > made")
    with pytest.raises(WarmUpError, match=r"exited with status 2 \(a sandboxed warm-up"):
        warmed_up(["sh", "here.sh"], IN_SANDBOX)
    assert not (tmp_path / "made").exists()


@any_sandbox
def test_start_errors_are_the_same_with_and_without_a_sandbox(tmp_path):
    (tmp_path / "text").write_text("x")
    for name in ("no-such-program", "./no-such-program", "./text"):
        said = []
        for limits in (IN_SANDBOX, Configuration()):
            with pytest.raises(StartError) as error, BotProcess([name], LastWords(), limits):
                pass
            said.append(str(error.value))
        assert said[0] == said[1]


@sandbox_only
def test_a_missing_interpreter_of_an_interpreter_is_a_start_error(plain_path, monkeypatch, capsys):
    monkeypatch.chdir(plain_path)
    for name, interpreter in (("odd", plain_path / "inner"), ("inner", "/no/such/interpreter")):
        program(plain_path / name, f"#!{interpreter}\n")
    assert cli.run(["run", "--set", str(RECIPE), "--contain", "yes", "--quiet", "--", "./odd"]) == 2
    said = "cannot start './odd': bwrap: execvp ./odd: No such file or directory; docs/sandbox.md"
    assert said in capsys.readouterr().err


@sandbox_only
def test_a_command_path_into_an_unreadable_folder_is_not_an_error(tmp_path):
    (closed := tmp_path / "closed").mkdir()
    with (closed / "output").open("w+") as output:
        closed.chmod(0)
        plain = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
        judge = [*plain, *OWN_JUDGE, "run", "--set", str(RECIPE), "--contain", "yes", "--quiet"]
        bot = ["sh", "-c", "cat > /dev/null", "-", "/dev/stdout", "/proc/self/fd/1"]
        done = subprocess.run([*judge, "--", *bot], stdout=output, stderr=subprocess.PIPE, text=True)
        closed.chmod(0o700)
        output.seek(0)
        assert (done.returncode, done.stderr) == (1, "")
        assert output.read().startswith("0 of 5 right")


FORGERS = {
    "words": "echo 'bwrap: execvp odd: No such file or directory' >&2; exit 1",
    "descriptors": """
        for file in /proc/self/fd/* /proc/1/fd/* /proc/$PPID/fd/*; do
            case $file in */[012]) ;; *) printf '\\0' > $file ;; esac
        done; exit 1""",
}


@sandbox_only
@pytest.mark.parametrize("forger", FORGERS)
def test_a_bot_that_forges_a_start_error_counts_as_crashed(tmp_path, forger):
    bot = Bot("forger", ["sh", "-c", FORGERS[forger]])
    result = play(SET, bot, Configuration(contain=Contain.YES), tmp_path / "result.json")
    assert (result.end.reason, result.end.exit_status) == (EndReason.CRASHED, 1)


# System calls and keyrings

KEEPER = f"""
import ctypes, os
call, keyctl = ctypes.CDLL(None).syscall, {KEYCTL}.get(os.uname().machine)
print(call(keyctl, 10, -3, b"user", b"note", 0) >= 0, call(keyctl - 2, b"user", b"note", b"x", 1, -3) >= 0)
"""
"""Looks for a key in the session keyring, and stores it there; `add_key` is two before `keyctl`."""


@sandbox_only
@pytest.mark.skipif(os.uname().machine not in KEYCTL, reason="the numbers of the system calls")
@pytest.mark.parametrize("filtered", [False, True])
def test_a_bot_leaves_no_kernel_key_to_the_next_bot(monkeypatch, filtered):
    if filtered and not filter_program():
        pytest.skip("no libseccomp")
    if not filtered:
        monkeypatch.setattr(system_calls, "filter_program", lambda: None)
    said = [said_by([sys.executable, "-S", "-c", KEEPER]) for _ in range(2)]
    assert said[0] == said[1]
    assert said[0] in (["False False\n"] if filtered else ["False True\n", "False False\n"])  # no keyrings here


@sandbox_only
@pytest.mark.skipif(not filter_program(), reason="no libseccomp")
def test_the_result_states_whether_system_calls_were_filtered(tmp_path, monkeypatch):
    for filtered in (True, False):
        result = played("perfect", tmp_path, contain=Contain.YES)
        assert result.attempts[0].filtered is filtered
        assert ("sandbox: yes, system calls not filtered" in worth([result])[0]) is not filtered
        monkeypatch.setattr(system_calls, "filter_program", lambda: None)
    assert played("perfect", tmp_path, contain=Contain.NO).attempts[0].filtered is UNSET


@pytest.mark.skipif(not filter_program(), reason="no libseccomp")
def test_an_incomplete_system_call_filter_is_not_used(monkeypatch):
    monkeypatch.setattr(system_calls, "_GREATER", 99)  # no comparison of libseccomp
    assert filter_program.__wrapped__() is None


IN_32_BITS = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("53 b8 20 01 00 00 31 db b9 fc ff ff ff 31 d2 cd 80 5b c3"))
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
"""Asks for its user's keyring by `int 0x80`: eax 288 (keyctl), ebx 0, ecx -4, edx 0."""


@sandbox_only
@pytest.mark.skipif(os.uname().machine != "x86_64" or not filter_program(), reason="machine code; the filter")
def test_calls_in_32_bits_are_filtered_too():
    said = said_by([sys.executable, "-S", "-c", IN_32_BITS])
    assert said in (f"{-errno.EPERM}\n", "")  # a kernel for 64 bits alone ends the program


@any_sandbox
@pytest.mark.parametrize(
    ("behaviour", "end"), [("ends_with_2_in_colours", (2, None)), ("killed_at_3", (None, "SIGKILL"))]
)
def test_exit_statuses_and_signals_are_the_same_as_without_a_sandbox(tmp_path, behaviour, end):
    result = played(behaviour, tmp_path, contain=Contain.YES)
    assert (result.end.exit_status, result.end.signal) == end
    assert result.sandboxed == "yes"


@any_sandbox
def test_a_sandboxed_bot_receives_sigterm():
    code = "trap 'echo heard; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
    with BotProcess(["sh", "-c", code], LastWords(), IN_SANDBOX) as bot:
        assert bot.read(time.monotonic() + 60) == b"ready\n"
        bot.stop()
    assert bot.exit_status == 3


BY_PIP = "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''"
"""What pip writes for a Python whose path has a space, or is too long for the kernel."""


@any_sandbox
@pytest.mark.parametrize(
    "first",
    ["#!{python}", "#! {python} -S", "#!/usr/bin/env -S {python} -S", BY_PIP],
    ids=["plain", "S", "env", "pip"],
)
def test_a_script_sees_its_interpreter(tmp_path, first):
    """As that of a venv whose Python lies in somebody's home, which is not shown as such."""
    if " " in sys.executable and first != BY_PIP:
        pytest.skip("the kernel cuts a #! line at the first space")
    script = program(tmp_path / "bin" / "mybot", first.format(python=sys.executable) + "\nprint('started')\n")
    assert said_by([str(script)]) == "started\n"


@any_sandbox
def test_a_shim_finds_the_program_that_it_starts(tmp_path):
    """As pyenv's, a script that starts the version that a file beside its folder names."""
    manager = tmp_path / "manager"
    place = quoted(manager)
    for name, text in {
        "shims/mypython": f'#!/bin/sh\nexec {place}/libexec/run "$@"\n',
        "libexec/run": f'#!/bin/sh\nexec {place}/versions/$(cat {place}/version)/bin/mypython "$@"\n',
        "versions/3/bin/mypython": "#!/bin/sh\necho started\n",
    }.items():
        program(manager / name, text)
    (manager / "version").write_text("3\n")
    assert said_by([str(manager / "shims" / "mypython")]) == "started\n"


@no_sandbox
def test_a_missing_sandbox_is_noted_once_or_refused_with_contain_yes(tmp_path, output_of):
    note = sandbox_note(Contain.AUTO)
    bot = ["--set", str(RECIPE), "--result", "r.json", "--", *command("perfect", tmp_path)]
    err = output_of(cli.run, ["run", "--contain", "yes", *bot], status=2).err
    assert err.startswith("nonojudge: --contain yes: bubblewrap ")
    assert output_of(cli.run, ["run", *bot]).err.count(note) == 1
    assert read_result(tmp_path / "r.json").sandboxed == "no"
    assert note not in output_of(cli.run, ["run", "--force", "--contain", "no", *bot]).err
    assert cli.run(["check", "--contain"]) == 2


@any_sandbox
def test_bots_are_sandboxed_by_default_without_a_note(tmp_path, output_of):
    assert sandbox_note(Contain.AUTO) is None
    bot = ["--set", str(RECIPE), "--result", "r.json", "--quiet", "--", *command("perfect", tmp_path)]
    assert output_of(cli.run, ["run", *bot]).err == ""
    assert read_result(tmp_path / "r.json").sandboxed == "yes"


def test_a_bot_cannot_start_if_bubblewrap_times_out(monkeypatch):
    def wait():
        raise subprocess.TimeoutExpired(["bwrap", "--help"], 10)

    monkeypatch.setattr(sandbox_module, "_help", wait)
    monkeypatch.setattr(bot_process, "built_sandbox", lambda *_: Sandbox())
    with pytest.raises(StartError, match=r"cannot start 'true': .*timed out"):
        BotProcess(["true"], LastWords())


@any_sandbox
def test_sandbox_processes_do_not_count_against_the_process_limit():
    with BotProcess(["echo", "x"], LastWords(), replace(IN_SANDBOX, process_limit=1)) as bot:
        assert bot.read(time.monotonic() + 60) == b"x\n"
    assert bot.limit_reached() is None


@sandbox_only
def test_scratch_files_count_as_memory_without_a_cgroup(monkeypatch):
    monkeypatch.setattr(bot_process, "made_group", lambda *_: None)
    line = "for to in $HOME /dev/shm; do head -c 30000000 /dev/zero > $to/filled; done; echo; cat; df -B1 $HOME"
    limits = replace(IN_SANDBOX, memory_limit_bytes=2 << 30)
    with BotProcess(["sh", "-c", line], LastWords(), limits) as bot:
        assert bot.read(time.monotonic() + 60) == b"\n"
        bot.look()
        assert bot._tree.exceeds_memory(60_000_000)
        assert not bot._tree.exceeds_memory(75_000_000)
        bot.send(b"", last=True)
        assert str(4 << 30).encode() in bot.read(time.monotonic() + 60).split()  # more than the limit
    assert not bot.unmeasured


@sandbox_only
def test_a_disk_folder_at_the_scratch_path_does_not_count_as_memory():
    """While bubblewrap mounts scratch, the judge may see such a folder there."""
    mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--ro-bind", "/", "/tmp", "--ro-bind", "/", "/dev/shm"]
    tree = ProcessTree(in_sandbox=True)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with running(["bwrap", *mounts, "--", "sh", "-c", "echo; cat"], **pipes) as bot:
        tree.grow_from(bot.pid)
        next_line(bot)
        tree.look()
        assert 0 < tree.memory_bytes < 50_000_000
        bot.stdin.close()
    tree.close()


def test_a_missing_path_after_show_is_an_error(tmp_path):
    with pytest.raises(UnusableError, match=r"--show .*nowhere: there is no such file"):
        built_sandbox(Configuration(contain=Contain.AUTO), Access(show=(tmp_path / "nowhere",)))


def wait_for_end(*words):
    """Wait until the system has ended the processes with these words."""
    wait_until(lambda: not any(map(pids_with, words)))


@sandbox_only
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 11))])
def test_no_bot_process_survives_a_killed_judge_and_the_run_can_be_resumed(tmp_path, seed):
    solutions = command("perfect", tmp_path)[-1]
    code = f"trap '' TERM INT HUP; (setsid sh -c 'sleep 900 #{seed}' &) 2> /dev/null; "
    code += f"until test -e go; do sleep 0.01; done; cat {shlex.quote(solutions)}"
    bot = ["sh", "-c", code, f"bot-{os.getpid()}-{seed}"]
    run = ["run", "--set", str(RECIPE), "--quiet", "--contain", "yes"]
    judge = subprocess.Popen([sys.executable, "-m", "nonobot.harness", *run, "--result", "r.json", "--", *bot])
    # In its first milliseconds, until it has set up the mounts, bubblewrap itself is not bound to the judge.
    wait_until(lambda: pids_with(f"sleep 900 #{seed}"), judge)
    journal = journal_path(tmp_path / "r.json")
    wait_until(lambda: any(isinstance(record, AttemptStarted) for record in read_records(journal)), judge)
    time.sleep(random.Random(seed).uniform(0, 0.3))
    judge.send_signal(signal.SIGKILL)
    judge.wait()
    wait_for_end(bot[-1], f"sleep 900 #{seed}")
    (tmp_path / "go").touch()
    assert cli.run([*run, "--resume", "r.json", "--", *bot]) == 0
    result = read_result(tmp_path / "r.json")
    assert verdicts(result) == ["right"] * 5
    assert [attempt.end.reason.value for attempt in result.attempts] == ["interrupted", "finished"]
    cut_off, whole = result.attempts
    assert cut_off.sandboxed is True
    assert (cut_off.cgroup_measures, cut_off.filtered) == (whole.cgroup_measures, whole.filtered)
    assert result.sandboxed == "yes"


@pytest.mark.slow
@sandbox_only
@pytest.mark.usefixtures("compiled")
def test_the_bot_of_this_project_finds_its_kernels_in_a_sandbox():
    options = ["--set", str(RECIPE), "--result", "r.json", "--quiet", "--contain", "yes"]
    assert cli.run(["run", *options, "--", *OWN_BOT, "--size", "5x5"]) == 0
    assert read_result(Path("r.json")).stderr_bytes == 0  # it would say that it compiles


# What the judge knows to be secret


READS = """
import glob, sys
for name in sorted(glob.glob(f"{sys.argv[1]}/**", recursive=True)):
    try:
        print(name.removeprefix(sys.argv[1]), len(open(name).read()), file=sys.stderr)
    except OSError:
        pass
"""


@sandbox_only
@pytest.mark.parametrize("feed", ["batch", "interactive"])
def test_a_bot_beside_the_questions_cannot_read_them_nor_results_nor_other_bots(tmp_path, feed):
    folder = tmp_path / "bot"
    (folder / "other").mkdir(parents=True)
    for name in ("now.txt", "later.txt"):
        (folder / name).write_bytes(SET.text)
    (folder / "old").mkdir()
    for name in ("other/bot.sh", "other/weights", "own.txt", "old/run.json", "old/run.stderr.txt"):
        (folder / name).write_text('{"kind": "run"}')
    (folder / "bot.py").write_text(READS)
    text = f'name = "t"\nfeed = "{feed}"\ncontain = "yes"\n'
    text += f'sets = [{{set = "bot/now.txt", size = "5x5"}}, {{set = "{folder}/later.txt", size = "5x5"}}]\n'
    text += f'[[bots]]\nname = "x"\ncommand = ["{{python}}", "bot/bot.py", "{unfilled(folder)}"]\n'
    text += '[[bots]]\nname = "y"\ncommand = ["sh", "bot/other/bot.sh"]\n'
    Path("t.toml").write_text(text)
    assert cli.run(["tournament", "t.toml", "--results", "bot/results"]) == 0
    for name in ("now", "later"):
        [said] = [*folder.glob(f"results/*{name}*--x.stderr.txt")]
        lines = said.read_text().splitlines()
        assert [line for line in lines if not line.endswith(" 0")] == [f"/bot.py {len(READS)}", "/own.txt 15"]
