"""The page as files: what is in them, where they may be written, and Python that needs nothing else."""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from nonobot.harness import UnusableError, cli
from nonobot.harness.page import site
from tests.helpers.paged import skip_without_browser_parts
from tests.helpers.places import sparse

FIRST_VISIT_BYTES = 7_500_000
"""What a first visit may transfer, compressed as most servers do."""


@pytest.fixture(scope="module")
def needs():
    """Skip where there is no Pyodide, or no kernels."""
    skip_without_browser_parts()


@pytest.fixture(scope="module")
def folder(needs, tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("page") / "site"
    site.write_site(made, 5.0)
    return made


def test_every_file_is_listed_with_its_digest_and_a_first_visit_transfers_little(folder):
    listing = json.loads((folder / "files.json").read_bytes())
    paths = [path for path in folder.rglob("*") if path.is_file()]
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    assert set(listing["files"]) == files.keys() - {"files.json"}
    for name, facts in listing["files"].items():
        if name != "service_worker.js":  # it contains the version
            assert facts == {"size": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()}
    assert f'"{listing["version"]}"' in files["service_worker.js"].decode()
    visited = [files[name] for name in listing["files"] if not name.startswith("sets/")]
    assert sum(len(gzip.compress(content, 6)) for content in visited) < FIRST_VISIT_BYTES


def test_every_address_is_of_this_site_and_every_page_has_the_policy(folder):
    for path in [*folder.glob("*.html"), *folder.glob("*.js"), *folder.glob("static/*")]:
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text, path
        for address in re.findall(r"(?:src|href)=\"([^\"#]*)\"|from \"([^\"]*)\"", text):
            found = (folder / "static" if path.suffix == ".js" else folder) / max(address)
            assert not max(address).startswith("/"), path
            assert found.exists() or max(address) in ("./", "", "live"), (path, address)
    for name in ("index.html", "service_worker.js"):
        assert f'"{site.POLICY}"' in (folder / name).read_text()


def version(folder: Path) -> str:
    return json.loads((folder / "files.json").read_bytes())["version"]


def test_a_changed_time_limit_changes_the_version_of_the_site(folder, tmp_path):
    site.write_site(tmp_path, 5.0, is_served=True)
    first = version(tmp_path)
    site.write_site(tmp_path, 5.0)
    assert first != version(tmp_path) == version(folder)
    site.write_site(tmp_path, 6.0)
    assert version(tmp_path) != version(folder)


def test_the_python_of_the_page_needs_the_standard_library_alone(folder):
    """Imported from the archive, without the packages that are installed here."""
    with ZipFile(folder / "nonobot.zip") as archive:
        names = archive.namelist()
    modules = [name.removesuffix(".py").replace("/", ".") for name in names if "/protocol/" in name]
    modules = [module.removesuffix(".__init__") for module in modules if module != "nonobot.protocol.characters"]
    start = """
import sys
sys.path.insert(0, sys.argv[1])
from nonobot.harness.page import worker_calls
for name in sys.argv[2:]:
    __import__(name)
assert not {"numpy", "msgspec", "asyncio", "tomllib", "llvmlite"} & set(sys.modules), sys.modules
assert worker_calls.__file__.startswith(sys.argv[1])
print(worker_calls.answered("read", '{"number": 1}', b"1:1-2"))
print(worker_calls.answered("set", '{"name": "boardgen:5x5x3:seed=1", "number": 2}'))
"""
    command = [sys.executable, "-I", "-S", "-c", start, str(folder / "nonobot.zip"), *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read, of_set = map(json.loads, done.stdout.splitlines())
    assert (read["board"]["columns"], of_set["board"]["title"]) == ([[2]], "boardgen:5x5x3:seed=1 $2")


def test_an_export_fills_an_empty_folder_and_replaces_an_earlier_one(needs, tmp_path, output_of):
    out = output_of(cli.run, ["page", "--export", str(tmp_path)]).out
    assert re.search(r"page: .* \(\d+ files, 1\d\.\d MB\)\n.*python3 -m http.server --directory ", out)
    output_of(cli.run, ["page", "--export", str(tmp_path)])


def test_a_folder_with_other_files_is_refused_in_a_line(tmp_path, output_of):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "list").mkdir()
    (tmp_path / "list" / "files.json").write_text("[]")
    for name, why in ((".", "not an earlier export"), ("list", "not an earlier export"), ("file", "not a folder")):
        out, err = output_of(cli.run, ["page", "--export", str(tmp_path / name)], status=2)
        assert (out, why in err, err.count("\n")) == ("", True, 1)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.fixture
def small(monkeypatch):
    """Have a site of three files, which needs neither kernels nor Pyodide."""
    contents = {"service_worker.js": b'"VERSION"', "static/a.js": b"a", "static/b.js": b"b"}
    monkeypatch.setattr(site, "_contents", lambda *_: iter(contents.items()))


def earlier_export(folder, *names):
    """Make a folder that a stranger packed as an earlier export with these files."""
    folder.mkdir()
    (folder / "files.json").write_text(json.dumps({"files": [*names]}))
    return folder


@pytest.mark.usefixtures("small")
def test_an_export_removes_files_of_an_earlier_one(tmp_path):
    folder = earlier_export(tmp_path / "site", "static/gone.js")
    (folder / "static").mkdir()
    (folder / "static" / "gone.js").touch()
    (folder / "static" / "mine.js").touch()
    site.write_site(folder, 5.0)
    assert sorted(path.name for path in (folder / "static").iterdir()) == ["a.js", "b.js", "mine.js"]


@pytest.mark.usefixtures("small")
def test_links_in_an_untrusted_export_are_not_followed(tmp_path):
    mine, theirs = tmp_path / "mine", earlier_export(tmp_path / "theirs", "gone/file", "/x", "../mine/file", "\0")
    mine.mkdir()
    (mine / "file").write_text("mine")
    (theirs / "static").mkdir()
    (theirs / "static" / "a.js").symlink_to(mine / "file")
    os.mkfifo(theirs / "static" / "b.js")
    site.write_site(theirs, 5.0)
    assert (theirs / "static" / "a.js").read_bytes() == b"a"
    for name in ("static", "gone"):
        shutil.rmtree(theirs)
        (earlier_export(theirs, "gone/file") / name).symlink_to(mine)
        with pytest.raises(UnusableError, match=f"theirs/{name} is a link"):
            site.write_site(theirs, 5.0)
    assert {path: path.read_text() for path in mine.iterdir()} == {mine / "file": "mine"}


LISTS = {
    "pipe": os.mkfifo,
    "sparse": sparse,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "deep": lambda path: path.write_text("[" * 1_000_000),
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", LISTS)
def test_the_list_of_an_earlier_export_is_read_as_data(tmp_path, kind):
    LISTS[kind](tmp_path / "files.json")
    with pytest.raises(UnusableError, match="not an earlier export"):
        site.write_site(tmp_path, 5.0)


def test_an_export_without_kernels_or_with_a_live_view_is_a_one_line_error(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(site, "wasm_kernels", list)
    assert cli.run(["page", "--export", str(tmp_path / "site")]) == 2
    assert "`python -m tools.release.level_kernels --only-wasm`; it needs wasm-ld" in capsys.readouterr().err
    assert cli.run(["page", "--export", str(tmp_path / "site"), "--results", str(tmp_path)]) == 2
    assert "--results: an exported page has no live view" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
