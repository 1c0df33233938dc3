"""Compile all kernels of the bot for the levels of x86-64: `python -m release.level_kernels [-o FOLDER]`.

FOLDER (default: build/kernels) holds a folder for each level. A file that belongs to the present sources is not
compiled again.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from nonobot.bot.champion.state import champion_map
from nonobot.bot.champion.strategy import ChampionStrategy
from nonobot.bot.kernels.memory import MASK_BITS, Struct
from nonobot.bot.kernels.shipped import LEVELS, sealed
from nonobot.bot.papers.single_line import memory_of_line
from nonobot.bot.papers.state import papers_map
from nonobot.bot.papers.strategy import PapersStrategy

FOLDER = Path("build", "kernels")


class Shipped(NamedTuple):
    """A kernel to ship: where it is, how many numbers it takes, and the maps of its memories."""

    module: str
    name: str
    numbers: int
    struct_for: Callable[[int], Struct]
    bits: tuple[int, ...] = MASK_BITS

    def file(self, bits: int) -> str:
        """Return the name that the bot looks for."""
        return f"{self.name}-{self.struct_for(bits).name}.code"


SHIPPED = (
    Shipped(ChampionStrategy.kernels, "propagate_root", 0, champion_map),
    Shipped(ChampionStrategy.kernels, "search", 1, champion_map),
    Shipped(PapersStrategy.kernels, "search", 1, lambda bits: papers_map(), MASK_BITS[:1]),
    Shipped(PapersStrategy.kernels, "deduce", 0, lambda bits: papers_map(), MASK_BITS[:1]),
    Shipped("nonobot.bot.papers.lines", "paint_one", 1, lambda bits: memory_of_line(bits).struct),
)


def files() -> list[Path]:
    """Return the files of all kernels, as they are named in a folder."""
    return [Path(level, one.file(bits)) for level in LEVELS for one in SHIPPED for bits in one.bits]


def stale(folder: Path) -> list[Path]:
    """Return the files that are missing in a folder of kernels, or do not belong to the present sources."""
    return [file for file in files() if not _is_fresh(folder / file)]


def build(folder: Path) -> Iterator[str]:
    """Compile what is missing or stale in `folder`; yield the name of each kernel when it is done."""
    missing = set(stale(folder))
    jobs = [
        (at, bits)
        for bits in reversed(MASK_BITS)  # those that take longest first
        for at, one in enumerate(SHIPPED)
        if bits in one.bits and any(Path(level, one.file(bits)) in missing for level in LEVELS)
    ]
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for done in as_completed([pool.submit(_compile, folder, *job) for job in jobs]):
            yield done.result()


def _is_fresh(path: Path) -> bool:
    content = path.read_bytes() if path.exists() else b""
    return bool(content) and sealed(content[len(sealed(b"")) :]) == content


def _compile(folder: Path, at: int, bits: int) -> str:
    from nonobot.bot.kernels.object_code import for_processor, kernel_code, machine_code

    one = SHIPPED[at]
    function = getattr(importlib.import_module(one.module), one.name).py_func
    code = kernel_code(function, one.struct_for(bits), one.numbers)
    for level in LEVELS:
        made = machine_code(for_processor(code, level))
        if made[0]:
            raise ValueError(f"{one.name}: its object code needs a linker")
        path = folder / level / one.file(bits)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sealed(made))
    return one.file(bits)


def main() -> int:
    """Compile, and say what."""
    parser = argparse.ArgumentParser(prog="python -m release.level_kernels", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, metavar="FOLDER", help=f"(default: {FOLDER})")
    for name in build(parser.parse_args().output):
        print(name, file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
