"""What a sandboxed bot sees and writes, from the list of mounts alone, and the files that its command names."""

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from nonobot.harness import cli
from nonobot.harness.cluster.run_queue import needed
from nonobot.harness.play.match import files_of_sets
from nonobot.harness.process import bot_command, sandbox
from nonobot.harness.process.bot_command import folders_of, named_by, own_files, prefixes_of
from nonobot.harness.process.bot_files import bot_files, files_named
from nonobot.harness.process.nonobot_command import OWN_BOT
from nonobot.harness.process.paths import is_in
from nonobot.harness.process.sandbox import Sandbox
from nonobot.system import kernel_cache
from nonobot.tournament_data.sets import file_of
from tests.helpers.judged import RECIPE, program

pytestmark = pytest.mark.usefixtures("own_folder")

STATES = {"--ro-bind": "read", "--ro-bind-try": "read", "--tmpfs": "empty", "--bind": "write", "--dev": "read"}


@pytest.fixture(autouse=True)
def _programs_of_the_system(monkeypatch):
    """Find programs in the system's folders, wherever else a user may have some."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return a folder of bots, and of an empty home, in which the judge works."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NONOBOT_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    files = ("home/secret", "bots/mine/bot.py", "bots/mine/data", "bots/other.py", "bots/results/set/run.json")
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for path in tmp_path.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def seen(mounts, *paths):
    """Return what a bot may do with each path: what was mounted last over it says so."""
    states = []
    for path in paths:
        state = "absent"
        for mount in mounts:
            option, *where = mount[-2:] if "--tmpfs" in mount else mount
            if option in STATES and is_in(Path(path), Path(where[-1])):
                state = "covered" if where[0] == "/dev/null" else STATES[option]
        states.append(state)
    return states


def bot(path):
    return ["python3", str(path)]


def hiding(folder, **more):
    return Sandbox(hide=(folder / "bots/other.py",), results=(folder / "bots/results",), **more)


def test_the_sandbox_shows_files_of_the_command_and_hides_the_rest_of_home(here):
    mounts = Sandbox().mounts(bot("bots/mine/bot.py"))
    paths = [here / name for name in ("bots/mine/bot.py", "bots/other.py", "home/secret")]
    assert seen(mounts, *paths, "/usr/lib", here) == ["read", "empty", "empty", "read", "empty"]
    assert mounts[-2:] == [("--remount-ro", "/"), ("--chdir", str(here))]


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no folder in memory")
def test_a_bot_below_dev_shm_is_shown_in_its_sandbox(here):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        (script := Path(folder, "bot.py")).touch()
        mounts = Sandbox().mounts(bot(script))
        assert seen(mounts, script, "/dev/shm/other", "/dev/null") == ["read", "empty", "read"]
        assert str(script) in files_named([bot(script)])
        assert str(script) in [file.name for file in bot_files([bot(script)])]


def test_later_mounts_do_not_reveal_hidden_folders(here):
    view = hiding(here, prepares=True)
    mounts = view.mounts(["sh", "bots", "bots/mine/bot.py"])
    assert seen(mounts, here / "bots/results/set/run.json", here / "bots") == ["empty", "read"]
    assert seen(view.mounts(bot("bots/mine/bot.py")), here / "bots/mine/data") == ["write"]
    shows = hiding(here, show=(here / "bots",), prepares=True).mounts(["true"])  # wins over bots, not over results
    paths = [here / "bots" / name for name in ("other.py", "results", "mine/data")]
    assert seen(shows, *paths) == ["read", "empty", "read"]


def test_no_bot_writes_kernels(here):
    kernel_cache().mkdir(parents=True, exist_ok=True)
    for command in (
        bot("bots/mine/bot.py"),
        bot(kernel_cache()),
        [*OWN_BOT, "--warm-up"],
        [sys.executable, "-m", "nonobot", "--warm-up"],
        [str(Path(sys.executable).with_name("nonobot")), "--warm-up"],
    ):
        for prepares in (False, True):
            assert seen(Sandbox(prepares=prepares).mounts(command), kernel_cache()) == ["read"]


def test_a_warm_up_works_with_an_unwritable_home_folder(here, monkeypatch):
    monkeypatch.setenv("HOME", str(here / "home/secret"))  # a file: not even root can make a folder in it
    assert Sandbox(prepares=True).mounts([*OWN_BOT, "--warm-up"])


@pytest.mark.parametrize("own", ["home/.cache/nonobot/kernels", "home/.cache"])
def test_a_bot_inside_the_kernel_cache_cannot_write_it(here, own):
    for folder in (here / own, kernel_cache()):
        folder.mkdir(parents=True, exist_ok=True)
    (here / own / "bot.py").touch()
    assert seen(Sandbox(prepares=True).mounts(bot(here / own / "bot.py")), here / own) == ["read"]


def test_other_bots_and_results_below_system_folders_are_hidden(here, monkeypatch):
    for module in (bot_command, sandbox):
        monkeypatch.setattr(module, "SYSTEM", (here / "bots", Path("/usr")))
    monkeypatch.setattr(bot_command, "OPT", here / "bots")
    others = tuple(named_by(bot("bots/other.py")))
    assert here / "bots/other.py" in others
    view = Sandbox(hide=others, results=(here / "bots/results",))
    paths = [here / name for name in ("bots/mine/data", "bots/other.py", "bots/results/set/run.json")]
    assert seen(view.mounts(bot("bots/mine/bot.py")), *paths, "/usr") == ["read", "covered", "empty", "read"]


def test_a_hidden_file_is_covered_under_every_name_of_its_folder(here):
    (here / "link").symlink_to("bots")
    (here / "bots/bot.py").touch()
    mounts = hiding(here, prepares=True).mounts(bot("link/bot.py"))
    for folder in (here / "link", here / "bots"):
        paths = (folder / name for name in ("bot.py", "other.py", "results"))
        assert seen(mounts, *paths) == ["read", "covered", "empty"]
    view = Sandbox(hide=(here / "bots/gone",), results=(here / "bots/results", here / "bots/results/set"))
    mounts = view.mounts(["python3", "bots/other.py"])
    covers = [mount[-1] for mount in mounts if "--tmpfs" in mount]
    assert covers[-1] == str(here / "bots/results")


def test_results_in_the_folder_of_a_bot_are_hidden_one_by_one(here):
    (here / "bots/results/bot.py").touch()
    for name, kind in (("today.json", "run"), ("set/run.json", "verify")):
        (here / "bots/results" / name).write_text(f'{{"kind": "{kind}"}}')
    (here / "bots/results/weights.json").write_text("{}")
    (here / "bots/results/.playing").touch()
    mounts = Sandbox(results=(here / "bots/results",)).mounts(bot("bots/results/bot.py"))
    paths = [here / "bots/results" / name for name in ("today.json", "set/run.json", ".playing", "weights.json")]
    assert seen(mounts, *paths) == ["covered", "covered", "covered", "read"]


def test_a_link_with_the_name_of_a_result_stops_no_run(here):
    """Bubblewrap covers no link."""
    for name in ("x.stderr.txt", "x.journal.jsonl", "x.json"):
        (here / "bots/mine" / name).symlink_to("/etc/passwd")
    mounts = Sandbox().mounts(bot("bots/mine/bot.py"))
    assert not any(part.startswith(str(here / "bots/mine/x")) for mount in mounts for part in mount)


@pytest.mark.parametrize("name", ["{}.json", "{}/run.json", "weeks/{}/set/run.json"])
def test_many_results_beside_a_bot_are_hidden_by_one_mount(here, name):
    (here / "bots/mine/link").symlink_to("bot.py")
    before = Sandbox().mounts(bot("bots/mine/bot.py"))
    mine = here / "bots/mine"
    for number in range(100):
        result = mine / name.format(number)
        result.parent.mkdir(parents=True, exist_ok=True)
        result.write_text('{"kind": "run"}')
    mounts = Sandbox().mounts(bot("bots/mine/bot.py"))
    assert seen(mounts, mine / name.format(7), mine / "bot.py") == ["empty", "read"]
    emptied = mine if name[0] == "{" else mine / "weeks"
    assert ("--remount-ro", str(emptied)) in mounts
    assert (("--symlink", "bot.py", str(mine / "link")) in mounts) == (emptied == mine)
    assert len(mounts) < len(before) + 10


@pytest.mark.parametrize("folder", ["/", "/tmp", "/dev/shm", "/usr", "/proc"])
def test_an_existing_working_folder_is_not_covered(folder, monkeypatch):
    monkeypatch.chdir(folder)
    mounts = Sandbox().mounts(["true"])
    assert ("--dir", folder) in mounts
    assert mounts.count(("--tmpfs", folder)) == (folder in ("/tmp", "/dev/shm"))
    assert ("--remount-ro", folder) not in mounts[:-2]
    assert mounts[-1] == ("--chdir", folder)


def test_files_readable_only_by_root_are_hidden_when_root_runs_bots(here, monkeypatch):
    (here / "secret/in").mkdir(parents=True)
    here.chmod(0o755)
    for name, mode in {"secret": 0o750, "bots/other.py": 0o600, "bots/mine/data": 0o640}.items():
        (here / name).chmod(mode)
    (here / "bots/nowhere").symlink_to("gone")
    (here / "root/proc/9").mkdir(parents=True)  # stands for another mount of /proc
    monkeypatch.setattr(sandbox, "KERNEL_FOLDERS", (here / "root/proc", here / "gone"))
    monkeypatch.setattr(sandbox, "ROOTS_FILES", (str(here), str(here / "gone")))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    sandbox._of_root_alone.cache_clear()
    alone = {here / "secret", here / "bots/other.py", here / "bots/mine/data"}
    assert {*sandbox._of_root_alone()} == alone | {here / "root/proc"}
    mounts = Sandbox().mounts(["true"])
    assert ("--ro-bind", "/dev/null", str(here / "bots/other.py")) in mounts
    assert mounts.index(("--tmpfs", str(here / "secret"))) < mounts.index(("--remount-ro", str(here / "secret")))
    assert seen(Sandbox().mounts(bot("bots/mine/bot.py")), here / "bots/mine/data") == ["read"]
    (here / "bots/other.py").unlink()  # between two starts
    assert ("--ro-bind", "/dev/null", str(here / "bots/other.py")) not in Sandbox().mounts(["true"])
    monkeypatch.setattr(sandbox, "MOST_LOOKED_AT", 1)
    sandbox._of_root_alone.cache_clear()
    assert {*sandbox._of_root_alone()} == {here / "secret"}
    sandbox._of_root_alone.cache_clear()


# The files that a command names, and what belongs to them


def test_only_existing_files_named_in_the_command_are_shown(tmp_path, plain_path):
    for name in ("bot.py", "book", "weights"):
        (tmp_path / name).touch()
    command = [sys.executable, "bot.py", "--book=book", "25x25", "\0", "x" * 5000, "cat weights; true", "/etc"]
    named = [path for path in named_by(command) if tmp_path in path.parents]
    assert [path.name for path in dict.fromkeys(named)] == ["bot.py", "book", "weights"]
    assert Path("/etc") not in named
    first, second = (plain_path / name for name in ("one", "other"))
    for script, interpreter in ((first, second), (second, first)):
        program(script, f"#!{interpreter}\n")
    assert {first, second} <= set(named_by([str(first)]))


@pytest.mark.parametrize(
    ("where", "more"), [("its/bin", {"share", "pyvenv.cfg"}), ("home/bin", set()), ("home/.local/bin", set())]
)
def test_a_program_in_bin_gets_its_sibling_folders_but_in_home_only_libraries(tmp_path, monkeypatch, where, more):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    bot = str(program(tmp_path / where / "bot"))
    for name in ("lib", "lib64", "share", "other", ".secret", "pyvenv.cfg"):
        (tmp_path / where).with_name(name).mkdir()
    assert {path.name for path in prefixes_of([bot])} == {"bin", "lib", "lib64"} | more
    assert [*folders_of([bot])] == []


@pytest.mark.parametrize("before", [["env", "A=b"], ["nice", "-n", "5"], ["sh", "-c"]])
def test_folders_of_a_launched_program_and_of_its_interpreter_are_shown(plain_path, before):
    interpreter = program(plain_path / "its" / "bin" / "python")
    (plain_path / "its" / "lib").mkdir()
    bot = str(program(plain_path / "bot" / "bin" / "bot", f"#!{interpreter}\n"))
    prefixes = {path.relative_to(plain_path).as_posix() for path in prefixes_of([*before, bot])}
    assert prefixes == {"its/bin", "its/lib", "bot/bin"}
    assert [*folders_of([*before, bot])] == []  # a warm-up writes in those


def test_home_is_recognised_under_each_of_its_paths(tmp_path, monkeypatch):
    (tmp_path / "real" / "home").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setenv("HOME", str(tmp_path / "link" / "home"))
    bot = str(program(tmp_path / "real" / "home" / "bot"))
    assert [*folders_of([bot])] == [Path(bot)] * 2
    assert [*named_by(["cat", str(tmp_path / "real" / "home")])] == []


def test_workers_must_have_the_files_and_the_interpreter_of_a_command(tmp_path):
    bot = str(program(tmp_path / "bot", "#!/usr/bin/env python3\n"))
    (tmp_path / "book").touch()
    todo = [SimpleNamespace(programs=[[bot, "book", "x" * 5000, "\0", "", str(tmp_path)], []])]
    assert needed(todo).args == ((bot, "python3", "./book"),)


# What the judge knows to be secret, in the bot's own folder


def test_sets_are_hidden_in_a_bots_folder_unless_its_command_names_them(here):
    (here / "bots/mine/sets").mkdir()
    for name in ("questions.txt", "sets/later.txt"):
        (here / "bots/mine" / name).touch()
    files = here / "bots/mine/questions.txt", here / "bots/mine/sets/later.txt"
    view = Sandbox(secret=files, show=(here / "bots",))
    assert seen(view.mounts(bot("bots/mine/bot.py")), *files) == ["covered", "covered"]
    assert seen(view.mounts([*bot("bots/mine/bot.py"), str(files[0])]), *files) == ["read", "covered"]
    assert seen(replace(view, show=(files[1],)).mounts(bot("bots/mine/bot.py")), *files) == ["covered", "read"]


def test_sets_and_results_stay_hidden_from_a_warm_up_that_may_write(here):
    files = [
        here / "bots/mine" / name for name in ("questions.txt", "old/today.json", "deep/down/in/x.stderr.txt")
    ]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('{"kind": "run"}')
    mounts = Sandbox(secret=(files[0],), prepares=True).mounts(bot("bots/mine/bot.py"))
    assert seen(mounts, *files, here / "bots/mine/data") == ["covered", "covered", "covered", "write"]


def test_the_file_of_a_set_name_is_found_unless_it_is_generated(here):
    assert file_of("boardgen:5x5x5:seed=1@2/3") is None
    assert file_of("q.txt@2/3@1/2") == Path("q.txt")
    (here / "q.txt@2").mkdir()
    (here / "q.txt@2/3").touch()
    assert file_of("q.txt@2/3") == Path("q.txt@2/3")
    assert file_of("taai2011").name == "taai2011.txt"
    assert {*files_of_sets(["q.txt", "boardgen:5x5x5:seed=1"])} > {Path("q.txt"), file_of("taai2011")}


@pytest.mark.parametrize("command", [["./circle"], ["sh", "circle"]])
def test_circular_links_cannot_be_started_and_do_not_crash_the_judge(tmp_path, output_of, command):
    Path("circle").symlink_to("round")
    Path("round").symlink_to("circle")
    result = ["--result", str(tmp_path / "result.json")]
    status = 2 if command == ["./circle"] else 1
    said = output_of(cli.run, ["run", "--set", str(RECIPE), "--quiet", *result, "--", *command], status=status)
    assert ("cannot start './circle'" in said.err) is (status == 2)


def test_the_number_of_neighbour_folders_of_a_program_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(bot_command, "MOST_NEIGHBOURS", 3)
    script = program(tmp_path / "app/bin/bot")
    for number in range(5):
        (tmp_path / f"app/lib{number or ''}").mkdir()
    found = {path.name for path in prefixes_of([str(script)])}
    assert found == {"bin", "lib", "lib1", "lib2"}


def test_an_interpreter_named_in_a_first_line_is_not_hidden_from_other_bots(tmp_path, plain_path):
    engine = tmp_path / "tools/bin/engine"
    bots = [tmp_path / "eve/bot", tmp_path / "tools/bin/bob"]
    for script in (engine, *bots):
        program(script, f"#!{engine}\n")
    assert {*own_files([str(bots[0])])} == {bots[0]}
    assert {*own_files([str(bots[1])])} == {bots[1]}
