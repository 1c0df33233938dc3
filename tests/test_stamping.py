"""Answers in the bytes of a bot, and their times."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nonobot.harness.play import traffic
from nonobot.harness.play.traffic import Stamper
from nonobot.protocol import Solution, format_answer, read_answers

SOLUTION = Solution([[1, 0], [0, 1]])


def answers_of(stamper):
    return list(iter(stamper.next_answer, None))


def test_an_answer_has_the_time_of_its_last_byte():
    stamper = Stamper(2, 2)
    text = format_answer(1, SOLUTION) + format_answer(2, SOLUTION)
    for at, byte in enumerate(text):
        stamper.hand_in(bytes([byte]), float(at))
    found = [(one.answer.number, one.arrived_seconds) for one in answers_of(stamper)]
    assert found == [(1, len(text) / 2 - 1), (2, len(text) - 1)]


def test_reading_late_changes_no_time():
    stamper = Stamper(2, 2)
    assert stamper.next_answer() is None
    stamper.hand_in(format_answer(1, SOLUTION), 1.0)
    stamper.hand_in(format_answer(2, SOLUTION), 2.0)
    assert stamper.waiting_bytes == 2 * len(format_answer(1, SOLUTION))
    assert [one.arrived_seconds for one in answers_of(stamper)] == [1.0, 2.0]
    assert stamper.waiting_bytes == 0
    assert stamper.close(3.0) == []


def test_the_end_completes_a_line_and_an_answer():
    stamper = Stamper(2, 2)
    stamper.hand_in(format_answer(1, SOLUTION).rstrip(b"\n"), 1.0)
    assert answers_of(stamper) == []
    (last,) = stamper.close(2.0)
    assert (last.answer.solution, last.arrived_seconds) == (SOLUTION, 2.0)


def test_a_line_without_end_is_not_kept_whole(monkeypatch):
    monkeypatch.setattr(traffic, "MOST_KEPT_BYTES", 100)
    stamper = Stamper(2, 2)
    stamper.hand_in(b"$1\n", 0.0)
    for _ in range(1000):
        stamper.hand_in(b"1" * 50, 0.0)
        assert stamper.next_answer() is None
    stamper.hand_in(b"\n" + format_answer(2, SOLUTION), 1.0)
    first, second = answers_of(stamper)
    assert first.answer.problem is not None
    assert second.answer.solution == SOLUTION


@given(
    st.lists(st.sampled_from([b"$1", b"$2", b"\n", b"0\t1\n", b"1\t1\n", b"timeout", b"x", b"\r\n", b"\xff"])),
    st.data(),
)
def test_the_cuts_between_chunks_do_not_matter(pieces, data):
    text = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    stamper = Stamper(2, 2)
    found = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        stamper.hand_in(text[start:end], 0.0)
        found += answers_of(stamper)
    found += stamper.close(0.0)
    assert [one.answer for one in found] == list(read_answers(text.splitlines(keepends=True), 2, 2))
