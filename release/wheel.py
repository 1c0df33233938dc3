"""Build two wheels from the clone: `python -m release.wheel [-o FOLDER]`, pure and with kernels for x86-64 Linux.

Both have the same metadata; pip takes the one with kernels where it fits. FOLDER: dist by default.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from release import level_kernels

PLATFORMS = "manylinux_2_17_x86_64.musllinux_1_1_x86_64"
"""The kernels call nothing but `clock_gettime`, and the rest is Python: any C library will do."""

ROOT = Path(__file__).parent.parent
HOME_OF_KERNELS = Path("nonobot", "bot", "kernels", "built")


def build(output: Path) -> list[Path]:
    """Build both wheels into a folder and return their paths, the pure one first."""
    for name in level_kernels.build(ROOT / level_kernels.FOLDER):
        print(name, file=sys.stderr, flush=True)
    output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as work:
        _run("pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", work, str(ROOT))
        [pure] = Path(work).glob("*.whl")
        _run("wheel", "unpack", "--dest", f"{work}/unpacked", str(pure))
        [unpacked] = Path(work, "unpacked").iterdir()
        for file in level_kernels.files():  # others in the folder belong to older sources
            (unpacked / HOME_OF_KERNELS / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / level_kernels.FOLDER / file, unpacked / HOME_OF_KERNELS / file)
        [facts] = unpacked.glob("*.dist-info/WHEEL")
        facts.write_text(facts.read_text().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false"))
        Path(work, "packed").mkdir()
        _run("wheel", "pack", "--dest", f"{work}/packed", str(unpacked))
        [packed] = Path(work, "packed").iterdir()
        _run("wheel", "tags", "--remove", "--platform-tag", PLATFORMS, str(packed))
        [tagged] = Path(work, "packed").iterdir()
        return [Path(shutil.copy(one, output)) for one in (pure, tagged)]


def _run(*command: str) -> None:
    subprocess.run([sys.executable, "-m", *command], check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    """Build, and print the paths."""
    parser = argparse.ArgumentParser(prog="python -m release.wheel", description=__doc__)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("dist"), metavar="FOLDER", help="(default: dist)"
    )
    for path in build(parser.parse_args().output):
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
