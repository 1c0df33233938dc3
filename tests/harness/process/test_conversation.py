"""A conversation with a bot: what is sent, the answers and their times; scripts in place of processes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.harness.process import conversation
from nonobot.harness.process.conversation import Conversation
from nonobot.protocol import AnswerReader, Solution, format_answer, read_answers
from tests.helpers.judged import ScriptedTransport

SOLUTION = Solution([[1, 0], [0, 1]])
ONE, TWO, THREE = (format_answer(number, SOLUTION) for number in (1, 2, 3))


def talk_with(*steps, **more):
    bot = ScriptedTransport(*steps)
    return bot, Conversation(bot, AnswerReader(2, 2), clock=bot.clock, **more)


def shown(found):
    return found and (found[0].number, found[1])


def test_a_sent_question_returns_its_timestamped_answer():
    bot, talk = talk_with(("sent", b"first"), ("waits", 2.0), ("wrote", ONE), ("last", b"second"), ("wrote", TWO))
    talk.send(b"first")
    assert shown(talk.answer()) == (1, 2.0)
    talk.send(b"second", last=True)
    assert shown(talk.answer()) == (2, 2.0)
    assert not bot.steps
    assert not talk.over


def test_answers_after_the_deadline_count_and_are_timestamped_on_arrival():
    _, talk = talk_with(("waits", 3.0), ("wrote", ONE + TWO + THREE[:4]), ("waits", 2.0), ("wrote", THREE[4:]))
    assert [shown(talk.answer(until=103.0)) for _ in range(3)] == [(1, 3.0), (2, 3.0), None]
    assert not talk.over
    assert shown(talk.answer(until=106.0)) == (3, 5.0)
    _, talk = talk_with(("wrote", ONE + TWO), ("wrote", THREE), ("waits", 1.0), ("ended", None))
    assert shown(talk.answer()) == (1, 0.0)
    assert talk.read_bytes == 0
    assert [shown(talk.answer()) for _ in range(3)] == [(2, 0.0), (3, 0.0), None]


def test_a_line_without_end_is_not_kept_whole(monkeypatch):
    monkeypatch.setattr(conversation, "MOST_KEPT_BYTES", 100)
    _, talk = talk_with(("wrote", b"$1\n"), *[("wrote", b"1" * 50)] * 100, ("wrote", b"\n" + TWO))
    (first, _), (second, _) = talk.answer(), talk.answer()
    assert first.problem is not None
    assert len(first.problem) < 200
    assert second.solution == SOLUTION


@given(
    st.lists(st.sampled_from([b"$1", b"$2", b"\n", b"0\t1\n", b"1\t1\n", b"timeout", b"x", b"\r\n", b"\xff"])),
    st.data(),
)
def test_the_cuts_between_chunks_do_not_matter(pieces, data):
    text = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    _, talk = talk_with(*[("wrote", chunk) for chunk in chunks if chunk], ("ended", None))
    answers = [*iter(talk.answer, None), *talk.close()]
    assert [answer for answer, _ in answers] == list(read_answers(text.splitlines(keepends=True), 2, 2))


@pytest.mark.parametrize("end", ["ended", "closed"])
def test_an_unterminated_last_line_counts_only_when_the_conversation_closes(end):
    _, talk = talk_with(("wrote", ONE + TWO.rstrip(b"\n")), ("waits", 4.0), (end, None))
    assert shown(talk.answer()) == (1, 0.0)
    assert talk.answer() is None
    assert talk.over
    assert [shown(answer) for answer in talk.close()] == [(2, 0.0)]


def test_output_beyond_the_limit_is_read_but_not_parsed():
    heard = []
    _, talk = talk_with(*[("wrote", ONE)] * 4, most_bytes=2 * len(ONE), on_output=heard.append)
    assert [shown(talk.answer()) for _ in range(4)] == [(1, 0.0)] * 3 + [None]
    assert talk.over
    assert talk.listen(0.0) == ONE  # taken, so that the bot is not held up
    assert heard == [ONE] * 3


def test_output_is_not_taken_from_the_bot_faster_than_it_is_parsed(monkeypatch):
    monkeypatch.setattr(conversation, "MOST_WAITING_BYTES", len(ONE))
    bot, talk = talk_with(("wrote", ONE), ("wrote", TWO), ("wrote", THREE))
    assert [talk.listen(0.0) for _ in range(3)] == [ONE, TWO, b""]
    assert bot.steps
    assert [shown(talk.answer()) for _ in range(3)] == [(1, 0.0), (2, 0.0), (3, 0.0)]
