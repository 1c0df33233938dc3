"""Kernels as files, and what becomes of them where numba is not the one that we know."""

import ast
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from nonobot.bot.kernels import cache, loading, numba_names
from nonobot.bot.kernels.shipped import LEVELS, processor_level
from nonobot.protocol import format_answer
from tests.helpers.patched import patched_house
from tests.helpers.talking import CAPTURED, COMMAND, GOOD, GRID, Solution, batch

CHANGES = {
    "an inner name has moved": (
        "numba_names",
        "from numba.core.cpu import CPUContext",
        "from numba.core.context import CPUContext",
        "ModuleNotFoundError: No module named 'numba.core.context'",
    ),
    "kernels are made otherwise": ("object_code", '"_finalize_final_module"', '"_finish"', "AttributeError: "),
    "kernels have other parameters": (
        "object_code",
        "[True, True, *[False] * numbers]",
        "[True, *[False] * numbers]",
        "LookupError: the parameters of a kernel are ",
    ),
    "arguments come in another order": (
        "loading",
        "function(ctypes.byref(result), ctypes.byref(exception), *arguments)",
        "function(ctypes.byref(result), ctypes.byref(exception), *arguments[::-1])",
        "a call returned -0x",
    ),
}
"""A module, a line of it, its replacement as if numba were another version, and the words of the message."""

PROGRAM = """
from nonobot.bot.kernels.memory import Memory, Struct, i8
from nonobot.bot.kernels.loading import load_kernel
memory = Memory(Struct("Kept", first=i8))
subtract = load_kernel("author", "subtract", memory.struct, 2, lambda share, _: share or print("compiling"))
print(subtract(memory.address, 2**62, -7), subtract(memory.address, 5, 3), memory.view("first")[0])
"""

KERNEL = """
from nonobot.bot.kernels.compiling import kernel

@kernel
def subtract(m, first, second):
    m.first = first
    return m.first - second
"""


def started(folder, environment, program=PROGRAM, **options):
    (folder / "author.py").write_text(KERNEL)
    options |= {"cwd": folder, "env": environment, "text": True}
    done = subprocess.run([sys.executable, "-c", program], **CAPTURED, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


ANSWERS = f"{2**62 + 7} 2 5"


LOADED = "import sys\nprint(*sorted({'numba', 'llvmlite.binding'} & set(sys.modules)))"
ON_X86_64 = (platform.system(), platform.machine()) == ("Linux", "x86_64")
x86_64_only = pytest.mark.skipif(not ON_X86_64, reason="kernels are laid out and shipped for x86-64 Linux")


def test_a_kernel_is_compiled_once_and_loaded_without_numba_from_then_on(tmp_path):
    environment = patched_house(tmp_path, "kernels/loading.py")
    assert started(tmp_path, environment) == (["compiling", ANSWERS], "")
    needed = "" if ON_X86_64 else "llvmlite.binding"
    assert started(tmp_path, environment, PROGRAM + LOADED) == ([ANSWERS, needed], "")


@x86_64_only
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("strategy", ["champion", "papers"])
def test_the_bot_answers_without_them_and_without_numpy(strategy):
    command = [sys.executable, "-X", "importtime", "-m", "nonobot", "--size", "2x2", "--strategy", strategy]
    done = subprocess.run(command, input=batch(GOOD), check=True, **CAPTURED)
    assert done.stdout == format_answer(1, Solution(GRID))
    imported = {line.split("|")[-1].strip() for line in done.stderr.decode().splitlines()}
    assert "nonobot" in imported
    assert not imported & {"numpy", "numba", "llvmlite.binding"}


RUNS_NOTHING_WRITTEN = """
import ctypes, os, runpy, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):  # PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
    os._exit(77)
sys.argv = ["nonobot", "--size", "2x2"]
runpy.run_module("nonobot", run_name="__main__")
"""


@x86_64_only
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("kept", [True, False])
def test_where_no_code_may_be_made_a_line_says_so(tmp_path, kept):
    environment = os.environ | ({} if kept else {"NONOBOT_CACHE_DIR": str(tmp_path)})
    command = [sys.executable, "-c", RUNS_NOTHING_WRITTEN]
    done = subprocess.run(command, input=batch(GOOD), env=environment, **CAPTURED)
    if done.returncode == 77:
        pytest.skip("this kernel (before Linux 6.3) forbids no process to run what it wrote")
    why = "the system lets no program run machine code that it made itself: Permission denied"
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", f"nonobot: {why}\n".encode())


@pytest.mark.slow
def test_object_code_that_is_not_laid_out_is_loaded_by_llvmlite(tmp_path):
    environment = patched_house(tmp_path, "kernels/machine_code.py", ("_X86_64 = 62", "_X86_64 = 0"))
    assert started(tmp_path, environment) == (["compiling", ANSWERS], "")
    assert started(tmp_path, environment, PROGRAM + LOADED) == ([ANSWERS, "llvmlite.binding"], "")


def test_a_kernel_that_cannot_be_kept_works_and_a_line_says_so(tmp_path):
    environment = patched_house(tmp_path, "kernels/loading.py")
    # Nothing can be written to any file, as on a full disk; output goes to pipes.
    full = "import os, resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))\n"
    twice = "import numba\nif os.fork(): assert os.wait()[1] == 0\n"  # it takes long to import
    found, stderr = started(tmp_path, environment, full + twice + PROGRAM)
    assert found == ["compiling", ANSWERS] * 2
    for line in stderr.splitlines():
        assert line.startswith("nonobot: compiled kernels cannot be kept (")
        assert line.endswith("subtract-Kept.code: File too large); the next start compiles them again")
    assert stderr.count("\n") == 2
    assert not list(tmp_path.rglob("*.code*"))


@pytest.mark.parametrize(
    "change", [pytest.param(change, marks=pytest.mark.slow if i else ()) for i, change in enumerate(CHANGES)]
)
def test_where_numba_has_changed_a_line_says_so_and_kernels_work_all_the_same(tmp_path, change):
    module, ours, another, why = CHANGES[change]
    found, stderr = started(tmp_path, patched_house(tmp_path, f"kernels/{module}.py", (ours, another)))
    assert found == ["compiling", ANSWERS]
    [line] = stderr.splitlines()
    assert line.startswith("nonobot: numba ")
    assert why in line
    assert line.endswith("; numba loads them itself, and each start takes longer")
    assert not list(tmp_path.rglob("*.code"))


NAMES = """
import importlib, os, sys
from functools import reduce
import numba
from nonobot.bot.kernels import loading
from nonobot.bot.kernels.memory import Memory, Struct, i8
memory = Memory(Struct("Kept", first=i8))
for place in sys.argv[1:]:
    if os.fork() == 0:
        module, _, path = place.partition(":")
        *classes, name = path.split(".")
        delattr(reduce(getattr, classes, importlib.import_module(module)), name)
        try:
            result = loading.load_kernel("author", "subtract", memory.struct, 2)(memory.address, 5, 3)
        except ImportError as error:
            result = error
        print(place, result, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0, place
"""


USED_LATER = ["numba.core.base:BaseContext.cast", "nonobot.bot.kernels.language:StructType.member"]
"""What is missing only as a kernel is compiled: of numba, and for any error in our own part of its work."""


def names_of_numba():
    """Yield the names that kernels need of numba, with their modules."""
    [block] = (
        node for node in ast.parse(Path(numba_names.__file__).read_text()).body if isinstance(node, ast.With)
    )
    for node in ast.walk(block):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("numba"):
            yield from (f"{node.module}:{alias.name}" for alias in node.names)


@pytest.mark.slow
def test_a_numba_without_a_name_that_kernels_need_is_a_line_with_a_version_that_has_it(tmp_path):
    environment = patched_house(tmp_path, "kernels/loading.py")
    places = [place for place in names_of_numba() if place != "numba:types"]  # which is also a module of its own
    places += USED_LATER
    assert {"numba:njit", "numba.extending:intrinsic"} < {*places}
    (tmp_path / "author.py").write_text(KERNEL)
    command = [sys.executable, "-c", NAMES, *places]
    done = subprocess.run(command, cwd=tmp_path, env=environment, text=True, **CAPTURED)
    assert (done.returncode, done.stderr) == (0, "")
    for place, said in zip(places, done.stdout.splitlines(), strict=True):
        module, name = place.split(":")
        why = f"ImportError: cannot import name '{name}' from '{module}'"
        why = "AttributeError: " if place in USED_LATER else why
        line = rf"{place} numba \S+ cannot compile the kernels \(.*{why}.*\); install numba \S+, the newest .*"
        assert re.fullmatch(line, said), said


UNUSABLE = {
    "raise ImportError('Numba needs NumPy 2.4 or less.')": "ImportError: Numba needs NumPy 2.4 or less",
    "raise SystemError('initialization of _internal failed')": "SystemError: initialization of _internal failed",
    "": "ImportError: cannot import name 'config' from 'numba' ",
}

SOLVE = """
import nonobot
try:
    nonobot.solve(nonobot.Puzzle(rows=[[1]], columns=[[1]]))
except ImportError as error:
    print(f"nonobot: {error}")
"""


@pytest.mark.parametrize("source", UNUSABLE)
def test_a_numba_that_cannot_be_loaded_is_a_line_for_all_puzzles_and_an_import_error_for_programs(
    tmp_path, source
):
    (tmp_path / "numba.py").write_text(source)
    (tmp_path / "two.txt").write_bytes(batch(GOOD, GOOD))
    (tmp_path / "cache").mkdir(0o700)
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    settings = {"PYTHONPATH": paths, "NONOBOT_CACHE_DIR": str(tmp_path / "cache"), "NONOBOT_KERNELS": "native"}
    bot = [*COMMAND, "--size", "2x2"]
    several, one, program = (
        subprocess.run(command, env=os.environ | settings, input=batch(GOOD), **CAPTURED)
        for command in ([*bot, "--jobs", "2", str(tmp_path / "two.txt")], bot, [sys.executable, "-c", SOLVE])
    )
    assert (several.returncode, several.stdout) == (one.returncode, one.stdout) == (2, b"")
    assert (program.returncode, program.stderr) == (0, b"")
    assert several.stderr == one.stderr == program.stdout
    found, why = one.stderr.decode(), re.escape(UNUSABLE[source])
    assert re.fullmatch(rf"nonobot: numba \S+ cannot compile the kernels \({why}.*\); install numba .*\n", found)


def test_the_digest_covers_all_modules_of_the_bot_that_kernels_import():
    program = "import os, sys\nimport nonobot.bot.champion.stages, nonobot.bot.papers.search\n"
    program += "from nonobot.bot.kernels.cache import kernel_sources\n"
    program += "known = {os.path.realpath(path) for path in kernel_sources()}\n"
    program += "print(*[n for n, m in sys.modules.items() if n.startswith('nonobot.bot.')"
    program += " and os.path.realpath(m.__file__) not in known])"
    done = subprocess.run([sys.executable, "-c", program], text=True, **CAPTURED)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_where_the_system_does_not_tell_the_processor_llvmlite_does(monkeypatch):
    told = cache._cpu()
    assert b"flags" in told or not ON_X86_64
    assert told == cache._cpu()  # nothing in it that changes from moment to moment
    monkeypatch.setattr(cache, "_SAYS_WHICH_CPU", set())
    assert cache._cpu().startswith(f"{llvm.get_host_cpu_name()} ".encode())


def test_kernels_in_a_folder_that_can_only_be_read_are_linked_to(tmp_path, monkeypatch):
    shown, own = tmp_path / "shown", tmp_path / "own"
    monkeypatch.setattr(cache, "_bases", lambda: iter([shown, own]))
    folder = shown / "kernels" / cache._digest()
    (folder / "deeper").mkdir(parents=True)
    for name in ("kernel.code", "deeper/index"):
        (folder / name).write_text(name)
    for parent in (shown, folder):
        parent.chmod(0o700)
    monkeypatch.setattr(cache.os, "access", lambda path, mode: own in path.parents or path == own)
    found = cache.cache_folder.__wrapped__()
    assert own in found.parents
    assert (found / "kernel.code").read_text() == "kernel.code"
    assert (found / "deeper" / "index").is_symlink()
    assert not (found / "deeper").is_symlink()  # numba writes there
    shown.chmod(0o777)  # others could have put code there
    monkeypatch.setattr(cache, "_bases", lambda: iter([shown, tmp_path / "another"]))
    monkeypatch.setattr(cache.os, "access", lambda path, mode: shown not in path.parents and path != shown)
    assert list(cache.cache_folder.__wrapped__().iterdir()) == []


# Root writes where a mode forbids it, unless it gives that up: PR_CAPBSET_DROP, CAP_DAC_OVERRIDE.
OBEYING = f"""
import ctypes, os, sys
ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-c", {PROGRAM!r}])
"""


def test_a_damaged_kernel_in_a_folder_that_can_only_be_read_is_compiled_once(tmp_path):
    environment = patched_house(tmp_path, "kernels/loading.py") | {"TMPDIR": str(tmp_path)}
    where = "from nonobot.bot.kernels.cache import cache_folder\nprint(cache_folder())"
    [folder] = started(tmp_path, environment, where)[0]
    shown = Path(folder, "subtract-Kept.code")
    shown.write_bytes(b"damaged")
    shown.chmod(0o600)
    for parent in shown.parents[2::-1]:
        parent.chmod(0o500)
    for said in (["compiling", ANSWERS], [ANSWERS]):
        assert started(tmp_path, environment, OBEYING) == (said, "")


@pytest.mark.parametrize("target", ["nowhere", "kernel.code", "linked", "pipe"])
def test_a_kernel_that_cannot_be_loaded_or_trusted_is_replaced(tmp_path, target):
    path, linked = tmp_path / "kernel.code", tmp_path / "linked"
    loading._keep(b"another", linked)
    assert loading._read_whole(linked) == b"another"
    os.mkfifo(tmp_path / "pipe", 0o600)
    if target == "linked" and os.getuid() == 0:
        os.chown(linked, 54321, -1)
        assert loading._read_whole(linked) is None
        os.chown(linked, 0, -1)
    linked.chmod(0o666)
    path.symlink_to(target)  # one that dangles, one to itself, one to code of others, one that hangs whoever reads
    assert loading._read_whole(path) is None
    loading._keep(b"own", path)
    assert loading._read_whole(path) == b"own"
    assert linked.read_bytes().endswith(b"another")


def test_folders_that_others_may_write_to_are_not_used_unless_they_are_empty(tmp_path, monkeypatch):
    temporary, kernels = tmp_path / "temporary", tmp_path / "own" / "kernels"
    temporary.mkdir()
    kernels.mkdir(parents=True)
    kernels.chmod(0o775)  # as an older version made it where the umask is 002
    kernels.parent.chmod(0o700)
    monkeypatch.setenv("NONOBOT_CACHE_DIR", str(kernels.parent))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    found = cache.cache_folder.__wrapped__()
    assert found.parent == kernels
    for path in (kernels.parent, kernels, found):
        assert path.stat().st_mode & 0o077 == 0
        path.chmod(0o777)
        assert temporary in cache.cache_folder.__wrapped__().parents
        path.chmod(0o700)
        assert cache.cache_folder.__wrapped__() == found


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a link of another user")
def test_a_link_of_another_user_leads_to_no_kernels(tmp_path):
    """Anybody can make one in the folder for temporary files, to a folder in which a bot left code."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    assert cache.is_private(link)
    os.lchown(link, 54321, -1)
    assert not cache.is_private(link)
    assert cache.is_private(tmp_path)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user without an entry")
def test_a_user_without_a_home_has_a_cache_among_the_temporary_files(tmp_path):
    # The folder is looked up first: another user may not reach it.
    become = "import os, pwd, tempfile\nfrom nonobot.bot.kernels import cache\n"
    become += "tempfile.gettempdir(); os.setuid(54321)\n"
    program = become + "print(*cache._bases(), sep='\\n')"
    without = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        found, _ = started(tmp_path, without | {"TMPDIR": folder, "NONOBOT_CACHE_DIR": ""}, program)
    assert set(found) == {f"{folder}/nonobot-54321"}


@pytest.mark.skipif(sys.platform != "linux", reason="no other system limits the address space")
@pytest.mark.parametrize(
    ("kibibytes", "strategy"), [(300_000, "champion"), (400_000, "papers"), (60_000, "papers")]
)
def test_too_little_address_space_is_said_in_a_line(tmp_path, kibibytes, strategy):
    bot = [*COMMAND, "--size", "2x2", "--strategy", strategy]
    command = ["sh", "-c", f'ulimit -v {kibibytes}; exec "$@"', "sh", *bot]
    environment = os.environ | {"NONOBOT_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, input=batch(GOOD), env=environment, **CAPTURED)
    assert (done.returncode, done.stdout) == (2, b"")
    tables = rb"not enough memory for the tables, [0-9]+ MiB"
    kernels = (
        rb"to compile the kernels takes 580 MiB of address space, and [0-9]{2,3} MiB are left; raise the limit .*"
    )
    assert re.fullmatch(b"nonobot: %b\n" % (tables if kibibytes < 100_000 else kernels), done.stderr)


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


@x86_64_only
@pytest.mark.parametrize("level", ["", *LEVELS[: LEVELS.index(processor_level() or LEVELS[0]) + 1]])
def test_a_kernel_that_came_with_the_bot_is_loaded_without_numba_and_nothing_is_kept(house, level):
    folder, environment = house
    assert started(folder, environment | {"NONOBOT_KERNELS": level}, PROGRAM + LOADED) == ([ANSWERS, ""], "")
    assert not any(path.is_file() for path in (folder / "cache").rglob("*"))


@x86_64_only
def test_native_kernels_are_compiled(house, tmp_path):
    folder, environment = house
    own = environment | {"NONOBOT_KERNELS": "native", "NONOBOT_CACHE_DIR": str(tmp_path)}
    assert started(folder, own) == (["compiling", ANSWERS], "")


@x86_64_only
@pytest.mark.parametrize(
    "damage",
    ["flipped", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("empty", "short", "another version"))],
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
    problem = "cannot be read" if damage == "empty" else "is damaged, or belongs to another version"
    assert stderr == f"nonobot: the kernel {path} {problem}; install nonobot again\n"


@x86_64_only
def test_another_name_of_a_level_is_refused_in_a_line(house):
    folder, environment = house
    program = (
        "from nonobot.bot.kernels import shipped\ntry: shipped.chosen_level()\nexcept ValueError as e: print(e)"
    )
    found, _ = started(folder, environment | {"NONOBOT_KERNELS": "v3"}, program)
    assert found == [f"NONOBOT_KERNELS=v3: no such level; choose native, {', '.join(LEVELS)}"]


@x86_64_only
def test_without_kernels_and_numba_a_line_names_the_command(tmp_path):
    environment = patched_house(tmp_path, "kernels/loading.py")
    lines = PROGRAM.strip().splitlines()
    lines[-2:] = [f"try: {lines[-2]}", "except ImportError as error: print(error)"]
    found, _ = started(tmp_path, environment, "\n".join(["import sys", "sys.modules['numba'] = None", *lines]))
    assert len(found) == 1
    assert found[0].startswith("compiling the kernels needs numba, not installed")


@x86_64_only
def test_the_level_is_that_of_the_flags_that_the_system_tells():
    flags = set(next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if "flags" in line).split())
    needed = (
        {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"},
        {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
        {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    )
    has = [flags >= set().union(*needed[: level + 1]) for level in range(len(needed))]
    assert processor_level() == LEVELS[sum(has)]
