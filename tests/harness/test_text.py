"""Numbers and names as people read them."""

import io
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.arguments import byte_count
from nonobot.harness import text
from nonobot.harness.text import drawn, duration, last_line, new_table, on_terminal, ordinal, ranges, styled
from nonobot.protocol.clues import count
from nonobot.system import shortened


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        (0.0, "< 0.1 ms"),
        (-1e-5, "< 0.1 ms"),
        (3e-10, "0.30 ns"),
        (49.12e-9, "49.1 ns"),
        (7.3e-6, "7.30 \N{MICRO SIGN}s"),
        (104.6e-6, "105 \N{MICRO SIGN}s"),
        (0.00999, "9.99 ms"),
        (0.009996, "10.0 ms"),
        (0.0999, "99.9 ms"),
        (0.9994, "999 ms"),
        (0.9999, "1.00 s"),
        (99.96, "100 s"),
        (123456.7, "123,457 s"),
    ],
)
def test_durations_are_formatted_with_a_suitable_unit(time, shown):
    assert duration(time) == shown


def test_the_last_line_about_a_syntax_error_has_its_place(tmp_path):
    bot = tmp_path / "bot.py"
    bot.write_text("import sys\nprint(\n")
    said = subprocess.run([sys.executable, bot], capture_output=True).stderr
    assert last_line(said) == f"SyntaxError: '(' was never closed (File \"{bot}\", line 2)"
    assert last_line(said.replace(b"\n", b"\r\n")) == last_line(said)
    assert last_line(b'  File "bot.py", line 2, in solve\nKeyError: 3\n') == "KeyError: 3"
    of_another_error = said + b"now the second file\nit is no better:\n\nSyntaxError: twice\n"
    assert last_line(of_another_error) == "SyntaxError: twice"


def test_counts_figures_and_percentages_are_formatted():
    assert count(1, "puzzle") == "1 puzzle"
    assert count(1000, "puzzle") == "1,000 puzzles"
    assert text.in_unit(1234.5678, 1, 3) == "1,234.568"
    assert list(map(text.percent, (0.073, 0.5, 0.876, 1.234))) == ["7.3%", "50%", "87.6%", "123%"]
    sizes = (61_000_000, 16_300_000_000, 5000, 99)
    assert list(map(text.megabytes, sizes)) == ["58 MiB", "15.2 GiB", "5 KiB", "99 bytes"]


@pytest.mark.parametrize("told", ["1", "200M", "200MB", "200 mib", "1536M", "4G", "1GB", "3K", "100000000"])
def test_a_limit_on_memory_is_shown_in_full_in_the_unit_in_which_it_is_read(told):
    limit = byte_count(told)
    shown = text.megabytes(limit, exact=True)
    assert byte_count(shown) == limit
    assert re.sub(r"[^0-9]", "", shown) == re.sub(r"[^0-9]", "", told)


@pytest.mark.parametrize("limit", [4, 5, 24])
def test_a_text_is_shortened_in_its_middle_and_escaped(limit):
    assert shortened("x" * limit, limit) == "x" * limit
    found = shortened("a" + "x" * limit + "b", limit)
    assert (len(found), found[0], found[-1]) == (limit, "a", "b")
    assert "…" in found
    assert shortened("a\x00\u202eb\n", limit).startswith("a\\x00")


@pytest.mark.parametrize(("term", "is_terminal"), [("xterm", True), ("dumb", False)])
def test_a_dumb_terminal_does_not_count_as_a_terminal(monkeypatch, term, is_terminal):
    monkeypatch.setenv("TERM", term)
    file = io.StringIO()
    assert not on_terminal(file)
    monkeypatch.setattr(file, "isatty", lambda: True)
    assert on_terminal(file) == is_terminal


def test_ordinals_are_formatted_as_words_or_digits():
    ordinals = {1: "first", 10: "tenth", 11: "11th", 12: "12th", 21: "21st", 42: "42nd"}
    ordinals |= {103: "103rd", 113: "113th"}
    assert {number: ordinal(number) for number in ordinals} == ordinals


def test_ranges_are_joined_and_cut():
    assert ranges([]) == ""
    assert ranges([3, 7, 8, 9, 12]) == "3, 7\N{EN DASH}9, 12"
    assert ranges([1, 3, 5, 6, 9], most=2) == "1, 3 and 3 more"


@given(st.sets(st.integers(1, 60)))
def test_ranges_contain_every_number(numbers):
    named = set()
    for part in filter(None, ranges(sorted(numbers), most=60).split(", ")):
        first, _, last = part.partition("\N{EN DASH}")
        named |= set(range(int(first), int(last or first) + 1))
    assert named == numbers


@pytest.mark.parametrize("no_wrap", [True, False])
@pytest.mark.parametrize("columns", [10, 40, 100])
def test_no_terminal_cuts_a_figure_of_a_table(columns, no_wrap):
    table = new_table(("name", "time of a run", "share"), no_wrap=no_wrap)
    table.add_row(styled("a bot with a very long name" * 3), "1,234.56 s", "99.9%")
    out = drawn([table], True, columns)
    assert all(text in out for text in ("a bot with", "1,234.56 s", "99.9%"))
