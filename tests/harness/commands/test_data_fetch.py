"""Fetching, from a server on this machine that does all that servers do."""

import hashlib
import os
import signal
import socket
import subprocess
import sys

import pytest

from nonobot.harness import cli
from nonobot.tournament_data import registry
from nonobot.tournament_data.downloads import FetchError, OfflineError, SetupError
from nonobot.tournament_data.registry import State, fetch, state_of, stored_path
from tests.helpers import published
from tests.helpers.waiting import finished, running, wait_until

CONTENT = published.CONTENTS["taai2011"]


@pytest.fixture(scope="module")
def url():
    with published.server() as running:
        yield running


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, url):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with published.small_registry(tmp_path, monkeypatch, f"{url}/good") as path:
        yield path


@pytest.fixture
def own_registry():
    return registry._FILE


def names_in(folder):
    return sorted(os.listdir(folder)) if folder.exists() else []  # noqa: PTH208


def small_set(url, behaviour):
    return registry.official_sets()["taai2011"].at(f"{url}/{behaviour}")


@pytest.mark.parametrize("behaviour", ["good", "moved", "packed", "trickling"])
def test_a_fetched_set_is_stored(url, folder, behaviour):
    official = small_set(url, behaviour)
    counted = []
    fetch(official, timeout_seconds=10, on_bytes=counted.append)
    assert stored_path(official).read_bytes() == CONTENT
    assert state_of(official) is State.HERE
    assert names_in(folder) == ["taai2011.txt"]
    assert stored_path(official).stat().st_mode & 0o777 == 0o644
    assert sum(counted) >= len(CONTENT)


@pytest.mark.parametrize(
    ("behaviour", "error", "message"),
    [
        ("missing", FetchError, "the server answered 404"),
        ("broken", FetchError, "the server answered 503"),
        ("wrong", FetchError, "not the published file"),
        ("cut", FetchError, "the transfer broke off"),
        ("silent-cut", FetchError, "not the published file"),
        ("endless", FetchError, "over 2000000 bytes"),
        ("dead", OfflineError, "no answer within 0.2 s"),
        ("stuck", OfflineError, "no answer within 0.2 s"),
    ],
)
def test_a_download_with_wrong_content_is_not_stored(url, folder, behaviour, error, message):
    official = small_set(url, behaviour)
    with pytest.raises(error, match=f"^{official.url}: .*{message}.*$") as caught:
        fetch(official, timeout_seconds=0.2 if error is OfflineError else 60)
    assert type(caught.value) is error
    assert names_in(folder) == []


def closed_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.mark.parametrize(
    ("base", "message"),
    [("nobody-listens", "refused"), ("http://nonobot.invalid", "http://nonobot.invalid")],
)
def test_a_missing_network_is_a_one_line_error(folder, base, message):
    if base == "nobody-listens":
        base = f"http://127.0.0.1:{closed_port()}"
    official = registry.official_sets()["taai2011"].at(base)
    with pytest.raises(OfflineError, match=message) as caught:
        fetch(official, timeout_seconds=5)
    assert "\n" not in str(caught.value)
    assert "Caused by" not in str(caught.value)
    assert names_in(folder) == []


def test_a_damaged_file_is_replaced_and_a_good_one_left_alone(url, folder):
    folder.mkdir(parents=True)
    official = small_set(url, "good")
    stored_path(official).write_bytes(b"$1\n")
    assert state_of(official) is State.DAMAGED
    with pytest.raises(FetchError):
        fetch(small_set(url, "wrong"))
    assert stored_path(official).read_bytes() == b"$1\n"
    fetch(official)
    assert state_of(official) is State.HERE
    fetch(small_set(url, "missing"))  # asks nobody


def test_without_pooch_the_error_names_the_install_command(url, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(SetupError, match=r"-m pip install pooch"):
        fetch(small_set(url, "good"))


def test_data_fetch_fetches_sets_and_reports_them(url, folder, output_of):
    assert output_of(cli.run, ["data", "fetch", "taai2011", "taai2011"]) == ("taai2011: fetched\n", "")
    assert output_of(cli.run, ["data", "fetch", "--all"]) == ("taai2011: here already\ntcga2012: fetched\n", "")
    assert names_in(folder) == ["taai2011.txt", "tcga2012.txt"]


def test_one_unavailable_set_does_not_stop_the_others(url, own_registry, output_of):
    digest = hashlib.sha256(CONTENT).hexdigest()
    own_registry.write_text(own_registry.read_text().replace(digest, "0" * 64))
    out, err = output_of(cli.run, ["data", "fetch", "--all"], status=1)
    assert out == "tcga2012: fetched\n"
    assert "nonojudge: taai2011: " in err
    assert "1 of 2 sets fetched; by hand: " in err
    assert "data import FOLDER" in err


def test_data_fetch_without_network_or_folder_suggests_a_remedy(url, capsys, tmp_path, monkeypatch, output_of):
    assert cli.run(["data", "fetch", "--all", "--from", f"http://127.0.0.1:{closed_port()}"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "refused" in err
    assert "tcga2012" not in err
    assert "git clone https://github.com/" in err
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("NONOBOT_DATA", str(tmp_path / "file"))
    err = output_of(cli.run, ["data", "fetch", "--all"], status=2).err
    assert err.startswith("nonojudge: cannot write ")
    assert err.count("\n") == 1


def test_two_fetches_of_a_set_at_once_both_succeed(url, own_registry, folder):
    command = published.judge_command(own_registry, "data", "fetch", "--all", "--from", f"{url}/trickling/")
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    for run in runs:
        out, err = finished(run)
        assert (run.returncode, err) == (0, b"")
        assert out.count(b"taai2011: ") == 1
    assert names_in(folder) == ["taai2011.txt", "tcga2012.txt"]
    assert {state_of(official) for official in registry.official_sets().values()} == {State.HERE}


INTERRUPTED = b"nonojudge: interrupted\n"


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [(signal.SIGINT, 130, INTERRUPTED), (signal.SIGTERM, 130, INTERRUPTED), (signal.SIGKILL, -9, b"")],
)
def test_an_interrupted_fetch_leaves_no_set_behind(url, own_registry, folder, number, status, said):
    command = published.judge_command(own_registry, "data", "fetch", "taai2011", "--from", f"{url}/stuck")
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        wait_until(lambda: any(path.stat().st_size for path in folder.glob("*")), run)
        run.send_signal(number)
        assert finished(run) == (b"", said)
    assert run.returncode == status
    assert names_in(folder) == [] or number is signal.SIGKILL
    assert state_of(small_set(url, "good")) is State.MISSING
    fetch(small_set(url, "good"))
    assert state_of(small_set(url, "good")) is State.HERE
