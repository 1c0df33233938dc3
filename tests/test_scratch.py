"""Scratch folders: private, and gone afterwards with all that stands in them."""

from __future__ import annotations

import os
import stat

import pytest

from nonobot.harness.play.scratch import scratch_folder


def test_it_is_fresh_and_private_and_gone_afterwards():
    with scratch_folder() as one, scratch_folder() as other:
        assert one != other
        assert list(one.iterdir()) == []
        assert stat.S_IMODE(one.stat().st_mode) == 0o700
        (one / "file").write_text("x")
    assert not one.exists()
    assert not other.exists()


def test_it_goes_after_an_error_too():
    with pytest.raises(ZeroDivisionError), scratch_folder() as folder:
        raise ZeroDivisionError
    assert not folder.exists()


def test_folders_that_forbid_it_and_odd_names_go_and_what_links_lead_to_stays(tmp_path):
    (tmp_path / "kept").write_text("kept")
    with scratch_folder() as folder:
        (folder / "sealed" / "inner").mkdir(parents=True)
        (folder / "sealed" / "inner" / "-rf\n").write_text("x")
        (folder / "sealed" / "out").symlink_to(tmp_path)
        os.mkfifo(folder / "pipe")
        for sealed in (folder / "sealed" / "inner", folder / "sealed", folder):
            sealed.chmod(0)
    assert not folder.exists()
    assert (tmp_path / "kept").read_text() == "kept"
    assert stat.S_IMODE(tmp_path.stat().st_mode) & 0o700 == 0o700


def test_what_is_nested_deeper_than_a_path_may_be_long_goes():
    with scratch_folder() as folder:
        at = os.open(folder, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("deeper", dir_fd=at)
            below = os.open("deeper", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = below
        os.close(at)
    assert not folder.exists()
