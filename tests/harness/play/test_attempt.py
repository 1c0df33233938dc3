"""The loop of an attempt, with a script in place of a bot's process and its own clock: every time is exact."""

from types import SimpleNamespace

import pytest
from msgspec import UNSET

from nonobot.harness.play import attempt
from nonobot.harness.play.attempt import LINGER_SECONDS, AttemptLoop
from nonobot.harness.play.run_events import Alive
from nonobot.harness.play.run_state import RunState
from nonobot.harness.process.bot_process import NOTHING_MORE, BotProcess
from nonobot.harness.results.conditions import Configuration, Feed
from nonobot.harness.results.run_result import EndReason, Usage
from nonobot.protocol import format_answer
from nonobot.tournament_data import Recipe, load_set
from tests.helpers.judged import ScriptedTransport

RECIPE = Recipe(3, 3, 3, seed=1)
SET = load_set(str(RECIPE))
FIRST, SECOND, THIRD = (puzzle.text for puzzle in SET.puzzles)
ONE, TWO, THREE = (format_answer(number, board) for number, (_, board) in enumerate(RECIPE.boards(), 1))
BATCH = ("last", FIRST + SECOND + THIRD)
ENDED = ("ended", None)
STARTED = ScriptedTransport().started
BABBLES = ("babbles", 20.0)


class Tree:
    """The figures of a process tree; the bot computes a share of the time."""

    def __init__(self, computes=0.0, memory=0, processes=1, grows_after_looks=0, ran_out=False):
        self.ran_out_of_memory = lambda: ran_out
        self.cpu_seconds, self.peak_memory_bytes = 0.0, memory
        self._computes, self._processes, self._looks_left = computes, processes, grows_after_looks

    def look(self):
        self.cpu_seconds = self._computes * (attempt.time.monotonic() - STARTED)

    def exceeds_memory(self, limit):
        self._looks_left -= 1
        return self.peak_memory_bytes > limit and self._looks_left < 0

    def exceeds_processes(self, limit):
        return self._processes > limit


class ScriptedBot(ScriptedTransport):
    limit_reached, usage, exchange = BotProcess.limit_reached, BotProcess.usage, None

    def __init__(self, steps, tree, status, limits):
        super().__init__(*steps)
        self._tree, self.exit_status = tree, status
        self.look, self.ran_out_of_memory = tree.look, tree.ran_out_of_memory
        self.limits, self._most_processes = limits, limits.process_limit
        self._stopped = self._ended = STARTED


@pytest.fixture
def play(monkeypatch, tmp_path):
    """Return what plays an attempt: it takes the script, and returns reason, detail, results and journal."""

    def played(*steps, tree=None, status=0, stop_requested=False, used=None, **limits):
        configuration = Configuration(**{"wall_limit_seconds": 100.0, **limits})
        beginning = SimpleNamespace(configuration=configuration, command=[], files=UNSET)
        journal = []
        run = RunState(
            beginning,
            SET,
            tmp_path / "result.json",
            SimpleNamespace(add=journal.append),
            SimpleNamespace(stop_requested=stop_requested),
            lambda *_: None,
            NOTHING_MORE,
        )
        if used:
            run.used = used
        bot = ScriptedBot(steps, tree or Tree(), status, configuration)
        monkeypatch.setattr(attempt, "time", SimpleNamespace(monotonic=bot.clock))
        loop = AttemptLoop(run, bot, run.puzzles_left())
        reason, detail = loop.listen()
        while loop.judge_next():
            pass
        seconds = bot.now - bot.started
        results = run.referee.results
        return SimpleNamespace(reason=reason, detail=detail, results=results, journal=journal, seconds=seconds)

    return played


def times(played):
    arrived = [result.arrived_seconds for result in played.results.values()]
    return arrived, [result.took_seconds for result in played.results.values()]


def test_the_time_of_a_batch_puzzle_starts_with_the_answer_before_it(play):
    played = play(BATCH, ("waits", 2.0), ("wrote", ONE), ("waits", 1.0), ("wrote", TWO + THREE), ENDED)
    assert (played.reason, played.detail) == (EndReason.FINISHED, None)
    assert [result.verdict.value for result in played.results.values()] == ["right"] * 3
    assert times(played) == (pytest.approx([2.0, 3.0, 3.0]), pytest.approx([2.0, 1.0, 0.0]))


def test_an_interactive_puzzle_is_sent_after_the_answer_before_it(play):
    script = [
        *(("sent", FIRST), ("waits", 1.5), ("wrote", ONE)),
        *(("sent", SECOND), ("waits", 2.0), ("wrote", TWO)),
        *(("last", THIRD), ("waits", 0.5), ("wrote", THREE), ENDED),
    ]
    played = play(*script, feed=Feed.INTERACTIVE)
    assert times(played) == (pytest.approx([1.5, 3.5, 4.0]), pytest.approx([1.5, 2.0, 0.5]))


def test_usage_of_earlier_attempts_counts_against_the_limits(play):
    played = play(BATCH, ("waits", 2.0), ("wrote", ONE), used=Usage(95.0, 0.0, 0))
    assert played.reason is EndReason.TIME_LIMIT
    assert played.seconds == pytest.approx(5.0)
    assert times(played) == (pytest.approx([97.0]), pytest.approx([2.0]))
    played = play(BATCH, tree=Tree(computes=1.0), used=Usage(0.0, 2.0, 0), cpu_limit_seconds=3.0)
    assert played.reason is EndReason.CPU_LIMIT
    assert played.seconds == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("seconds", [9.99, 10.0])
def test_answers_written_at_the_limit_or_before_an_interrupt_count(play, seconds):
    played = play(BATCH, ("waits", seconds), ("wrote", ONE + TWO), wall_limit_seconds=10.0)
    assert played.reason is EndReason.TIME_LIMIT
    assert times(played)[0] == pytest.approx([seconds, seconds])
    played = play(BATCH, ("wrote", ONE + TWO), stop_requested=True)
    assert (played.reason, [*played.results]) == (EndReason.INTERRUPTED, [1, 2])


@pytest.mark.parametrize(
    ("limits", "tree", "reason"),
    [
        ({"memory_limit_bytes": 99}, {"memory": 100}, EndReason.MEMORY_LIMIT),
        ({"memory_limit_bytes": 100}, {"memory": 100}, EndReason.TIME_LIMIT),
        ({"process_limit": 4}, {"processes": 5}, EndReason.PROCESS_LIMIT),
        ({"process_limit": 4}, {"processes": 4}, EndReason.TIME_LIMIT),
        ({"cpu_limit_seconds": 3.0}, {"computes": 1.0}, EndReason.CPU_LIMIT),
        ({"stall_limit_seconds": 5.0}, {}, EndReason.STALLED),
        ({"stall_limit_seconds": 5.0}, {"computes": 1.0}, EndReason.TIME_LIMIT),
        ({"stall_limit_seconds": 5.0}, {"computes": 0.002}, EndReason.STALLED),  # a timer of its own
    ],
)
def test_each_limit_ends_the_attempt_with_its_reason(play, limits, tree, reason):
    played = play(BATCH, tree=Tree(**tree), wall_limit_seconds=20.0, **limits)
    assert played.reason is reason
    if reason is EndReason.STALLED:
        assert played.seconds == pytest.approx(5.0, abs=0.1)


def test_stray_output_resets_the_stall_limit_but_too_much_ends_the_attempt(play, monkeypatch):
    played = play(BATCH, ("waits", 4.0), ("wrote", ONE), stall_limit_seconds=5.0)
    assert played.reason is EndReason.STALLED
    assert played.seconds == pytest.approx(9.0, abs=0.1)
    monkeypatch.setattr(attempt, "MOST_STRAY_BYTES", 50)
    assert play(BATCH, ("wrote", ONE + TWO + THREE), ENDED).reason is EndReason.FINISHED
    assert play(BATCH, ("wrote", ONE), ("wrote", b"x\n" * 100)).reason is EndReason.PROTOCOL_ERROR


@pytest.mark.parametrize("stray", [b"$\n", b"$1\n", b"$9\nx\n"])
def test_too_many_answers_for_no_puzzle_end_the_attempt(play, monkeypatch, stray):
    monkeypatch.setattr(attempt, "MOST_STRAY_ANSWERS", 100)
    assert play(BATCH, ("wrote", ONE + stray * 90 + TWO + THREE), ENDED).reason is EndReason.FINISHED
    played = play(BATCH, ("wrote", ONE + stray * 1000 + TWO + THREE), ENDED)
    assert played.reason is EndReason.PROTOCOL_ERROR
    assert "more than 100 answers that count for no puzzle" in str(played)


@pytest.mark.parametrize("noise", [[], [BABBLES]])
@pytest.mark.parametrize(
    ("script", "reason"),
    [([("wrote", ONE + TWO + THREE)], EndReason.FINISHED), ([("closed", None)], EndReason.CLOSED_STDOUT)],
)
def test_a_finished_bot_has_a_grace_period_whether_silent_or_not(play, script, reason, noise):
    played = play(BATCH, ("waits", 1.0), *script, *noise)
    assert (played.reason, bool(played.detail)) == (reason, reason is EndReason.FINISHED)
    assert played.seconds == pytest.approx(1.0 + LINGER_SECONDS, abs=0.1)
    if reason is EndReason.CLOSED_STDOUT:
        assert play(BATCH, *script, stall_limit_seconds=1.0).reason is reason  # which says more than a stall


@pytest.mark.parametrize("noise", [[], [BABBLES]])
@pytest.mark.parametrize("feed", Feed)
def test_the_puzzle_limit_counts_from_the_start_of_the_puzzle_despite_output(play, feed, noise):
    sent = [BATCH] if feed is Feed.BATCH else [("sent", FIRST)]
    then = [] if feed is Feed.BATCH else [("sent", SECOND)]
    script = [*sent, ("waits", 2.0), ("wrote", ONE), *then, *noise]
    played = play(*script, puzzle_limit_seconds=3.0, feed=feed)
    assert (played.reason, played.detail) == (EndReason.PUZZLE_LIMIT, "$2")
    assert played.seconds == pytest.approx(5.0, abs=0.1)


def test_answers_written_before_the_puzzle_limit_count_even_if_judged_later(play):
    first_two = [("waits", 2.99), ("wrote", ONE + TWO[:-1]), ("wrote", b"\n")]
    played = play(BATCH, *first_two, ("waits", 2.99), ("wrote", THREE), ENDED, puzzle_limit_seconds=3.0)
    assert (played.reason, [*played.results]) == (EndReason.FINISHED, [1, 2, 3])
    assert [result.verdict.value for result in played.results.values()] == ["right"] * 3


@pytest.mark.parametrize(
    ("status", "tree", "reason"),
    [
        (0, {}, EndReason.FINISHED),
        (1, {}, EndReason.CRASHED),
        (-9, {"memory": 9, "grows_after_looks": 1}, EndReason.MEMORY_LIMIT),  # the cgroup was faster than a look
    ],
)
def test_an_exit_while_answers_are_due_has_its_reason(play, status, tree, reason):
    script = (BATCH, ("wrote", ONE.rstrip(b"\n")), ENDED)
    played = play(*script, tree=Tree(**tree), status=status, memory_limit_bytes=8)
    assert (played.reason, [*played.results]) == (reason, [1])  # the end completes a last line


@pytest.mark.parametrize(("status", "reason"), [(-9, EndReason.MEMORY_LIMIT), (1, EndReason.CRASHED)])
def test_a_bot_that_the_system_ended_for_its_memory_did_not_crash(play, status, reason):
    played = play(BATCH, ENDED, tree=Tree(ran_out=True), status=status, memory_limit_bytes=8)
    assert (played.reason, bool(played.detail)) == (reason, reason is EndReason.MEMORY_LIMIT)


def test_the_judge_measures_a_new_bot_more_often_at_first(play):
    looks = []
    tree = Tree()
    tree.look = lambda: looks.append(attempt.time.monotonic() - STARTED)
    play(BATCH, ("waits", 0.2), ENDED, tree=tree)
    assert looks == pytest.approx([0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.13, 0.18])


def test_the_journal_gets_the_usage_every_two_seconds(play):
    played = play(BATCH, tree=Tree(computes=1.0, memory=7), wall_limit_seconds=5.0)
    signs = [record.usage for record in played.journal if isinstance(record, Alive)]
    assert [usage.wall_seconds for usage in signs] == pytest.approx([2.0, 4.0], abs=0.1)
    assert [usage.cpu_seconds for usage in signs] == pytest.approx([2.0, 4.0], abs=0.2)
    assert signs[0].peak_memory_bytes == 7
