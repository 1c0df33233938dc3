"""Build the bot as one static executable: `python -m tools.release.executable [-o FILE]`.

It contains the interpreter, its library, the bot and the kernels of all levels of x86-64. The parts come from
packages of Debian 12 (`PACKAGES`). The licences of all parts are in FILE.licences.txt; `FILE --licences` prints
them. The same packages, sources and kernels give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote
from uuid import UUID

from nonobot import __version__
from nonobot.bot.kernels.machine_code import OUTSIDE, parts_of
from nonobot.bot.kernels.shipped import LEVELS, sealed
from nonobot.system import whole_file, with_file
from tools.release import level_kernels

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
APT = "sudo apt-get install gcc libpython3.11-dev python3.11-minimal"  # installs all packages

PACKAGES = {
    "libpython3.11-dev": "3.11.2-6",
    "libpython3.11-stdlib": "3.11.2-6",
    "libpython3.11-minimal": "3.11.2-6",
    "python3.11-minimal": "3.11.2-6",
    "libc6-dev": "2.36-9",
    "libexpat1-dev": "2.5.0-1",
    "zlib1g-dev": "1:1.2.13.dfsg-1",
    "libgcc-12-dev": "12.2.0-14",
    "gcc-12": "12.2.0-14",
    "binutils-x86-64-linux-gnu": "2.40-2",
}
"""The packages of the executable, with their versions up to Debian's security updates."""

PYTHON, LIBRARY, HEADERS = "/usr/bin/python3.11", Path("/usr/lib/python3.11"), "/usr/include/python3.11"
ARCHIVE = LIBRARY / "config-3.11-x86_64-linux-gnu" / "libpython3.11.a"
LIBRARIES = ("-lexpat", "-lz", "-lm")
GCC = ("gcc-12", "-O2", "-static", "-no-pie", "-s", "-Wl,--build-id=none", f"-I{HEADERS}")
KERNELS_AT, ALIGNMENT = 0x1000_0000, 64  # address of the kernels, after all else; first a jump to OUTSIDE

LICENSED = {
    "libpython3.11-dev": {"license": {"id": "Python-2.0"}},
    "libc6-dev": {"license": {"id": "LGPL-2.1-or-later"}},
    "libgcc-12-dev": {"expression": "GPL-3.0-or-later WITH GCC-exception-3.1"},
    "libexpat1-dev": {"license": {"id": "MIT"}},
    "zlib1g-dev": {"license": {"id": "Zlib"}},
}
"""Packages of the executable's parts, with their licences as in CycloneDX; Debian's full ones: /usr/share/doc."""

COMMON_LICENCES = ("LGPL-2.1", "GPL-3")  # licences that these statements name and do not contain

RELINKING = """\
nonobot as one executable. It contains parts with the licences below: nonobot, Python, the GNU C library, the
runtime library of GCC, Expat and zlib. The GNU C library is under the LGPL: to link this program with another
version of it, install that version and run `python -m tools.release.executable` in a clone of nonobot.
"""


class MissingError(Exception):
    """A requirement is missing or has the wrong version; the message is one line that names it."""


def installed_packages() -> dict[str, str]:
    """Return the versions of PACKAGES as installed. MissingError: one is missing, or is not as Debian made it."""
    try:
        form = "--showformat=${Package} ${db:Status-Status} ${Version}\n"
        listed = _output("dpkg-query", "--show", form, *PACKAGES)
        changed = _output("dpkg", "--verify", *PACKAGES)
    except FileNotFoundError:
        raise MissingError(f"an executable is built on Debian 12, and there is no dpkg here; {APT}") from None
    rows = map(str.split, listed.splitlines())
    installed = {name: version for name, status, version in rows if status == "installed"}
    for name, wanted in PACKAGES.items():
        version = installed.get(name)
        if version is None:
            raise MissingError(f"the package {name} is not installed; {APT}")
        if not version.startswith(wanted):
            raise MissingError(f"{name} {version} is installed; an executable is made of {wanted}, of Debian 12")
    for mark, *_, path in map(str.split, changed.splitlines()):
        if mark[2:3] == "5":  # its digest differs; files that are only missing are not used here
            remedy = "sudo apt-get install --reinstall brings it back"
            raise MissingError(f"{path} is not the file of its package; {remedy}")
    return installed


def build(output: Path) -> None:
    """Build the executable and, next to it, the licences and the list of its parts (SBOM)."""
    packages = installed_packages()
    level_kernels.build(ROOT / level_kernels.FOLDER, wasm=False)
    licences = licences_of(packages)
    with TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "licences.py").write_text(f"TEXT = {licences!r}\n")
        frozen = _run(work, PYTHON, "-I", str(HERE / "freeze.py"), str(ROOT), str(LIBRARY), "modules.bin")
        lines = [*tables_of_modules(frozen), *code_of_kernels(work)]
        (work / "parts.S").write_text("\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""]))
        sources = (str(HERE / "program.c"), "parts.S", str(ARCHIVE))
        _run(work, *GCC, "-o", "program", *sources, *LIBRARIES, f"-Wl,--section-start=.kernels={KERNELS_AT:#x}")
        output.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(output) as file:
            file.write((work / "program").read_bytes())
            os.fchmod(file.fileno(), 0o755)
    output.with_name(f"{output.name}.licences.txt").write_text(licences)
    output.with_name(f"{output.name}.cdx.json").write_text(parts_list(packages, output.read_bytes()))


def parts_list(packages: dict[str, str], program: bytes) -> str:
    """Return the parts of the executable with versions and licences, as JSON of CycloneDX 1.6."""
    digest = sha256(program).hexdigest()
    timestamp = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), UTC)
    own = {"type": "application", "bom-ref": "nonobot", "name": "nonobot", "version": __version__}
    own |= {"licenses": [{"license": {"id": "MIT"}}], "hashes": [{"alg": "SHA-256", "content": digest}]}
    parts = [
        {"type": "library", "bom-ref": name, "name": name, "version": packages[name], "licenses": [licence]}
        | {"purl": f"pkg:deb/debian/{name}@{quote(packages[name])}?arch=amd64&distro=bookworm"}
        for name, licence in LICENSED.items()
    ]
    document = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": parts}
    document |= {"serialNumber": f"urn:uuid:{UUID(hex=digest[:32], version=4)}"}
    document |= {"metadata": {"timestamp": timestamp.isoformat(), "component": own}}
    document |= {"dependencies": [{"ref": "nonobot", "dependsOn": list(LICENSED)}]}
    return json.dumps(document, indent=1) + "\n"


def licences_of(packages: dict[str, str]) -> str:
    """Return the licences of all parts of the executable, with the versions of the packages."""
    documents = {"nonobot": ROOT / "LICENSE"}
    for name in LICENSED:
        documents[f"{name} {packages[name]}"] = Path("/usr/share/doc", name, "copyright")
    for name in COMMON_LICENCES:
        documents[name] = Path("/usr/share/common-licenses", name)
    try:
        texts = [f"{'=' * 100}\n{title}\n{'=' * 100}\n\n{path.read_text()}" for title, path in documents.items()]
    except OSError as error:
        message = with_file(error)
        raise MissingError(f"{message}; the executable has to contain this licence") from None
    return "\n".join([RELINKING, *texts])


def tables_of_modules(frozen: str) -> Iterator[str]:
    """Yield assembler for the frozen modules, and for the initialisers of the built-in ones."""
    listed = [line.split() for line in frozen.splitlines()]
    yield from (".section .rodata", ".balign 64", 'code: .incbin "modules.bin"')
    names = [name for name, *_ in listed]
    yield from (f'name{index}: .asciz "{name}"' for index, name in enumerate(names))
    yield from (".data", ".balign 64", ".globl modules", "modules:")
    for index, (_, *where) in enumerate(listed):
        if where:
            place, size, is_package = where
            yield f".quad name{index}, code + {place}; .long {size}, {is_package}; .quad 0"
    yield from (".zero 32", ".globl _PyImport_Inittab", "_PyImport_Inittab:")
    for index, (name, *where) in enumerate(listed):
        if not where:
            yield f".quad name{index}, {INITIALISERS.get(name, f'PyInit_{name}')}"
    yield from (f".quad own{index}, PyInit_{name}" for index, name in enumerate(OWN))
    yield ".zero 16"
    yield from (f'own{index}: .asciz "{name}"' for index, name in enumerate(OWN))


INITIALISERS = {"builtins": "0", "sys": "0", "marshal": "PyMarshal_Init", "_warnings": "_PyWarnings_Init"}
"""Functions with an unusual name; these two modules are initialised before all others."""

OWN = ("_nonobot", "_typing")  # the modules of `program.c`


def code_of_kernels(work: Path) -> Iterator[str]:
    """Yield assembler for the kernels and their table; the file `kernels.bin` gets their code.

    Their place in memory is fixed, so that all addresses in their code, and so its checksum, are known here.
    """
    names = sorted({file.name for file in level_kernels.files()})
    table: dict[str, str] = {name: f".quad kernel{index}" for index, name in enumerate(names)}
    whole = bytearray()
    for level, name in product(LEVELS, names):
        content = (ROOT / level_kernels.FOLDER / level / name).read_bytes()
        start, within, outside, laid = parts_of(content[len(sealed(b"\0")) :])
        whole += bytes(-len(whole) % ALIGNMENT)
        address, code = KERNELS_AT + ALIGNMENT + len(whole), bytearray(laid)
        for place in within:
            target = address + int.from_bytes(code[place : place + 8], "little")
            code[place : place + 8] = target.to_bytes(8, "little")
        for place in outside:
            code[place : place + 8] = KERNELS_AT.to_bytes(8, "little")
        whole += code
        table[name] += f"; .quad {address}, {address + start}; .long {len(code)}, {zlib.crc32(code)}"
    (work / "kernels.bin").write_bytes(whole)
    yield from ('.section .kernels,"ax",@progbits', f"jmp {OUTSIDE}", f".balign {ALIGNMENT}")
    yield from ('.incbin "kernels.bin"', ".data", ".balign 64", ".globl kernels", "kernels:")
    yield from (*table.values(), ".quad 0")
    yield from (f'kernel{index}: .asciz "{Path(name).stem}"' for index, name in enumerate(names))


def _output(*command: str) -> str:
    """Return what a command prints, whatever its exit status is."""
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


def _run(folder: Path, *command: str) -> str:
    """Run a command in a folder and return what it prints. MissingError: it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingError(f"{command[0]} failed: {' '.join(done.stderr.split())[-500:]}")
    return done.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, and print the path."""
    parser = argparse.ArgumentParser(prog="python -m tools.release.executable", description=__doc__)
    default = Path("dist", "nonobot")
    parser.add_argument("-o", "--output", type=Path, default=default, metavar="FILE", help=f"(default: {default})")
    about = "only check that the packages are installed, before anything is compiled"
    parser.add_argument("--check", action="store_true", help=about)
    options = parser.parse_args(arguments)
    output: Path = options.output
    try:
        if options.check:
            installed_packages()
            return 0
        build(output)
    except MissingError as error:
        print(f"tools.release.executable: {error}", file=sys.stderr)
        return 2
    print(f"{output}  {output.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
