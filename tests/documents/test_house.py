"""Rules for all modules that no linter checks; the import contracts themselves are in pyproject.toml."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import grimp
import pytest

from tools.generated_docs import PACKAGES, REPOSITORY, modules
from tools.public_surface import FILE, surface

PROJECT = REPOSITORY / "pyproject.toml"
MODULES = [path.relative_to(REPOSITORY).as_posix() for package in PACKAGES for path in modules(package)]


def sources(*folders: str) -> dict[str, str]:
    """Return the text of each module in folders of the repository."""
    paths = [path for folder in folders for path in (REPOSITORY / folder).rglob("*.py")]
    return {path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def calls(module: str, *names: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls in a module whose function has a name that ends with one of `names`, with that name."""
    source = (REPOSITORY / module).read_text(encoding="utf-8")
    if any(name in source for name in names):  # a tree takes long to make
        nodes = [node for node in ast.walk(ast.parse(source, module)) if isinstance(node, ast.Call)]
        called = ((ast.unparse(node.func), node) for node in nodes)
        yield from ((name, node) for name, node in called if name.endswith(names))


def test_the_import_contracts_are_kept():
    # In a process of its own: the linter configures logging and thereby disables the loggers of other tests.
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_library_has_a_contract():
    """An import of `tests`, or of `bot` without `nonobot`, counts as one of a library without a contract."""
    graph = grimp.build_graph("nonobot", include_external_packages=True, cache_dir=None)
    libraries = {module for module in graph.modules if graph.is_module_squashed(module)}
    contracts = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    protected = {library for contract in contracts for library in contract.get("protected_modules", ())}
    assert libraries - sys.stdlib_module_names == {name for name in protected if not name.startswith("nonobot.")}


IMPORT_BY_NAME = ("import_module", "__import__", "load_kernel")
"""Calls that import a module whose name is a string: import-linter does not see them."""

PRINTS = ("print", "sys.stdout.write")

IMPORTS_ANY_NAME = {
    "bot/kernels/loading.py",  # the names that `load_kernel` takes
    "bot/strategy.py",  # the kernels of a strategy
    "harness/cli.py",  # the modules of COMMANDS
    "harness/opponents/command_line.py",  # the libraries of the opponents
    "tools/release/level_kernels.py",  # the modules of the kernels
}


def test_a_module_that_is_imported_by_name_is_in_the_same_package():
    for module in MODULES:
        package = module.split("/")[0]
        for _, call in calls(module, *IMPORT_BY_NAME):
            if module not in IMPORTS_ANY_NAME:
                imported = call.args[0]
                assert isinstance(imported, ast.Constant), f"{module}:{call.lineno}"
                assert imported.value.startswith(f"nonobot.{package}."), f"{module}:{call.lineno}"


def test_the_bot_prints_nothing_except_answers():
    of_the_bot = [name for name in MODULES if name.startswith(("bot/", "protocol/"))]
    called = [(module, name, call.lineno) for module in of_the_bot for name, call in calls(module, *PRINTS)]
    prints = [f"{module}:{line}" for module, name, line in called if name in PRINTS]
    assert prints == []


CAME_AFTER_3_11_0 = {
    "data_filter tar_filter fully_trusted_filter extraction_filter": "tarfile in 3.11.4",
    "FilterError AbsolutePathError OutsideDestinationError SpecialFileError": "tarfile in 3.11.4",
    "AbsoluteLinkError LinkOutsideDestinationError": "tarfile in 3.11.4",
    "SetReparseDeferralEnabled GetReparseDeferralEnabled": "xml.parsers.expat in 3.11.9",
    "verify_generated_headers": "email.policy in 3.11.10",
    "ALLOW_MISSING LinkFallbackError": "os.path and tarfile in 3.11.13",
}
"""Names that a later 3.11 added to Python's library: linters and type checkers only distinguish 3.11 from 3.12.

They are what differs between the libraries of 3.11.2 and 3.11.7, and what the documents note for later ones.
"""

LATER_KEYWORDS = {
    ("extract", "filter"): "tarfile in 3.11.4",
    ("extractall", "filter"): "tarfile in 3.11.4",
    ("unpack_archive", "filter"): "shutil in 3.11.4",
    ("getaddresses", "strict"): "email.utils in 3.11.10",
    ("parseaddr", "strict"): "email.utils in 3.11.10",
}
"""The same for names of arguments: function, argument."""


def later_than_3_11_0(source: str) -> Iterator[str]:
    """Yield what a module uses that Python 3.11.0 lacks."""
    names = {name: when for several, when in CAME_AFTER_3_11_0.items() for name in several.split()}
    if not any(name in source for name in (*names, *(function for function, _ in LATER_KEYWORDS))):
        return  # without a look at its tree, which takes long to make
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name) if name in names:
                yield f"line {node.lineno}: {name}: {names[name]}"
            case ast.Call(func=ast.Attribute(attr=function) | ast.Name(id=function), keywords=keywords):
                for keyword in keywords:
                    if when := LATER_KEYWORDS.get((function, keyword.arg)):
                        yield f"line {node.lineno}: {function}({keyword.arg}=): {when}"


def test_no_code_uses_features_that_python_3_11_0_lacks():
    ours = sources(*PACKAGES, "tests", "tools")
    assert len(ours) > 300
    found = {path: [*later_than_3_11_0(source)] for path, source in ours.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_every_use_of_features_newer_than_python_3_11_0_is_detected():
    for source in (
        "with open(name) as files:\n    files.extractall(folder, filter='data')",
        "shutil.unpack_archive(name, filter='data')",
        "from tarfile import data_filter as check",
        "files.extraction_filter = None",
        "os.path.realpath(name, strict=os.path.ALLOW_MISSING)",
    ):
        assert [*later_than_3_11_0(source)], source
    assert not [*later_than_3_11_0("bot.extract(name, folder=filter); filter(None, names)")]


DOCUMENTED = {"_asdict", "_fields", "_replace", "_value_", "_exit", "_getframe"}
"""Names of Python's library that begin with an underscore and are public: of tuples, enums, os and sys."""

PRIVATE_NAMES_OF_OTHERS = {
    "_ensure_finalized": "bot/kernels/object_code.py",  # numba's
    "_config_fname": "bot/kernels/numba_names.py",  # numba's
    "_stdlib_dir": "tools/release/start.py",  # Python's
    "_nonobot": "bot/kernels/memory.py",  # our own, in the executable to hand in
    "_count": "tests/",  # of threads, by Python's `_thread`
}
"""Names with an underscore that come from elsewhere, each in one place: they may move with any release."""


PLAINLY_OWN = re.compile(r"^ *(?:(?:def|class) (_\w+)\b|(?:self\.)?(_\w+)(?:: .+)? = )", re.MULTILINE)


def private_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names with one underscore before them that a module takes from somewhere."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.alias(name=name) if re.match("_[a-z]", name, re.IGNORECASE):
                yield name


def own_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store())
            ):
                yield name
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=ast.Tuple(elts=slots)):
                yield from (ast.literal_eval(slot) for slot in slots)


def test_private_names_of_libraries_are_used_only_where_they_are_guarded():
    texts = sources(*PACKAGES, "tests", "tools")
    own = {name for text in texts.values() for names in PLAINLY_OWN.findall(text) for name in names} | DOCUMENTED
    words = {path: {*re.findall(r"\b_[a-zA-Z]\w*", text)} for path, text in texts.items()}
    trees = {path: ast.parse(text) for path, text in texts.items() if words[path] - own}
    own |= {name for tree in trees.values() for name in own_names(tree)}
    found = [(name, path) for path, tree in trees.items() for name in {*private_names(tree)} - own]
    assert len(found) > 5
    places = PRIVATE_NAMES_OF_OTHERS
    assert [(name, path) for name, path in found if not path.startswith(places.get(name, "nowhere"))] == []


STARTS = ("Popen", "running", "talk")
"""Calls in tests that start a process and go on."""

INSTEAD = {
    r".*\.communicate": "finished",
    r".*\.(stdout|stderr)\.read(line)?": "next_line, next_bytes or finished",
    r"select\.select|selectors\..*": "wait_to_read",
}
"""Calls that wait for output, perhaps after the process has ended, and what to use of tests/helpers/waiting.py."""


def waits_that_may_not_end(source: str) -> Iterator[str]:
    """Yield the waits of a test module that go on after their process has ended, or hide what it printed."""
    if not re.search(r"communicate|\.std(out|err)\.read|select|with subprocess\.Popen|wait_until", source):
        return
    nodes = [*ast.walk(ast.parse(source))]
    for call in (node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        name = ast.unparse(call.func)
        if instead := next((better for pattern, better in INSTEAD.items() if re.fullmatch(pattern, name)), None):
            yield f"line {call.lineno}: {name}: use {instead} of tests/helpers/waiting.py"
    for block in (node for node in nodes if isinstance(node, ast.With)):
        if any(ast.unparse(item.context_expr).startswith("subprocess.Popen(") for item in block.items):
            yield f"line {block.lineno}: a block waits at its end for its process: use running of waiting.py"
    for function in (node for node in nodes if isinstance(node, ast.FunctionDef)):
        inside = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        if any(ast.unparse(call.func).rpartition(".")[2] in STARTS for call in inside):
            for call in inside:
                if ast.unparse(call.func) == "wait_until" and len(call.args) < 2:
                    yield f"line {call.lineno}: wait_until: give it the process that has to run"


def test_every_wait_ends_with_its_process():
    found = {path: [*waits_that_may_not_end(source)] for path, source in sources("tests").items()}
    del found["tests/helpers/waiting.py"]
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_a_wait_that_may_never_end_is_detected():
    for source in (
        "out, err = judge.communicate(timeout=60)",
        "line = process.stdout.readline()",
        "select.select([judge.stdout], [], [])",
        "with subprocess.Popen(command) as judge, other: pass",
        "def test():\n    judge = subprocess.Popen(command)\n    wait_until(marker.exists)",
    ):
        assert [*waits_that_may_not_end(source)], source


def test_public_names_and_options_equal_the_golden_list():
    listed = FILE.read_text(encoding="utf-8").splitlines()
    found = surface()
    gone = [f"gone: {line}" for line in listed if line not in found]
    new = [f"new: {line}" for line in found if line not in listed]
    if gone or new:
        remedy = "if that is intended, read docs/compatibility.md and run `python -m tools.public_surface`"
        pytest.fail("\n".join([*gone, *new, remedy]), pytrace=False)


def test_the_top_level_contains_only_the_expected_files_and_folders():
    folders = {*PACKAGES, ".ci", ".github", "docs", "tests", "tools"}
    files = {".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md", "CITATION.cff", "CODE_OF_CONDUCT.md"}
    files |= {"CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "mkdocs.yml", "pyproject.toml"}
    files |= {"constraints.txt"}
    if not (REPOSITORY / ".git").exists() or not shutil.which("git"):
        pytest.skip("needs a clone and git")
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert {name.partition("/")[0] for name in listed.stdout.split("\0") if name} == folders | files
