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
import time
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

NO_LINKER = "cannot find wasm-ld, so the kernels for browsers are not compiled; sudo apt-get install lld"

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
    chosen = [kernel for kernel in SHIPPED if (WASM32 in kernel.levels) is wasm]
    return [file for kernel in chosen for bits in kernel.bits for file in kernel.files(bits)]


def stale(folder: Path, wasm: bool = False) -> list[Path]:
    """Return the files that are missing in a folder, or do not belong to the present sources."""
    paths = {file: folder / file for file in files(wasm)}
    return [file for file, path in paths.items() if not (path.exists() and is_whole(path.read_bytes()))]


def wasm_linker() -> str:
    """Return the path of LLVM's linker for WebAssembly. OSError: it is not installed or cannot start."""
    path = next(filter(None, map(shutil.which, LINKERS)), None)
    if not path:
        raise FileNotFoundError(NO_LINKER)
    tried = subprocess.run((path, "--version"), capture_output=True, text=True, check=False)
    if tried.returncode:
        said = " ".join(tried.stderr.split()) or f"exit status {tried.returncode}"
        raise OSError(f"{path} cannot start: {said}; sudo apt-get install --reinstall lld")
    return path


def build(folder: Path, *, native: bool = True, wasm: bool = True) -> None:
    """Compile what is missing or stale in `folder`, with progress on stderr.

    `native`: those for x86-64. `wasm`: those for browsers; without a linker for them, a line on stderr says so.
    """
    missing = set(stale(folder) if native else ())
    if wasm and (in_browser := stale(folder, wasm=True)):
        try:
            wasm_linker()
        except OSError as error:
            say(error)
        else:
            missing.update(in_browser)
    jobs = [
        (index, bits)
        for bits in reversed(MASK_BITS)  # those that take longest first
        for index, kernel in enumerate(SHIPPED)
        if bits in kernel.bits and not missing.isdisjoint(kernel.files(bits))
    ]
    made = [folder / file for index, bits in jobs for file in SHIPPED[index].files(bits)]
    for path in made:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")  # not whole, so that an interrupted run leaves no set that looks complete
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        work = {pool.submit(_compile, folder, *job): _Work(folder, *job) for job in jobs}
        with Progress(sum(task.whole for task in work.values())) as progress:
            running = {*work}
            while running:
                finished, running = wait(running, SECONDS_BETWEEN_LOOKS, FIRST_EXCEPTION)
                for job in finished:
                    job.result()
                done = sum(task.done(job.running()) for job, task in work.items())
                count = sum(task.made for task in work.values())
                # Before the first is made, nothing shows how fast this machine is.
                progress.show(done if count else 0, f"{count} of {len(made)} kernels compiled")


class _Work:
    """The work on a kernel for a width of masks: about how many seconds each of its files takes."""

    def __init__(self, folder: Path, index: int, bits: int) -> None:
        kernel = SHIPPED[index]
        self._files = [folder / file for file in kernel.files(bits)]
        optimising = 2.5 + bits / 250 if kernel.name == "search" else 0.3  # by LLVM, for each level
        self._seconds = [5 * optimising, *[optimising] * (len(self._files) - 1)]  # numba's work comes first
        self.whole = sum(self._seconds)
        self.made = 0
        self._since = 0.0  # when the last file was made, or the first one begun

    def done(self, is_running: bool) -> float:
        """Return the seconds of work that are done, also of the file that is being made."""
        now = time.monotonic()
        made = sum(file.stat().st_size > 0 for file in self._files)
        if made != self.made or not (self._since and is_running):
            self.made, self._since = made, now
        more = min(now - self._since, 0.9 * self._seconds[made]) if made < len(self._files) else 0.0
        return sum(self._seconds[:made]) + more


def _compile(folder: Path, index: int, bits: int) -> None:
    from nonobot.bot.kernels.object_code import for_processor, for_webassembly, kernel_code, machine_code

    kernel = SHIPPED[index]
    function = getattr(importlib.import_module(kernel.module), kernel.name).py_func
    code = kernel_code(function, kernel.struct_for(bits), kernel.numbers)
    for level in kernel.levels:
        if level == WASM32:
            made = _side_module(machine_code(for_webassembly(code)))
        else:
            made = machine_code(for_processor(code, level))
            if made[0]:
                raise ValueError(f"{kernel.name}: its object code needs a linker")
        path = folder / level / kernel.file(bits)
        path.write_bytes(sealed(made))


def _side_module(code: bytes) -> bytes:
    """Link a kernel for WebAssembly as a shared library that Emscripten loads, with its name before it."""
    name, _, object_code = code.partition(b"\0")
    with TemporaryDirectory() as work:
        given, outside, made = (Path(work, name) for name in ("kernel.o", "outside", "kernel.wasm"))
        given.write_bytes(object_code)
        outside.write_text("\n".join(OUTSIDE_IN_BROWSER))
        options = ("-shared", "--experimental-pic", "--strip-all", f"--allow-undefined-file={outside}")
        command = (wasm_linker(), *options, f"--export={name.decode()}", "-o", made, given)
        subprocess.run(command, check=True, capture_output=True)
        return name + b"\0" + made.read_bytes()


def main() -> int:
    """Compile."""
    parser = argparse.ArgumentParser(prog="python -m tools.release.level_kernels", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, metavar="FOLDER", help=f"(default: {FOLDER})")
    parser.add_argument("--only-wasm", action="store_true", help="compile only the kernels for browsers")
    options = parser.parse_args()
    if options.only_wasm:
        try:
            wasm_linker()
        except OSError as error:
            say(error)
            return 2
    build(options.output, native=not options.only_wasm)
    return 0


def say(problem: Exception) -> None:
    """Print a line about a problem on stderr."""
    print(f"tools.release.level_kernels: {problem}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
