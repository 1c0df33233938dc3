"""The default tests in a future in which a library uses other words: `python -m tools.future [LIBRARY ...]`.

    python -m tools.future                            each library in turn, an hour
    python -m tools.future argparse -- tests/nonobot  one of them, some tests

In each Python that the tests start, every sentence of the library is another one: those of the exceptions that it
raises, of its log, and all of argparse. Modules of ours cannot import what the library does not document. Nothing
else changes, so a test that fails depends on words or places of others. `tests/documents/test_house.py` covers the
attributes that our modules use, and `tests/bot/test_native.py` the names of numba.
"""

from __future__ import annotations

import builtins
import marshal
import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader

TYPE_CHECKING = False  # each process loads this module, and some tests look at what a process has loaded
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any

DOCUMENTED = {
    "argparse": "argparse",
    "msgspec": "msgspec msgspec.inspect msgspec.json msgspec.structs",
    "numba": "",  # any
    "rich": "rich.console rich.progress rich.table rich.text",
    "psutil": "psutil",
    "uvicorn": "uvicorn",
    "dask": "dask distributed distributed.comm",
    "pyperf": "pyperf",
}
"""Modules of each library that its documents name and ours use."""

OURS = ("nonobot", "tests", "tools")

START = """\
namespace = {{"__name__": "future"}}
exec(compile(open({path!r}).read(), {path!r}, "exec"), namespace)
namespace["begin"]({library!r}, {folder!r})
"""
"""The module `sitecustomize` of each process."""


# --- in each process ---------------------------------------------------------------------------------------------


def begin(library: str, folder: str) -> None:
    """Let a library say all in other words, from its import on; `folder` keeps its modules."""
    documented = DOCUMENTED[library].split()
    packages = {library, *(module.partition(".")[0] for module in documented)}
    sys.meta_path.insert(0, _Finder(packages, folder))
    if not documented:
        return
    imported = builtins.__import__

    def importing(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType:
        importer = (globals or {}).get("__name__") or ""
        if not level and name.partition(".")[0] in packages and importer.partition(".")[0] in OURS:
            for each in fromlist or [""]:
                is_documented = name in documented or f"{name}.{each}" in documented
                if each.startswith("_") or not is_documented:
                    raise ImportError(f"cannot import name {each!r} from {name!r}", name=name)
        return imported(name, globals, locals, fromlist, level)

    builtins.__import__ = importing


class _Finder:
    def __init__(self, packages: set[str], folder: str) -> None:
        self._packages = packages
        self._folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in self._packages:
            return None
        spec = PathFinder.find_spec(name, path)
        # Not a module that a test puts in the place of the library.
        is_installed = spec and str(spec.origin).startswith((sys.prefix, sys.base_prefix))
        if is_installed and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path, self._folder)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, folder: str) -> None:
        super().__init__(name, path)
        self._kept = f"{folder}/{name}.code"

    def get_code(self, fullname: str) -> CodeType:
        if not os.access(self._kept, os.R_OK):
            self.set_data(self._kept, marshal.dumps(_reworded(self.get_data(self.path), self.path)))
        return marshal.loads(self.get_data(self._kept))

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        if module.__name__ == "argparse":
            module._ = other_words
            module.ngettext = lambda one, many, number: other_words(many)
        package = module.__name__.partition(".")[0]
        for kind in vars(module).values():
            is_error = isinstance(kind, type) and issubclass(kind, BaseException) and "__str__" in vars(kind)
            if is_error and kind.__module__.partition(".")[0] == package:  # not one of ssl, say
                kind.__str__ = lambda _: "in other words"  # type: ignore[method-assign]
        if module.__name__ in ("msgspec", "msgspec.json"):  # compiled
            for name in {"convert", "decode"} & vars(module).keys():
                setattr(module, name, _saying_otherwise(getattr(module, name)))


def other_words(text: str) -> str:
    """Return another text with the same places for values."""
    import re

    places = re.findall(r"%(?:\(\w+\))?[-+ #0]*[\d.*]*[a-zA-Z%]|\{[^{}]*\}", text)
    return " ".join(["in other words:", *places])


def _saying_otherwise(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except Exception as error:
            error.args = tuple("in other words" if isinstance(each, str) else each for each in error.args)
            raise

    return call


SAYING = {"warn", "print", "debug", "info", "warning", "error", "exception", "critical"}
"""Functions whose first argument is a sentence."""


def _reworded(source: bytes, path: str) -> CodeType:
    """Return the code of a module with other sentences in what it raises, logs, warns of and prints."""
    import ast

    # What is raised may be a name or a number: a sentence contains a blank.
    other = ast.parse(
        "(lambda text: 'in other words' if isinstance(text, str) and ' ' in text else text)", mode="eval"
    )

    class Rewording(ast.NodeTransformer):
        def visit_Raise(self, node: ast.Raise) -> ast.AST:
            if isinstance(node.exc, ast.Call):
                node.exc.args = [
                    each if isinstance(each, ast.Starred) else ast.Call(other.body, [each], [])
                    for each in node.exc.args
                ]
            return self.generic_visit(node)

        def visit_Call(self, node: ast.Call) -> ast.AST:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            match node.args:
                case [ast.Constant(value=str(text)), *others] if name in SAYING and " " in text:
                    node.args = [ast.Constant(other_words(text)), *others]
            return self.generic_visit(node)

    tree = Rewording().visit(ast.parse(source))
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


# --- the command -------------------------------------------------------------------------------------------------


def tests_in_future_of(library: str, arguments: Sequence[str]) -> Iterator[str]:
    """Run tests, and yield a line for each that fails."""
    import subprocess
    import tempfile
    import xml.etree.ElementTree as ElementTree
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(START.format(path=__file__, library=library, folder=folder))
        results = Path(folder, "results.xml")
        paths = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "pytest", f"--junitxml={results}", *arguments]
        status = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, check=False).returncode
        if not results.exists():
            yield f"pytest ended with status {status}, without results"
            return
        for case in ElementTree.parse(results).getroot().iter("testcase"):
            text = "".join(case.itertext())
            if case.find("failure") is not None or case.find("error") is not None:
                traceback = "a traceback: " * ("Traceback (most recent call last)" in text)
                yield f"{traceback}{case.get('classname')}::{case.get('name')}"


def main() -> int:
    """Run the tests in each future."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m tools.future", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"{', '.join(DOCUMENTED)} (default: all)")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    libraries = parser.parse_args(sys.argv[1:end]).libraries or [*DOCUMENTED]
    if unknown := [name for name in libraries if name not in DOCUMENTED]:
        parser.error(f"unknown library {unknown[0]!r}; choose from {', '.join(DOCUMENTED)}")
    has_failed = False
    for library in libraries:
        failed = [*tests_in_future_of(library, sys.argv[end + 1 :])]
        print(f"{library}: {len(failed)} tests fail", *failed, sep="\n  ", flush=True)
        has_failed |= bool(failed)
    return int(has_failed)


if __name__ == "__main__":
    raise SystemExit(main())
