"""Compile all kernels of the bot for x86-64 and WebAssembly: `python -m tools.release.level_kernels [-o FOLDER]`.

FOLDER (default: build/kernels) contains a folder for each level of x86-64, and one for WebAssembly. A file that
belongs to the present sources is not compiled again.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from nonobot.bot.champion.state import SMALL, champion_map
from nonobot.bot.champion.strategy import ChampionStrategy
from nonobot.bot.kernels.machine_code import OUTSIDE
from nonobot.bot.kernels.memory import MASK_BITS, Struct
from nonobot.bot.kernels.shipped import LEVELS, WASM32, is_whole, sealed
from nonobot.bot.papers.single_line import line_map
from nonobot.bot.papers.state import papers_map
from nonobot.bot.papers.strategy import PapersStrategy
from nonobot.harness.progress import Progress

FOLDER = Path("build", "kernels")
SECONDS_BETWEEN_LOOKS = 0.5
BROWSER_BITS = tuple(bits for bits in MASK_BITS if bits <= 256)  # widths of masks for WebAssembly
LINKERS = ("wasm-ld", *(f"wasm-ld-{version}" for version in range(30, 13, -1)))
"""LLVM's linker for WebAssembly, as Debian's packages `lld` and `lld-14` call it."""

NO_LINKER = "cannot find wasm-ld, so the kernels for browsers are not compiled; install it: apt-get install lld"

OUTSIDE_IN_BROWSER = (OUTSIDE, "__ashlti3", "__lshrti3")  # functions that kernels call; two shift 128 bits


class Shipped(NamedTuple):
    """A kernel to ship: where it is, how many numbers it takes, and the maps of its memories."""

    module: str
    name: str
    numbers: int
    struct_for: Callable[[int], Struct]
    bits: tuple[int, ...]
    levels: tuple[str, ...]

    def file(self, bits: int) -> str:
        """Return the name that the bot looks for."""
        return f"{self.name}-{self.struct_for(bits).name}.code"

    def files(self, bits: int) -> list[Path]:
        """Return the files of this kernel in a folder, those of all levels."""
        return [Path(level, self.file(bits)) for level in self.levels]

    def parts(self, bits: int) -> dict[Path, float]:
        """Return the files with about the seconds that each takes; the first takes numba's time for all."""
        if self.name != "search":
            return dict.fromkeys(self.files(bits), 0.3)
        first, *others = self.files(bits)
        each = 2.5 + bits / 250
        return {first: 10.0 + each, **dict.fromkeys(others, each)}


def _kernels(levels: tuple[str, ...], bits: tuple[int, ...], champion: Callable[[int], Struct]) -> list[Shipped]:
    return [
        Shipped(ChampionStrategy.kernels, "propagate_root", 0, champion, bits, levels),
        Shipped(ChampionStrategy.kernels, "search", 1, champion, bits, levels),
        Shipped(PapersStrategy.kernels, "search", 1, lambda _: papers_map(), bits[:1], levels),
        Shipped(PapersStrategy.kernels, "deduce", 0, lambda _: papers_map(), bits[:1], levels),
        Shipped("nonobot.bot.papers.lines", "paint_one", 1, line_map, bits, levels),
    ]


SHIPPED = _kernels(LEVELS, MASK_BITS, champion_map)
SHIPPED += _kernels((WASM32,), BROWSER_BITS, partial(champion_map, room=SMALL))


def files(wasm: bool = False) -> list[Path]:
    """Return the files of the kernels for x86-64, or for WebAssembly, as they are named in a folder."""
    chosen = [one for one in SHIPPED if (WASM32 in one.levels) is wasm]
    return [file for one in chosen for bits in one.bits for file in one.files(bits)]


def stale(folder: Path, wasm: bool = False) -> list[Path]:
    """Return the files that are missing in a folder, or do not belong to the present sources."""
    paths = {file: folder / file for file in files(wasm)}
    return [file for file, path in paths.items() if not (path.exists() and is_whole(path.read_bytes()))]


def wasm_linker() -> str | None:
    """Return the path of LLVM's linker for WebAssembly, if it is installed."""
    return next(filter(None, map(shutil.which, LINKERS)), None)


def build(folder: Path, *, native: bool = True, wasm: bool = True) -> list[str]:
    """Compile what is missing or stale in `folder`, with progress on stderr; return notes for the user.

    `native`: those for x86-64. `wasm`: those for browsers; without a linker for them, the note is NO_LINKER.
    """
    notes = []
    missing = set(stale(folder) if native else ())
    if wasm and (in_browser := stale(folder, wasm=True)):
        if wasm_linker():
            missing.update(in_browser)
        else:
            notes.append(NO_LINKER)
    jobs = [
        (at, bits)
        for bits in reversed(MASK_BITS)  # those that take longest first
        for at, one in enumerate(SHIPPED)
        if bits in one.bits and not missing.isdisjoint(one.files(bits))
    ]
    parts = {file: part for at, bits in jobs for file, part in SHIPPED[at].parts(bits).items()}
    for file in parts:
        (folder / file).unlink(missing_ok=True)  # so that those that exist are done
    with Progress(sum(parts.values())) as progress, ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        running = {pool.submit(_compile, folder, *job) for job in jobs}
        while running:
            finished, running = wait(running, SECONDS_BETWEEN_LOOKS, FIRST_EXCEPTION)
            for job in finished:
                job.result()
            done = [file for file in parts if (folder / file).exists()]
            progress.show(sum(map(parts.__getitem__, done)), f"{len(done)} of {len(parts)} kernels compiled")
    return notes


def _compile(folder: Path, at: int, bits: int) -> None:
    from nonobot.bot.kernels.object_code import for_processor, for_webassembly, kernel_code, machine_code

    one = SHIPPED[at]
    function = getattr(importlib.import_module(one.module), one.name).py_func
    code = kernel_code(function, one.struct_for(bits), one.numbers)
    for level in one.levels:
        if level == WASM32:
            made = _side_module(machine_code(for_webassembly(code)))
        else:
            made = machine_code(for_processor(code, level))
            if made[0]:
                raise ValueError(f"{one.name}: its object code needs a linker")
        path = folder / level / one.file(bits)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sealed(made))


def _side_module(code: bytes) -> bytes:
    """Link a kernel for WebAssembly as a shared library that Emscripten loads, with its name before it."""
    name, _, object_code = code.partition(b"\0")
    with TemporaryDirectory() as work:
        given, outside, made = (Path(work, name) for name in ("kernel.o", "outside", "kernel.wasm"))
        given.write_bytes(object_code)
        outside.write_text("\n".join(OUTSIDE_IN_BROWSER))
        options = ("-shared", "--experimental-pic", "--strip-all", f"--allow-undefined-file={outside}")
        linker = wasm_linker()
        assert linker
        command = (linker, *options, f"--export={name.decode()}", "-o", made, given)
        subprocess.run(command, check=True, capture_output=True)
        return name + b"\0" + made.read_bytes()


def main() -> int:
    """Compile, and print the notes."""
    parser = argparse.ArgumentParser(prog="python -m tools.release.level_kernels", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, metavar="FOLDER", help=f"(default: {FOLDER})")
    parser.add_argument("--only-wasm", action="store_true", help="compile only the kernels for browsers")
    options = parser.parse_args()
    if options.only_wasm and not wasm_linker():
        print(f"tools.release.level_kernels: {NO_LINKER}", file=sys.stderr)
        return 2
    for note in build(options.output, native=not options.only_wasm):
        print(f"tools.release.level_kernels: {note}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
