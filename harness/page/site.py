"""The page as files for any web server: its scripts, Pyodide, this project's Python, and official sets."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import nonobot
from nonobot.bot.kernels.shipped import wasm_kernels
from nonobot.harness import UnusableError
from nonobot.harness.page.boards import LONGEST_SIDE, Board, Selection
from nonobot.harness.page.pyodide import DIGESTS as PYODIDE_FILES
from nonobot.harness.page.pyodide import pyodide_folder
from nonobot.protocol import Puzzle, Record, Solution
from nonobot.protocol.formats import MOST_BYTES, formats, read
from nonobot.system import content_of, whole_file, with_file
from nonobot.tournament_data.registry import State, official_sets, state_of, stored_path

STATIC = Path(__file__).with_name("static")
SAMPLES = Path(__file__).with_name("samples.txt")

COMMON = ("elements.js", "style.css", "icon.svg")  # files that the live view needs, too
AT_THE_TOP = ("index.html", "service_worker.js")  # files that are not in the site's folder `static`

PYTHON = (
    "*.py", "bot/**/*.py", "protocol/**/*.py", "tournament_data/*.py", "tournament_data/official.toml",
    "harness/__init__.py", "harness/page/__init__.py", "harness/page/worker_calls.py", "harness/page/boards.py",
    "harness/pictures/__init__.py", "harness/pictures/black_white.py",
)  # fmt: skip
"""The part of this package that the browser gets."""

KERNELS = "nonobot/bot/kernels/built/wasm32"  # the folder of the kernels in that part, as in a wheel

LISTING = "files.json"
_PACKAGES = "pyodide/pyodide-lock.json"

_VERSION = b'"VERSION"'  # its place in the service worker, in which browsers look for a new version

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; "
    "style-src 'self'; img-src 'self' blob:; base-uri 'none'; form-action 'none'"
)
"""What the page may load: its own files alone; `wasm-unsafe-eval` is WebAssembly, of its own files too."""


def write_site(
    folder: Path, puzzle_seconds: float, *, has_live_view: bool = False, is_served: bool = False
) -> tuple[int, int]:
    """Write the site into a folder, in place of an earlier one; return the number of its files and their bytes.

    UnusableError: Pyodide or the kernels are missing, the folder has other content, or it cannot be written.
    """
    earlier = _earlier_files(folder)
    contents = dict(_contents(puzzle_seconds, has_live_view, is_served))
    listed = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in sorted(contents.items())
    }
    # The folder may be a stranger's: nothing is written or removed through a link.
    parents = {folder / parent for name in (*contents, *earlier) for parent in Path(name).parents}
    if linked := sorted(link for link in parents - {folder} if link.is_symlink()):
        raise UnusableError(f"--export {folder}: {linked[0]} is a link; name a new or an empty folder")
    version = hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:16]
    contents["service_worker.js"] = contents["service_worker.js"].replace(_VERSION, f'"{version}"'.encode())
    contents[LISTING] = _json({"version": version, "files": listed})
    try:
        for name, content in contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path, follows=False) as file:
                file.write(content)
        for name in earlier - contents.keys():
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise UnusableError(f"cannot write {with_file(error, folder)}") from None
    return len(contents), sum(map(len, contents.values()))


def write_common_files(folder: Path) -> None:
    """Write into an empty folder what the live view needs of the puzzle page, without that page."""
    (folder / "static").mkdir()
    for name in COMMON:
        (folder / "static" / name).write_bytes((STATIC / name).read_bytes())


def _earlier_files(folder: Path) -> set[str]:
    """Return the files of an earlier export in a folder; UnusableError if it contains anything else."""
    try:
        if not folder.exists() or not any(folder.iterdir()):
            return set()
        found = json.loads(content_of(folder / LISTING, MOST_BYTES))["files"]
        names = {name for name in found if "\0" not in name and not Path(name).is_absolute()}
        return {name for name in names if ".." not in Path(name).parts}
    except NotADirectoryError:
        raise UnusableError(f"--export {folder}: not a folder; name a new or an empty one") from None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        why = "it has other files and is not an earlier export; name a new or an empty folder"
        raise UnusableError(f"--export {folder}: {why}") from None


def _contents(puzzle_seconds: float, has_live_view: bool, is_served: bool) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the site and their contents, except the list of files."""
    kernels = wasm_kernels()
    if not kernels:
        raise UnusableError(
            "the kernels for browsers are missing or outdated; in a clone, type `pip install -e .` and "
            "`python -m tools.release.level_kernels --only-wasm`; it needs wasm-ld (sudo apt-get install lld)"
        )
    for path in sorted(STATIC.iterdir()):
        content = path.read_bytes().replace(b'"POLICY"', f'"{POLICY}"'.encode())
        yield (path.name if path.name in AT_THE_TOP else f"static/{path.name}"), content
    python = {"nonobot.zip": _python(kernels)} | _pyodide()
    yield from python.items()
    sets = [official for official in official_sets().values() if state_of(official) is State.HERE]
    for official in sets:
        yield f"sets/{official.file_name}", stored_path(official).read_bytes()
    facts = {
        "longest_side": LONGEST_SIDE,
        "most_bytes": MOST_BYTES,
        "puzzle_seconds": puzzle_seconds,
        "formats": [{"name": form.name, "extension": form.extensions[0]} for form in formats()],
        "samples": [asdict(Selection(1, 1, board)) for board in _samples()],
        "sets": [official.name for official in sets],
        "python_bytes": sum(map(len, python.values())),
        "live": has_live_view,
        "offline": not is_served,
    }
    yield "facts.json", _json(facts)


def _samples() -> Iterator[Board]:
    """Yield the puzzles of SAMPLES: a title, then a drawing, or clues in one line if none has exactly these."""
    for block in SAMPLES.read_text(encoding="utf-8").split("\n\n"):
        head, *lines = block.splitlines()
        title, _, author = head.partition(" by ")
        if len(lines) == 1:
            [record] = read(lines[0].encode(), "oneline")
            assert isinstance(record, Record)
        else:
            solution = Solution([[cell == "#" for cell in line] for line in lines])
            record = Record(Puzzle.from_grid(solution.rows), solution=solution)
        yield replace(Board.of(record), title=title, author=author or None)


def _pyodide() -> dict[str, bytes]:
    """Return the files of Pyodide, with an empty list of packages."""
    folder = pyodide_folder()
    files = {f"pyodide/{name}": (folder / name).read_bytes() for name in PYODIDE_FILES}
    packages = json.loads(files[_PACKAGES])
    files[_PACKAGES] = _json({"info": packages["info"], "packages": {}})
    return files


def _python(kernels: list[Path]) -> bytes:
    """Return the Python that the browser needs, with the kernels, as an archive; it is reproducible."""
    package = Path(nonobot.__file__).parent
    files = chain.from_iterable(map(package.glob, PYTHON))  # in a clone, links lead from the package to its parts
    parts = {f"nonobot/{path.relative_to(package)}": path for path in files}
    parts |= {f"{KERNELS}/{path.name}": path for path in kernels}
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        for name, path in sorted(parts.items()):
            archive.writestr(ZipInfo(name), path.read_bytes(), ZIP_DEFLATED, 9)
    return file.getvalue()


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
