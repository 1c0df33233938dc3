"""The house: imports run one way and in no circle, each module has one name and a line on its page."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

from nonobot.harness.cli import COMMANDS

HOUSE = Path(__file__).parent.parent
ROOMS = ("protocol", "bot", "tournament_data", "harness", "nonobot")

# What each room may import beside itself and the standard library (see CONTRIBUTING.md).
MAY_IMPORT = {
    "protocol": {"numpy"},
    "bot": {"protocol", "numpy", "numba", "llvmlite"},
    "tournament_data": {"protocol"},
    "nonobot": {"bot", "protocol", "numpy"},
    "harness": {"protocol", "tournament_data", "numpy", "rich", "psutil", "msgspec"}
    | {"matplotlib", "jinja2", "markupsafe"},
}

# What else some modules may import: the bot, or what an extra of pyproject.toml brings.
MAY_IMPORT_BESIDE = {
    "tournament_data/fetch.py": {"pooch", "requests"},
    "harness/bench/": {"bot", "pyperf"},
    "harness/cluster/": {"distributed", "dask"},
    "harness/opponents/": {"bot", "pysat", "ortools"},
    "harness/page/": {"starlette", "uvicorn", "h11"},
    "harness/pictures/": {"PIL"},
    "harness/report/": {"matplotlib", "jinja2", "markupsafe"},
    "harness/statistics.py": {"scipy"},
    "nonobot/arguments.py": {"shtab"},
}


# Calls that import a module by its name, and the modules that may pass them a name that is not written out: every
# name that the first is given is written out where it is called, and checked there; the second loads its own room.
IMPORTS_BY_NAME = ("import_module", "__import__", "load_kernel")
MAY_IMPORT_ANY_NAME = ("bot/kernels/loading.py", "harness/cli.py")


def modules(room: str) -> list[Path]:
    return sorted(
        path for path in (HOUSE / room).rglob("*.py") if not any(above.is_symlink() for above in path.parents)
    )


MODULES = [path.relative_to(HOUSE).as_posix() for room in ROOMS for path in modules(room)]


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse((HOUSE / module).read_text(encoding="utf-8"), module)


def imported(tree: ast.Module) -> set[str]:
    """Return what everything imported belongs to, also inside functions: a room or a library; '.' if relative.

    What stands in `nonobot` itself, such as the version, is everybody's.
    """
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            names.add(".")
        elif isinstance(node, ast.ImportFrom) and node.module == "nonobot":
            names |= {f"nonobot.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(IMPORTS_BY_NAME):
            first = node.args[0] if node.args else None
            names.add(str(first.value) if isinstance(first, ast.Constant) else "?")
    return {belongs_to(name) for name in names if name != "nonobot"}


def belongs_to(name: str) -> str:
    first, _, rest = name.partition(".")
    room = rest.partition(".")[0]
    if first in ROOMS and first != "nonobot":
        return f"{first} without nonobot"  # an editable install has it on the path, no other has
    return (room if room in ROOMS else "nonobot") if first == "nonobot" else first or "."


def not_allowed(module: str, tree: ast.Module) -> set[str]:
    room = module.split("/")[0]
    allowed = MAY_IMPORT[room] | {room, "nonobot"} | set(sys.stdlib_module_names)
    for place, names in MAY_IMPORT_BESIDE.items():
        if module.startswith(place):
            allowed |= names
    if module in MAY_IMPORT_ANY_NAME:
        allowed.add("?")
    return imported(tree) - allowed


def test_every_room_is_there_and_has_modules():
    for room in ROOMS:
        assert (HOUSE / room / "__init__.py").is_file()
        assert modules(room)


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_one_way(module):
    assert not not_allowed(module, tree_of(module))


@pytest.mark.parametrize(
    ("module", "text", "names"),
    [
        ("protocol/x.py", "import numba", {"numba"}),
        ("protocol/x.py", "from nonobot.bot.papers.lines import paint_line", {"bot"}),
        ("protocol/x.py", "import os, numpy as np\nfrom nonobot.protocol import Puzzle", set()),
        ("protocol/x.py", "from protocol import Puzzle", {"protocol without nonobot"}),
        ("bot/x.py", "def f():\n    from nonobot.harness import cli", {"harness"}),
        ("bot/x.py", "import rich.table", {"rich"}),
        ("bot/x.py", "import importlib\nimportlib.import_module('psutil')", {"psutil"}),
        ("bot/x.py", "import importlib\nimportlib.import_module(name)", {"?"}),
        (
            "bot/x.py",
            "from nonobot.bot.kernels.loading import load_kernel\nload_kernel('nonobot.harness.x', 'f', 1, g)",
            {"harness"},
        ),
        ("tournament_data/x.py", "import nonobot.bot", {"bot"}),
        ("tournament_data/x.py", "from nonobot import bot, harness", {"bot", "harness"}),
        ("harness/x.py", "from nonobot import __version__", set()),
        ("harness/bench/x.py", "from nonobot.bot.papers.lines import paint_line", set()),
        ("harness/x.py", "import PIL.Image", {"PIL"}),
        ("harness/pictures/x.py", "import PIL.Image", set()),
        ("harness/opponents/x.py", "import nonobot.bot.papers", set()),
        ("harness/x.py", "import tests.naive", {"tests"}),
        ("harness/x.py", "from . import cli", {"."}),
    ],
)
def test_this_check_finds_what_is_not_allowed(module, text, names):
    assert not_allowed(module, ast.parse(text)) == names


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith(("bot/", "protocol/"))])
def test_the_bot_prints_nothing_by_the_way(module):
    calls = [node for node in ast.walk(tree_of(module)) if isinstance(node, ast.Call)]
    called = {ast.unparse(call.func): call.lineno for call in calls}
    assert "print" not in called, f"{module}:{called.get('print')}"
    assert "sys.stdout.write" not in called, f"{module}:{called.get('sys.stdout.write')}"


def test_nothing_but_the_tests_imports_the_tests():
    for module in MODULES:
        assert "tests" not in imported(tree_of(module))


# The page in CONTRIBUTING.md


def listed() -> list[str]:
    """Return the modules that the page lists, as paths."""
    page = (HOUSE / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```")[1]
    folders: list[str] = []
    paths = []
    for line in page.strip().splitlines():
        name, _, what = line.strip().partition(" ")
        depth = (len(line) - len(line.lstrip())) // 2
        folders = folders[:depth]
        if name.endswith("/"):
            folders.append(name)
        else:
            assert what.strip(), f"{name} has no word on what it is"
            paths.append("".join(folders) + name)
    return paths


def test_the_page_has_a_line_for_each_module_and_none_for_what_is_gone():
    assert sorted(listed()) == sorted(name for name in MODULES if not name.endswith("__init__.py"))


# Names

TWINS = {"cli", "state", "strategy", "search"}
"""Names of modules that have the same role in sister rooms."""


DOORS = {f"harness/commands/{command.module}.py" for command in COMMANDS.values()}
"""The commands, each of which may be called as what it opens."""


def names_of(paths: list[str]) -> dict[str, list[str]]:
    """Return for each name the modules and packages that have it; a command may be called as what it opens."""
    packages = {path.rpartition("/")[0] for path in paths} - set(ROOMS)
    found: dict[str, list[str]] = {}
    for path in sorted({*paths, *packages}):
        name = Path(path).stem
        if name not in ("__init__", "__main__") and path not in DOORS:
            found.setdefault(name, []).append(path)
    return found


def test_no_name_stands_for_two_things():
    found = names_of(MODULES)
    assert {name for name, paths in found.items() if len(paths) > 1} == TWINS


def test_this_check_finds_a_name_that_stands_for_two_things():
    found = names_of(["bot/words.py", "harness/words.py", "harness/report/page.py", "harness/commands/report.py"])
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {
        "words": ["bot/words.py", "harness/words.py"]
    }


# Circles


def dependencies(module: str, tree: ast.Module, names: dict[str, str]) -> set[str]:
    """Return the modules that a module imports, wherever in it; what only a type checker reads does not count."""
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            found |= {name if (name := f"{base}.{alias.name}") in names else base for alias in node.names}
    return {names[name] for name in found if name in names} - {module}


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the modules that import each other, directly or through others."""
    reached = {one: set(others) for one, others in graph.items()}
    for middle in graph:
        for others in reached.values():
            if middle in others:
                others |= reached[middle]
    return {
        frozenset(other for other in graph if one in reached[other] and other in reached[one]) for one in graph
    } - {frozenset()}


def test_there_are_no_circles():
    names = {
        "nonobot." + path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in MODULES
    }
    graph = {path: dependencies(path, tree_of(path), names) for path in MODULES}
    assert sum(map(len, graph.values())) > len(graph), "the imports are not seen"
    assert not circles(graph)


def test_this_check_finds_circles():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {frozenset("abc")}
    assert not circles({"a": {"b", "c"}, "b": {"c"}, "c": set()})
