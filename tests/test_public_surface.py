"""The public surface does not change unnoticed (see docs/compatibility.md)."""

from __future__ import annotations

import argparse

import msgspec
import pytest

from tests.public_surface import GOLDEN, fields, options, surface


def test_the_surface_is_that_of_the_list():
    listed = GOLDEN.read_text(encoding="utf-8").splitlines()
    found = surface()
    gone = [f"gone: {line}" for line in listed if line not in found]
    new = [f"new: {line}" for line in found if line not in listed]
    if gone or new:
        remedy = "if that is intended, read docs/compatibility.md and run `python -m tests.public_surface`"
        pytest.fail("\n".join([*gone, *new, remedy]), pytrace=False)


def test_a_renamed_option_is_noticed():
    parsers = [argparse.ArgumentParser("judge"), argparse.ArgumentParser("judge")]
    for parser, name in zip(parsers, ("--time-limit", "--limit"), strict=True):
        parser.add_argument(name, type=float)
    assert [*options(parsers[0])] == ["judge --time-limit =VALUE"] != [*options(parsers[1])]


def test_a_removed_field_is_noticed():
    class Before(msgspec.Struct):
        right: int
        wrong: int | None = None

    assert [*fields(Before)] == ["Before: Before.right integer", "Before: Before.wrong? integer|null"]
