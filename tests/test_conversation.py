"""What is said to a bot and what it answers, with the times: scripts in place of processes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.harness.play import conversation
from nonobot.harness.play.conversation import Conversation, Feeder, Stamper
from nonobot.harness.results.conditions import Feed
from nonobot.protocol import AnswerReader, Solution, format_answer, read_answers
from nonobot.tournament_data import Recipe, load_set
from tests.scripted_transport import ScriptedTransport

SOLUTION = Solution([[1, 0], [0, 1]])


def stamper_for_2x2():
    return Stamper(AnswerReader(2, 2))


# Bytes to answers


def answers_of(stamper):
    return list(iter(stamper.next_answer, None))


def test_an_answer_has_the_time_of_its_last_byte():
    stamper = stamper_for_2x2()
    text = format_answer(1, SOLUTION) + format_answer(2, SOLUTION)
    for at, byte in enumerate(text):
        stamper.hand_in(bytes([byte]), float(at))
    found = [(one.answer.number, one.arrived_seconds) for one in answers_of(stamper)]
    assert found == [(1, len(text) / 2 - 1), (2, len(text) - 1)]


def test_reading_late_changes_no_time():
    stamper = stamper_for_2x2()
    assert stamper.next_answer() is None
    stamper.hand_in(format_answer(1, SOLUTION), 1.0)
    stamper.hand_in(format_answer(2, SOLUTION), 2.0)
    assert stamper.waiting_bytes == 2 * len(format_answer(1, SOLUTION))
    assert [one.arrived_seconds for one in answers_of(stamper)] == [1.0, 2.0]
    assert stamper.waiting_bytes == 0
    assert stamper.close(3.0) == []


def test_the_end_completes_a_line_and_an_answer():
    stamper = stamper_for_2x2()
    stamper.hand_in(format_answer(1, SOLUTION).rstrip(b"\n"), 1.0)
    assert answers_of(stamper) == []
    (last,) = stamper.close(2.0)
    assert (last.answer.solution, last.arrived_seconds) == (SOLUTION, 2.0)


def test_a_line_without_end_is_not_kept_whole(monkeypatch):
    monkeypatch.setattr(conversation, "MOST_KEPT_BYTES", 100)
    stamper = stamper_for_2x2()
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
    stamper = stamper_for_2x2()
    found = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        stamper.hand_in(text[start:end], 0.0)
        found += answers_of(stamper)
    found += stamper.close(0.0)
    assert [one.answer for one in found] == list(read_answers(text.splitlines(keepends=True), 2, 2))


# A conversation

ONE, TWO, THREE = (format_answer(number, SOLUTION) for number in (1, 2, 3))


def talk_with(*steps, **more):
    """Return a script and the conversation with it."""
    bot = ScriptedTransport(*steps)
    return bot, Conversation(bot, AnswerReader(2, 2), clock=bot.clock, **more)


def shown(stamped):
    return stamped and (stamped.answer.number, stamped.arrived_seconds)


def test_a_question_and_its_answer():
    bot, talk = talk_with(("sent", b"first"), ("waits", 2.0), ("wrote", ONE), ("last", b"second"), ("wrote", TWO))
    assert shown(talk.ask(b"first")) == (1, 2.0)
    talk.send(b"second", last=True)
    assert shown(talk.answer()) == (2, 2.0)
    assert bot.done
    assert not talk.over


def test_an_answer_in_pieces_is_complete_with_the_last():
    pieces = [step for byte in ONE for step in (("waits", 1.0), ("wrote", bytes([byte])))]
    _, talk = talk_with(*pieces)
    assert shown(talk.answer()) == (1, float(len(ONE)))


def test_patience_has_an_end_and_what_comes_later_still_counts():
    _, talk = talk_with(("waits", 5.0), ("wrote", ONE))
    assert talk.answer(until=103.0) is None
    assert not talk.over
    assert shown(talk.answer(until=106.0)) == (1, 5.0)


def test_what_was_written_in_time_is_read_at_the_end_of_patience():
    _, talk = talk_with(("waits", 3.0), ("wrote", ONE + TWO), ("waits", 9.0), ("wrote", THREE))
    assert [shown(talk.answer(until=103.0)) for _ in range(3)] == [(1, 3.0), (2, 3.0), None]


def test_several_answers_at_once_and_half_of_another():
    _, talk = talk_with(("wrote", ONE + TWO + THREE[:4]), ("waits", 1.0), ("wrote", THREE[4:]))
    assert [shown(talk.answer()) for _ in range(3)] == [(1, 0.0), (2, 0.0), (3, 1.0)]


def test_arrivals_are_stamped_before_the_answers_before_them_are_read():
    _, talk = talk_with(("wrote", ONE + TWO), ("wrote", THREE), ("waits", 1.0), ("ended", None))
    assert shown(talk.answer()) == (1, 0.0)
    assert talk.read_bytes == 0
    assert shown(talk.answer()) == (2, 0.0)
    assert shown(talk.answer()) == (3, 0.0)
    assert talk.answer() is None


@pytest.mark.parametrize("end", ["ended", "closed"])
def test_after_the_end_there_is_no_answer_but_a_last_line_counts(end):
    _, talk = talk_with(("wrote", ONE + TWO.rstrip(b"\n")), ("waits", 4.0), (end, None))
    assert shown(talk.answer()) == (1, 0.0)
    assert talk.answer() is None
    assert talk.over
    assert [shown(one) for one in talk.close()] == [(2, 4.0)]


def test_to_a_bot_that_writes_too_much_nobody_listens():
    heard = []
    _, talk = talk_with(*[("wrote", ONE)] * 4, most_bytes=2 * len(ONE), on_output=heard.append)
    assert [shown(talk.answer()) for _ in range(4)] == [(1, 0.0)] * 3 + [None]
    assert talk.over
    assert talk.listen(0.0) == ONE  # taken, so that the bot is not held up
    assert heard == [ONE] * 3


def test_no_more_is_taken_than_can_be_read(monkeypatch):
    monkeypatch.setattr(conversation, "MOST_WAITING_BYTES", len(ONE))
    bot, talk = talk_with(("wrote", ONE), ("wrote", TWO), ("wrote", THREE))
    assert [talk.listen(0.0) for _ in range(3)] == [ONE, TWO, b""]
    assert not bot.done
    assert [shown(talk.answer()) for _ in range(3)] == [(1, 0.0), (2, 0.0), (3, 0.0)]


# Puzzles handed over

SET = load_set(str(Recipe(2, 2, 3, seed=1)))
FIRST, SECOND, THIRD = (puzzle.text for puzzle in SET.puzzles)


def test_a_batch_is_sent_at_once_and_a_puzzle_is_in_work_from_the_answer_before_it():
    bot, talk = talk_with(("last", FIRST + SECOND + THIRD))
    feeder = Feeder(talk.send, SET.puzzles, Feed.BATCH)
    assert bot.done
    assert feeder.in_work_since(1) == 0.0
    feeder.note_arrival(2.5)
    feeder.go_on({1}, 2.5)
    assert feeder.in_work_since(2) == 2.5


def test_one_by_one_each_puzzle_waits_for_the_answer_before_it():
    bot, talk = talk_with(("sent", FIRST), ("sent", SECOND), ("last", THIRD))
    feeder = Feeder(talk.send, SET.puzzles, Feed.INTERACTIVE)
    feeder.go_on({}, 0.1)
    feeder.go_on({}, 0.2)
    assert (feeder.in_work_since(1), feeder.in_work_since(2)) == (0.1, None)
    feeder.go_on({1}, 3.0)
    assert (feeder.in_work_since(1), feeder.in_work_since(2)) == (0.1, 3.0)
    feeder.go_on({1, 2}, 4.0)
    feeder.go_on({1, 2, 3}, 5.0)
    assert feeder.in_work_since(3) == 4.0
    assert feeder.in_work_since(None) is None
    assert bot.done
