"""Files that commands write."""

import os
import threading

import pytest

from nonobot.harness import UnusableError
from nonobot.harness.results.result_files import write_json
from nonobot.harness.user_files import write_output
from nonobot.system import whole_file, write_all
from tests.helpers.ranked import run_result


def test_a_file_has_its_name_only_once_it_is_complete(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with whole_file(path) as file:
        file.write(b"after")
        file.flush()
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def interrupted(path):
    with whole_file(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def disk_full(_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("write", "error"), [(interrupted, KeyboardInterrupt), (lambda path: write_json(path, run_result()), OSError)]
)
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, write, error):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(error):
        write(path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_output_is_written_through_links_but_results_replace_them(tmp_path):
    (tmp_path / "file").write_bytes(b"before")
    (tmp_path / "link").symlink_to("file")
    write_output(tmp_path / "link", b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"after"
    write_json(tmp_path / "link", run_result())  # in a folder of results, a link may be a stranger's
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"after"
    (tmp_path / "dangling").symlink_to("elsewhere")
    write_json(tmp_path / "dangling", run_result())
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    write_output(tmp_path / "one", b"after")
    assert (tmp_path / "other").read_bytes() == b"after"


def test_pipes_are_written_to_and_partial_writes_are_completed(tmp_path, monkeypatch):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_output(path, b"content")
    reader.join()
    assert read == [b"content"]
    source, target = os.pipe()
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, content[:3]))
    write_all(target, b"an answer")
    os.close(target)
    assert os.read(source, 100) == b"an answer"
    os.close(source)


@pytest.mark.parametrize("name", ["no-such-folder/file", "folder"])
def test_an_unwritable_file_is_reported(tmp_path, name):
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnusableError, match=f"cannot write .*{name}: "):
        write_output(tmp_path / name, b"")
