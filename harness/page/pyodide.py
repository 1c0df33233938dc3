"""Pyodide, the Python of the page: files of the npm package `pyodide` (MPL 2.0), fetched into the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

from nonobot.harness import UnusableError
from nonobot.harness.progress import Progress
from nonobot.system import reason_of, user_cache
from nonobot.tournament_data.downloads import FetchError, PublishedFile, SetupError

VERSION = "314.0.7"

FOLDER_VARIABLE = "NONOBOT_PYODIDE"  # names a folder with the files, or the package as a .tgz file

REGISTRY_VARIABLE = "NPM_CONFIG_REGISTRY"  # npm's environment variable that names another registry of packages

DIGESTS = {
    "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
    "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
    "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
    "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
    "pyodide-lock.json": "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010",
}
"""SHA-256 of each of the files that the page needs."""

PACKAGE_DIGEST = (
    "sha512:d18bd7c4485f11da4b7dbfd790cd8114078c44eab488c517d9bcf31fda4eb6dc"
    "8c716930abe1db139bb2b860fcd8b37bcb6abe48dbe2ffa579244b0e943d91d4"
)
"""Digest of the package, its `integrity` at npm."""

PACKAGE_BYTES = 6_488_647
MOST_BYTES = 7_000_000  # pooch counts in whole pieces


def pyodide_folder() -> Path:
    """Return $NONOBOT_PYODIDE or a folder in the user's cache, with the files of DIGESTS, fetched if needed."""
    chosen = Path(os.environ[FOLDER_VARIABLE]) if os.environ.get(FOLDER_VARIABLE) else None
    if chosen and not chosen.is_file():
        if fault := _fault(chosen):
            remedy = f"name the folder or the .tgz of npm's package pyodide {VERSION}"
            raise UnusableError(f"{FOLDER_VARIABLE}={chosen}: {fault}; {remedy}")
        return chosen.absolute()
    folder = user_cache() / f"pyodide-{VERSION}"
    if _fault(folder):
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".pyodide-", dir=folder.parent) as place:
                unpacked = _unpacked(chosen or _fetched(Path(place)), Path(place, "files"))
                if folder.exists():  # a damaged one
                    shutil.rmtree(folder)
                unpacked.rename(folder)
        except OSError as error:
            if _fault(folder):  # otherwise another process was first
                raise UnusableError(f"cannot write {folder}: {reason_of(error)}") from None
    return folder


def _fault(folder: Path) -> str | None:
    """Return why a folder cannot be used as Pyodide, None if it can."""
    for name, digest in DIGESTS.items():
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            return f"cannot read {name}: {reason_of(error)}"
        if hashlib.sha256(content).hexdigest() != digest:
            return f"{name} is not that of Pyodide {VERSION} (its SHA-256 differs)"
    return None


def _fetched(folder: Path) -> Path:
    registry = os.environ.get(REGISTRY_VARIABLE) or "https://registry.npmjs.org"
    url = f"{registry.rstrip('/')}/pyodide/-/pyodide-{VERSION}.tgz"
    package = folder / "pyodide.tgz"
    done = 0
    with Progress(PACKAGE_BYTES) as progress:

        def on_bytes(count: int) -> None:
            nonlocal done
            done += count
            progress.show(done, f"Pyodide, {min(done, PACKAGE_BYTES) / 1e6:.1f} of {PACKAGE_BYTES / 1e6:.1f} MB")

        try:
            PublishedFile(url, PACKAGE_DIGEST, MOST_BYTES).fetch(package, on_bytes=on_bytes)
        except SetupError as error:
            raise UnusableError(str(error)) from None
        except FetchError as error:
            remedy = f"or set {FOLDER_VARIABLE} to a copy of this file from elsewhere"
            raise UnusableError(f"cannot fetch Pyodide from {error}; {remedy}") from None
    return package


def _unpacked(package: Path, folder: Path) -> Path:
    algorithm, _, digest = PACKAGE_DIGEST.partition(":")
    if hashlib.new(algorithm, package.read_bytes()).hexdigest() != digest:
        raise UnusableError(f"{package}: not npm's package pyodide {VERSION} (its SHA-512 differs)")
    folder.mkdir()
    with tarfile.open(package) as archive:
        for name in DIGESTS:
            content = archive.extractfile(f"package/{name}")
            assert content is not None  # as the digest says
            (folder / name).write_bytes(content.read())
    return folder
