"""A file of answers, looked at while a bot writes to it: here the bot is a few lines in the same process."""

import errno
import itertools
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nonobot.harness.process import exchange_folder
from nonobot.harness.process.bot_files import UnreadableError, opened_below
from nonobot.harness.process.exchange_folder import AnswerFile

HEIGHT = 3
ANSWERS = [b"$%d\n%b" % (number, HEIGHT * b"0\t1\n") for number in range(1, 9)]
WORD, NOTHING, BAD = b"$11\ntimeout\n", b"$12\n", b"$13\n0\t1\n0\t2\n"
STRAY = b"so far so good\n\n"


class Writer:
    """A bot's side; each change gives the file a time of its own, as changes some milliseconds apart have."""

    def __init__(self, folder):
        self.path = folder / "answers.txt"
        self._time = itertools.count(1)

    def write(self, content, mode="wb"):
        with self.path.open(mode) as file:
            file.write(content)
        now = 10**18 + 10**9 * next(self._time)
        os.utime(self.path, ns=(now, now))

    def add(self, content):
        self.write(content, "ab")


@pytest.fixture
def bot(tmp_path):
    return Writer(tmp_path)


@pytest.fixture
def answers(tmp_path):
    return answers_in(tmp_path)


def answers_in(folder, answer_bytes=100):
    return AnswerFile(folder, "answers.txt", HEIGHT, answer_bytes)


def test_an_answer_is_handed_over_with_its_last_byte(bot, answers):
    seen = []
    for byte in ANSWERS[0] + ANSWERS[1]:
        bot.add(bytes([byte]))
        seen.append(answers.look())
    ends = {len(ANSWERS[0]) - 1: ANSWERS[0], len(ANSWERS[0] + ANSWERS[1]) - 1: ANSWERS[1]}
    assert dict(enumerate(seen)) == dict.fromkeys(range(len(seen)), b"") | ends
    assert answers.look() == answers.look(ended=True) == b""


@pytest.mark.parametrize(
    ("content", "complete"),
    [
        (WORD, WORD),
        (NOTHING, b""),
        (NOTHING + b"$", NOTHING),
        (NOTHING + ANSWERS[0], NOTHING + ANSWERS[0]),
        (BAD, BAD),
        (ANSWERS[0][:-4] + b" $2", ANSWERS[0][:-4]),
        (STRAY, STRAY),
        (STRAY + b"no line", STRAY),
        (ANSWERS[0] + STRAY + ANSWERS[1] + b"$3\n0\t", ANSWERS[0] + STRAY + ANSWERS[1]),
        (ANSWERS[0].replace(b"\n", b"\r\n"), ANSWERS[0].replace(b"\n", b"\r\n")),
        (b" $ 1 solved\n" + 3 * b"0 1\n", b" $ 1 solved\n" + 3 * b"0 1\n"),
        (b"", b""),
    ],
)
def test_only_complete_answers_are_returned_before_the_bot_ends(bot, answers, content, complete):
    bot.write(content)
    assert answers.look() == complete
    assert answers.look(ended=True) == content[len(complete) :]


def test_only_changed_answers_of_a_rewritten_file_are_returned_again(bot, answers):
    bot.write(STRAY + ANSWERS[0] + ANSWERS[1] + ANSWERS[2][:-3])
    assert answers.look() == STRAY + ANSWERS[0] + ANSWERS[1]
    changed = ANSWERS[1].replace(b"0\t1\n", b"1\t1\n")
    bot.write(STRAY + ANSWERS[0] + changed + ANSWERS[2])
    assert answers.look() == changed + ANSWERS[2]
    bot.write(b"")
    assert answers.look() == b""
    bot.write(ANSWERS[2] + ANSWERS[3] + ANSWERS[1] + changed)
    assert answers.look() == ANSWERS[3]
    bot.add(ANSWERS[0] + ANSWERS[4])
    assert answers.look() == ANSWERS[4]
    bot.add(ANSWERS[4])
    assert answers.look() == ANSWERS[4]  # once more on purpose, not anew


@pytest.mark.parametrize("room", [500, 3 << 20])
def test_each_answer_in_a_preallocated_file_is_read_when_it_is_written(bot, answers, room):
    bot.write(bytes(room))
    assert answers.look() == b""
    position = 0
    for number, answer in enumerate(ANSWERS[:4]):
        half = len(answer) // 2
        for part, expected in ((answer[:half], b""), (answer[half:], answer)):
            with bot.path.open("r+b") as file:
                file.seek(position)
                file.write(part)
            os.utime(bot.path, ns=(number, 10**18 + 10**9 * position))
            position += len(part)
            assert answers.look() == expected
    with bot.path.open("r+b") as file:
        file.seek(position)
        file.write(ANSWERS[4][:-1])
    assert answers.look(ended=True) == ANSWERS[4][:-1]


def test_two_writes_with_the_same_modification_time_are_both_read(bot, answers):
    now = time.time_ns()
    for content in (ANSWERS[0][:-1] + b"\0", ANSWERS[0]):
        bot.path.write_bytes(content)
        os.utime(bot.path, ns=(now, now))
        seen = answers.look()
    assert seen == ANSWERS[0]


def test_a_replaced_answer_file_is_read_from_the_start(bot, answers, tmp_path):
    bot.write(ANSWERS[0] + ANSWERS[1])
    assert answers.look() == ANSWERS[0] + ANSWERS[1]
    bot.path.unlink()
    assert answers.look() == b""
    assert answers.trouble == "no file 'answers.txt' in its folder"
    bot.write(ANSWERS[1] + ANSWERS[2])
    assert answers.look() == ANSWERS[2]
    assert answers.trouble is None
    (tmp_path / "new").write_bytes(ANSWERS[3])
    (tmp_path / "new").replace(bot.path)
    assert answers.look() == ANSWERS[3]


def test_an_earlier_answer_changed_later_is_returned_when_the_bot_ends(bot, answers):
    others = b"".join(ANSWERS[1:8]) + WORD
    bot.write(ANSWERS[0] + others)
    assert answers.look() == ANSWERS[0] + others
    changed = ANSWERS[0].replace(b"0\t1", b"1\t1")
    bot.write(changed + others)
    assert answers.look() == b""
    assert answers.look(ended=True) == changed
    assert answers.look(ended=True) == b""


def test_an_unreadable_answer_file_is_reported_and_read_later(bot, answers, monkeypatch):
    def fails(*_):
        raise OSError(errno.EIO, "Input/output error")

    bot.write(ANSWERS[0])
    with monkeypatch.context() as patched:
        patched.setattr(os, "pread", fails)
        assert answers.look() == b""
    assert answers.trouble == "'answers.txt' in its folder cannot be read: Input/output error"
    assert answers.look() == ANSWERS[0]


def test_an_unfinished_answer_is_returned_once_it_exceeds_the_largest_answer(bot, answers):
    bot.write(b"$1\n" + 97 * b"0")
    assert answers.look() == b""
    bot.add(b"0")
    assert answers.look() == b"$1\n" + 98 * b"0"
    bot.add(b"\n" + ANSWERS[0])
    assert answers.look() == b"\n" + ANSWERS[0]


@pytest.mark.parametrize("most", [1, 50, 101])
def test_one_look_reads_a_bounded_number_of_new_bytes(bot, answers, monkeypatch, most):
    monkeypatch.setattr(exchange_folder, "MOST_NEW_BYTES", most)
    content = b"".join(ANSWERS) + STRAY + b"".join(ANSWERS)
    bot.write(content)
    looks = [answers.look(ended) for ended in [False] * 8 + [True] * 2]
    assert b"".join(looks) == content
    assert max(map(len, looks)) <= 100 + most
    assert looks[-1] == b""
    bot.write(content + ANSWERS[0])
    assert [answers.look(), answers.look()] == [ANSWERS[0], b""]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    versions=st.lists(
        st.tuples(st.lists(st.sampled_from([*ANSWERS, WORD, BAD]), unique=True), st.integers(0, 200)),
        min_size=1,
        max_size=8,
    )
)
def test_each_complete_answer_is_returned_once_however_the_file_changes(tmp_path, versions):
    bot, answers = Writer(tmp_path), answers_in(tmp_path, answer_bytes=200)  # as many as a file has here
    wanted = {}
    for pieces, most in versions:
        content = b"".join(pieces)[:most]
        bot.write(content)
        new = answers.look()
        ends = itertools.accumulate(map(len, pieces))
        whole = [piece for end, piece in zip(ends, pieces, strict=True) if end <= most]
        assert b"".join(piece for piece in whole if piece not in wanted) == new
        wanted |= dict.fromkeys(whole)
    bot.write(b"".join(wanted))
    assert answers.look(ended=True) == b""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    blocks=st.lists(
        st.sampled_from([*ANSWERS, WORD, NOTHING, BAD, STRAY, b"$", b"\n", b"0", b"\xff"]), max_size=30
    )
)
def test_a_file_that_only_grows_is_handed_over_in_full_and_in_order(tmp_path, blocks):
    bot, answers = Writer(tmp_path), answers_in(tmp_path)
    bot.write(b"")
    taken = b""
    for block in blocks:
        bot.add(block)
        taken += answers.look()
    while more := answers.look(ended=True):
        taken += more
    assert taken == b"".join(blocks)


def test_the_wait_before_a_look_grows_with_the_time_since_the_last_change(bot, answers, monkeypatch):
    clock = SimpleNamespace(now=50.0)
    monkeypatch.setattr(exchange_folder, "time", SimpleNamespace(monotonic=lambda: clock.now, time_ns=int))
    waits = []
    for passed in (0.0, 0.005, 0.1, 10.0):
        clock.now += 1.0
        bot.add(ANSWERS[0])
        answers.look()
        clock.now += passed
        assert answers.look() == b""
        waits.append(answers.seconds_to_next_look)
    assert waits == pytest.approx([0.001, 0.001, 0.01, 0.02])


@pytest.mark.parametrize(
    "name", ["link", "folder-link/file", "pipe", "folder", "gone", "file/below", "folder/gone"]
)
def test_only_files_below_the_folder_are_opened(tmp_path, name):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for folder in (outside, inside, inside / "folder"):
        folder.mkdir()
        (folder / "file").write_text("x")
    (inside / "link").symlink_to(outside / "file")
    (inside / "folder-link").symlink_to(outside)
    os.mkfifo(inside / "pipe")
    for right in ("file", "folder/file"):
        with opened_below(inside, right) as file:
            assert os.read(file, 2) == b"x"
    before = len([*Path("/dev/fd").iterdir()])
    with pytest.raises(UnreadableError, match=f"'{name}' in its folder") as problem, opened_below(inside, name):
        pass
    assert "\n" not in str(problem.value)
    assert len([*Path("/dev/fd").iterdir()]) == before
