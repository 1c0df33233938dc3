"""Build two wheels from the clone, pure and with kernels for x86-64: `python -m tools.release.wheel [-o FOLDER]`.

Both have the same metadata, and kernels for browsers if `wasm-ld` is installed; pip takes the one with kernels for
x86-64 where it fits. FOLDER: dist by default.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tools.release import level_kernels

PLATFORMS = "manylinux_2_17_x86_64.musllinux_1_1_x86_64"  # any C library: kernels only call `clock_gettime`

ROOT = Path(__file__).parents[2]
HOME_OF_KERNELS = Path("nonobot", "bot", "kernels", "built")


def build(output: Path) -> list[Path]:
    """Build both wheels into a folder and return their paths, the pure one first."""
    level_kernels.build(ROOT / level_kernels.FOLDER)
    pure = build_pure(output)
    content = _content(pure)
    [facts] = [name for name in content if name.endswith(".dist-info/WHEEL")]
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in PLATFORMS.split("."))
    text = content[facts].decode().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
    content[facts] = text.replace("Tag: py3-none-any\n", tags).encode()
    native = pure.with_name(pure.name.replace("none-any", f"none-{PLATFORMS}"))
    _write(native, content, level_kernels.files())
    return [pure, native]


def build_pure(output: Path) -> Path:
    """Build the pure wheel into a folder, with the kernels for browsers that are built, and return its path."""
    output.mkdir(parents=True, exist_ok=True)
    is_lacking = level_kernels.stale(ROOT / level_kernels.FOLDER, wasm=True)
    with TemporaryDirectory() as work:
        shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # it may hold modules that are gone
        command = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", work, str(ROOT))
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        [made] = Path(work).iterdir()
        _write(output / made.name, _content(made), [] if is_lacking else level_kernels.files(wasm=True))
        return output / made.name


def _content(path: Path) -> dict[str, bytes]:
    with ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


def _write(path: Path, content: dict[str, bytes], kernels: list[Path]) -> None:
    """Write a wheel with these files and kernels, and the list of them."""
    for file in kernels:  # others in the folder belong to older sources
        content = content | {str(HOME_OF_KERNELS / file): (ROOT / level_kernels.FOLDER / file).read_bytes()}
    [record] = [name for name in content if name.endswith(".dist-info/RECORD")]
    content = content | {record: b""}
    content[record] = "".join(map(_entry, content, content.values())).encode()
    with ZipFile(path, "w") as wheel:
        for name, data in content.items():
            wheel.writestr(ZipInfo(name), data, ZIP_DEFLATED, 9)


def _entry(name: str, data: bytes) -> str:
    """Return the line of a file in the list of contents, without a digest for the list itself."""
    digest = urlsafe_b64encode(sha256(data).digest()).decode().rstrip("=")
    return f"{name},,\n" if name.endswith(".dist-info/RECORD") else f"{name},sha256={digest},{len(data)}\n"


def main() -> int:
    """Build, and print the paths."""
    parser = argparse.ArgumentParser(prog="python -m tools.release.wheel", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default="dist", metavar="FOLDER", help="(default: dist)")
    for path in build(parser.parse_args().output):
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
