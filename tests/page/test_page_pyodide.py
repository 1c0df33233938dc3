"""Pyodide fetched, or taken from a folder or a package, with a small package on a server of this machine."""

import hashlib
import io
import shutil
import tarfile

import pytest

from nonobot.harness import UnusableError
from nonobot.harness.page import pyodide
from nonobot.harness.page.pyodide import VERSION, pyodide_folder
from tests.helpers import published

FILES = {name: name.encode() * 20_000 for name in pyodide.DIGESTS}


def package() -> bytes:
    """Return a package as npm's: a folder `package` with these files and others."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, content in {"README.md": b"about it", **FILES}.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


PACKAGE = package()


@pytest.fixture(scope="module")
def url():
    with published.server({f"pyodide-{VERSION}.tgz": PACKAGE}) as running:
        yield running


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Return the cache's folder for Pyodide, of the test's own."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", pyodide.FOLDER_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    monkeypatch.setattr(pyodide, "DIGESTS", digests)
    monkeypatch.setattr(pyodide, "PACKAGE_DIGEST", f"sha512:{hashlib.sha512(PACKAGE).hexdigest()}")
    monkeypatch.setattr(pyodide, "MOST_BYTES", 200_000)
    monkeypatch.setenv(pyodide.REGISTRY_VARIABLE, "http://127.0.0.1:9")
    return tmp_path / "cache" / "nonobot"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def faults(pattern):
    return pytest.raises(UnusableError, match=pattern)


def test_pyodide_is_fetched_once_and_replaced_if_damaged(url, cache, monkeypatch):
    monkeypatch.setenv(pyodide.REGISTRY_VARIABLE, f"{url}/good/")
    folder = pyodide_folder()
    assert folder == cache / f"pyodide-{VERSION}"
    assert contents(folder) == FILES
    assert list(cache.iterdir()) == [folder]
    monkeypatch.setenv(pyodide.REGISTRY_VARIABLE, f"{url}/missing")
    assert pyodide_folder() == folder
    monkeypatch.setenv(pyodide.REGISTRY_VARIABLE, f"{url}/good")
    folder = pyodide_folder()
    (folder / "pyodide.mjs").write_bytes(b"damaged")
    (folder / "python_stdlib.zip").unlink()
    assert contents(pyodide_folder()) == FILES


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("wrong", "not the published file .its SHA-512 differs"),
        ("cut", "the transfer broke off; try again"),
        ("silent-cut", "not the published file"),
        ("endless", "not the published file .over 200000 bytes"),
        ("missing", "the server answered 404"),
    ],
)
def test_a_download_that_is_not_pyodide_is_not_stored(url, cache, monkeypatch, behaviour, message):
    monkeypatch.setenv(pyodide.REGISTRY_VARIABLE, f"{url}/{behaviour}")
    address = f"{url}/{behaviour}/pyodide/-/pyodide-{VERSION}.tgz"
    with faults(f"^cannot fetch Pyodide from {address}: {message}.*; or set NONOBOT_PYODIDE to .*$"):
        pyodide_folder()
    assert list(cache.iterdir()) == []


def test_pyodide_can_be_given_as_a_folder_or_a_package(tmp_path, cache, monkeypatch):
    (tmp_path / "own.tgz").write_bytes(PACKAGE)
    monkeypatch.setenv(pyodide.FOLDER_VARIABLE, str(tmp_path / "own.tgz"))
    assert contents(pyodide_folder()) == FILES
    shutil.copytree(cache / f"pyodide-{VERSION}", tmp_path / "own")
    shutil.rmtree(cache)
    monkeypatch.setenv(pyodide.FOLDER_VARIABLE, str(tmp_path / "own"))
    assert pyodide_folder() == tmp_path / "own"
    assert not cache.exists()


def test_another_version_of_pyodide_is_refused(tmp_path, monkeypatch):
    (tmp_path / "own.tgz").write_bytes(PACKAGE[:-1])
    monkeypatch.setenv(pyodide.FOLDER_VARIABLE, str(tmp_path / "own.tgz"))
    with faults(rf"own.tgz: not npm's package pyodide {VERSION} \(its SHA-512 differs\)$"):
        pyodide_folder()
    (tmp_path / "own").mkdir()
    monkeypatch.setenv(pyodide.FOLDER_VARIABLE, str(tmp_path / "own"))
    with faults("^NONOBOT_PYODIDE=.*own: cannot read pyodide.mjs: No such file or directory; name the folder or"):
        pyodide_folder()
    (tmp_path / "own" / "pyodide.mjs").write_bytes(b"another")
    with faults(f"pyodide.mjs is not that of Pyodide {VERSION} .its SHA-256 differs.; name the folder or"):
        pyodide_folder()


def test_an_unwritable_cache_is_a_one_line_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with faults("^cannot write .*: Not a directory$"):
        pyodide_folder()
