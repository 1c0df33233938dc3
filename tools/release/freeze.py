"""Freeze the bot's modules with those of the library: `python3.11 -I tools/release/freeze.py ROOT LIBRARY OUTPUT`.

The system's Python runs this, since the archive of the same packages runs the code. It prints a line for each
module: its name, its place and size in OUTPUT, and whether it is a package; of a built-in one, only the name.
"""

from __future__ import annotations

import marshal
import sys
from importlib.machinery import FrozenImporter
from modulefinder import ModuleFinder
from pathlib import Path

FOUND_AT_RUN_TIME = ("marshal", "encodings.ascii", "encodings.latin_1", "encodings.utf_8", "encodings.utf_8_sig")
FOUND_AT_RUN_TIME += ("encodings.utf_16", "encodings.utf_16_le", "encodings.utf_16_be", "encodings.cp1252")

LEFT_OUT = (
    # of the bot: modules that compile kernels, and those for other programs
    "numpy", "numba", "llvmlite", "shtab", "nonobot.api", "nonobot.protocol.svg", "nonobot.bot.kernels.compiling",
    "nonobot.bot.kernels.interpreter", "nonobot.bot.kernels.numba_names", "nonobot.bot.kernels.object_code",
    # of the library: modules that only functions import which are never called
    "_pydecimal", "asyncio", "bz2", "concurrent", "ctypes", "decimal", "distutils", "doctest", "email", "ftplib",
    "grp", "http", "importlib._bootstrap", "importlib._bootstrap_external", "importlib.metadata",
    "importlib.readers", "importlib.resources", "lib2to3", "logging", "lzma", "multiprocessing", "optparse",
    "pdb", "pickle", "pwd", "pydoc", "socket", "ssl", "statistics", "subprocess", "sysconfig", "tarfile", "test",
    "tracemalloc", "unicodedata", "unittest", "urllib.request", "xml", "xmlrpc", "zipfile",
)  # fmt: skip
"""`pwd` and `grp` would load libraries of the machine."""


def found_modules(root: Path, library: Path) -> dict[str, Path | None]:
    """Return the file of each module that the program may import, None for a built-in one; sorted by name."""
    finder = ModuleFinder([str(root), str(library), "."], excludes=LEFT_OUT)
    finder.load_file(str(Path(__file__).with_name("start.py")))
    for name in FOUND_AT_RUN_TIME:
        finder.import_hook(name)
    found = sorted(finder.modules.items())
    return {name: Path(module.__file__) if module.__file__ else None for name, module in found}


def main() -> None:
    """Write the code of all modules, and list them."""
    root, library, output = map(Path, sys.argv[1:])
    with output.open("wb") as file:
        for name, path in found_modules(root, library).items():
            if path is None:
                print(name)
            elif not FrozenImporter.find_spec(name):  # the archive contains some of them, and these start faster
                is_package = path.stem == "__init__"
                shown = f"{name.replace('.', '/')}{'/__init__' if is_package else ''}.py"
                code = marshal.dumps(compile(path.read_bytes(), shown, "exec", dont_inherit=True))
                print(name, file.tell(), file.write(code), int(is_package))


if __name__ == "__main__":
    main()
