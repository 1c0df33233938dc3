"""A folder of results as the page shows it."""

import asyncio
import contextlib
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from msgspec.structs import replace

pytest.importorskip("starlette", reason="the extra `page` is not installed")

from nonobot.harness import cli
from nonobot.harness.live import browser_state, events, runs_in_folder
from nonobot.harness.live.browser_state import Shown, shown_now
from nonobot.harness.live.events import MOST_WATCHERS, Live
from nonobot.harness.play.journal import Journal
from nonobot.harness.play.run_state import records_of
from nonobot.harness.results.result_files import ORDER, json_text, read_result
from nonobot.harness.results.run_result import Verdict
from nonobot.harness.results.worth import worth
from nonobot.harness.text import NOTHING
from nonobot.harness.tournament.definition import read_tournament
from nonobot.harness.tournament.playing import PLAYING, Playing, PlayingFile, RunInPlay
from nonobot.harness.tournament.scheduled_runs import scheduled_runs
from nonobot.harness.web.server import make_app
from tests.helpers.clusters import definition
from tests.helpers.judged import RECIPE, nothing_hangs, played  # noqa: F401
from tests.helpers.paged import Server
from tests.helpers.ranked import (
    NOTES_OF_A_CHANGED_TOURNAMENT,
    facts,
    folder_of_a_changed_tournament,
    match_of,
    run_result,
    written,
)
from tests.helpers.waiting import PATIENCE_SECONDS, finished, running, wait_until


def shown(folder) -> dict:
    return shown_now(folder, Shown()).state


def test_an_empty_folder_shows_no_runs_and_unchanged_files_are_not_read_again(tmp_path, monkeypatch):
    facts = {name: value for name, value in shown(tmp_path).items() if name not in ("folder", "note")}
    assert list(facts.values()) == [[]] * 7
    played("perfect", tmp_path)
    first = shown_now(tmp_path, Shown())
    monkeypatch.setattr(runs_in_folder, "read_any", None)
    assert shown_now(tmp_path, first) is first
    (tmp_path / "other.journal.jsonl").write_text("nothing\n")
    assert shown_now(tmp_path, first).state == first.state


def test_a_run_is_shown_while_in_progress_and_ranked_when_finished(tmp_path):
    looks = [Shown()]

    def has_more():
        now = shown_now(tmp_path, looks[-1])
        is_new = any(run["done"] >= len(looks) for run in now.state["under_way"])
        if is_new:
            looks.append(now)
        return is_new

    played("wrong_at_2", tmp_path, lambda *_: wait_until(has_more))  # a thread of its own writes the journal
    seen = [look.state for look in looks[1:]]
    assert [state["under_way"][0]["done"] for state in seen] == [1, 2, 3, 4, 5]
    [run] = seen[2]["under_way"]
    facts = {"bot": "wrong_at_2", "set": str(RECIPE), "done": 3, "count": 5, "right": 2, "running": True}
    facts |= {"silent": False, "tournament": str(tmp_path), "not_right": {"wrong": 1}}
    assert run == facts | {"time": run["time"]}
    last = [(puzzle["number"], puzzle["verdict"]) for puzzle in seen[2]["last"]]
    assert last == [(3, "right"), (2, "wrong"), (1, "right")]
    [growing] = {plot.key for look in looks for plot in look.plots.values()}  # not drawn anew for every puzzle
    done = shown_now(tmp_path, looks[-1])
    assert growing not in {plot.key for plot in done.plots.values()}
    assert done.state["under_way"] == []
    [[row]] = [ranking["rows"] for ranking in done.state["rankings"]]
    assert (row["bot"], row["right"], row["count"]) == ("wrong_at_2", 4, 5)
    assert done.state["last"][0]["number"] == 5


def test_each_tournament_has_its_own_ranking_with_its_failures(tmp_path):
    for name, day, behaviour in (("april", "2026-04-01", "perfect"), ("may", "2026-05-01", "crash_at_3")):
        (tmp_path / name).mkdir()
        result = played(behaviour, tmp_path / name)
        path = tmp_path / name / "result.json"
        path.write_text(path.read_text().replace(result.started_at[:10], day))
    look = shown_now(tmp_path, Shown())
    assert look.state["tournaments"] == ["may", "april"]  # the one that was begun last first
    assert [ranking["tournament"] for ranking in look.state["rankings"]] == ["may", "april"]
    [crashed], [perfect] = (ranking["rows"] for ranking in look.state["rankings"])
    facts = [(row["bot"], row["not_right"], row["ends"]) for row in (crashed, perfect)]
    assert facts == [("crash_at_3", {"malformed": 1, "missing": 2}, ["crashed"]), ("perfect", {}, ["finished"])]
    common = worth([read_result(tmp_path / name / "result.json") for name in ("april", "may")])
    notes = [[note for note in ranking["notes"][1:] if note not in common] for ranking in look.state["rankings"]]
    assert notes == [["no answer of crash_at_3 to 4\N{EN DASH}5"], []]
    assert [len(plot.runs) for plot in look.plots.values()] == [1, 1]
    assert {puzzle["tournament"] for puzzle in look.state["last"]} == {"may"}


@pytest.mark.usefixtures("nothing_hangs")
def test_the_live_view_skips_unreadable_files(tmp_path):
    played("perfect", tmp_path)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "broken.journal.jsonl").write_text("nothing\n")
    (tmp_path / "letter.json").write_bytes(b'{"kind": "\xff"}')
    (tmp_path / "letter.journal.jsonl").write_bytes(b'{"kind": "\xff"}\n')
    (tmp_path / "nested.json").write_text("[" * 100_000)
    for name in ("pipe.json", "pipe.journal.jsonl"):
        os.mkfifo(tmp_path / name)
    state = shown(tmp_path)
    assert len(state["rankings"]) == 1
    bad = "broken.json", "letter.json", "nested.json", "pipe.json"
    assert [name in line for name, line in zip(bad, state["problems"], strict=True)] == [True] * 4


def test_of_too_many_files_only_the_newest_and_all_journals_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(runs_in_folder, "MOST_FILES", 2)
    for number in range(4):
        (tmp_path / f"{number}.json").write_text("{")
        os.utime(tmp_path / f"{number}.json", (9 - number, 9 - number))
    (tmp_path / "z.journal.jsonl").write_text("nothing\n")
    look = shown_now(tmp_path, Shown())
    assert [path.name for path in look.files] == ["0.json", "1.json", "z.journal.jsonl"]
    assert look.state["problems"][-1] == "2 older results: the newest 2 are shown"
    monkeypatch.setattr(runs_in_folder, "MOST_ENTRIES", 3)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "5.json").write_text("{")
    look = shown_now(tmp_path, Shown())
    assert "5.json" not in {path.name for path in look.files}
    assert "more than 3 files and folders" in look.state["problems"][-2]


def test_a_plot_is_drawn_once_for_all_viewers_and_again_only_after_changes(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(events, "_drawn", lambda runs: drawn.append(runs) or b"<svg/>")
    monkeypatch.setattr(events, "SECONDS_BETWEEN_LOOKS", 0.0)
    played("perfect", tmp_path)

    async def scenario():
        watched = Live(tmp_path)
        [plot] = (await watched._look()).plots.values()
        svgs = await asyncio.gather(*(watched.cactus(plot.key) for _ in range(9)))
        (tmp_path / "broken.json").write_text("{")
        assert len((await watched._look()).state["problems"]) == 1
        return {*svgs, await watched.cactus(plot.key)}, await watched.cactus("another")

    assert asyncio.run(scenario()) == ({b"<svg/>"}, None)
    assert len(drawn) == 1


def test_the_limit_of_viewers_applies_to_simultaneous_requests(tmp_path):
    watched = Live(tmp_path)
    app = make_app(tmp_path, watched)

    async def status_of(leave):
        statuses = asyncio.Queue()

        async def receive():
            await leave.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            await asyncio.sleep(0)  # as a server does whose peer reads slowly
            if message["type"] == "http.response.start":
                await statuses.put(message["status"])

        scope = {"type": "http", "method": "GET", "path": "/api/live", "headers": [], "query_string": b""}
        task = asyncio.create_task(app(scope, receive, send))
        return task, await statuses.get()

    async def scenario():
        seen = []
        for _ in range(2):  # the places are free again
            leave = asyncio.Event()
            came = await asyncio.gather(*(status_of(leave) for _ in range(MOST_WATCHERS + 28)))
            seen += [sorted(status for _, status in came), watched.watchers]
            leave.set()
            await asyncio.gather(*(task for task, _ in came))
            seen.append(watched.watchers)
        return seen

    assert asyncio.run(scenario()) == [[200] * MOST_WATCHERS + [503] * 28, MOST_WATCHERS, 0] * 2


def test_text_of_a_result_is_escaped(tmp_path):
    result = played("perfect", tmp_path)
    path = tmp_path / "result.json"
    path.write_text(path.read_text().replace(f'"bot": "{result.bot}"', '"bot": "a\\u001b[2J<b>"'))
    assert shown(tmp_path)["rankings"][0]["rows"][0]["bot"] == r"a\x1b[2J<b>"


def journal_left(folder) -> bytes:
    """Return a journal as a judge leaves it that is killed in the middle of a run."""
    kept = []

    def stopped(*_):
        wait_until(lambda: any(run["done"] for run in shown(folder)["under_way"]))  # a thread writes the journal
        kept.append(next(folder.glob("*.journal.jsonl")).read_bytes())

    played("perfect", folder, stopped)
    return kept[-1]


def test_the_run_of_a_killed_judge_is_shown_as_interrupted(tmp_path):
    left = journal_left(tmp_path)
    journal = tmp_path / "killed.journal.jsonl"
    journal.write_bytes(left.partition(b"\n")[0] + b"\n")  # its first attempt has not begun
    assert shown(tmp_path)["under_way"][0]["running"]
    journal.write_bytes(left)
    for age, is_running, silent in [(0, True, False), (10, True, True), (60, False, False)]:
        os.utime(journal, (time.time() - age,) * 2)
        [run] = shown(tmp_path)["under_way"]
        assert (run["running"], run["silent"]) == (is_running, silent)


@pytest.mark.parametrize("ahead", [86400, 0, -86400])
@pytest.mark.parametrize("name", ["x.journal.jsonl", PLAYING])
def test_a_run_is_shown_as_running_while_its_journal_changes_whatever_its_time(tmp_path, monkeypatch, name, ahead):
    """As on a file server whose clock is ahead or behind."""
    content = journal_left(tmp_path)
    if name == PLAYING:
        content = msgspec.json.encode(
            Playing("2026-11-28T10:00:00+00:00", 1, ["b.json"], [RunInPlay("b", "", "", 1)])
        )
    (folder := tmp_path / "results").mkdir()
    path, now = folder / name, 1e6
    monkeypatch.setattr(browser_state, "time", SimpleNamespace(time=time.time, monotonic=lambda: now))
    look, changes = Shown(), 0

    def next_look(seconds: float, is_changed: bool) -> tuple[bool, bool]:
        nonlocal look, now, changes
        now += seconds
        if is_changed:
            changes += 1
            path.write_bytes(content)
            os.utime(path, (time.time() + ahead + changes / 100,) * 2)
        look = shown_now(folder, look)
        [run] = look.state["under_way"]
        return run["running"], run["silent"]

    assert next_look(0, is_changed=True) == (ahead == 0, False)  # a guess
    assert next_look(2, is_changed=True) == (True, False)
    assert next_look(3, is_changed=False) == (True, False)
    assert next_look(2, is_changed=False) == (True, True)
    assert next_look(20, is_changed=False) == (True, True)
    assert next_look(6, is_changed=False) == (False, False)
    assert next_look(2, is_changed=True) == (True, False)
    assert next_look(3600, is_changed=True) == (ahead == 0, False)  # nobody has watched: a guess again
    assert next_look(2, is_changed=True) == (True, False)


def test_the_live_view_follows_a_journal_that_grows_shrinks_or_restarts(tmp_path):
    lines = journal_left(tmp_path).splitlines(keepends=True)
    (folder := tmp_path / "results").mkdir()
    other = [lines[0].replace(b'"bot":"perfect"', b'"bot":"another"'), *lines[1:]]
    assert other[0] != lines[0]
    steps = [lines[:count] for count in range(len(lines) + 1)]
    steps += [[*lines, b"damaged\n", *lines[2:]], lines, lines[:3], lines]
    steps += [[*other, *lines[2:3]], other[:1], [], lines]
    look = Shown()
    for number, step in enumerate(steps):
        (folder / "x.journal.jsonl").write_bytes(b"".join(step))
        os.utime(folder / "x.journal.jsonl", (time.time() + number / 100,) * 2)
        look = shown_now(folder, look)
        assert look.state["under_way"] == shown(folder)["under_way"]
        assert len(look.state["under_way"]) == bool(step)
    assert look.state["under_way"][0]["done"] == sum(b'"judged"' in line for line in lines) > 0


@pytest.mark.parametrize(
    ("behaviour", "more", "options"),
    [
        ("perfect", 'warm-up = "sleep 1000"', []),
        pytest.param("wait_at_3", "", ["--on", "local:1"], marks=pytest.mark.slow),
    ],
)
def test_a_run_without_a_local_journal_is_in_progress_until_its_command_dies(
    tmp_path, own_folder, behaviour, more, options
):
    path = definition(tmp_path, {"waits": behaviour})
    path.write_text(path.read_text() + more)
    least = 1 if options else 0
    command = [sys.executable, "-m", "nonobot.harness", "tournament", str(path), *options]

    def under_way() -> list[dict]:
        return shown(tmp_path / "results")["under_way"] if Path("results").exists() else []

    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as judge:
        wait_until(lambda: [run for run in under_way() if run["done"] >= least], judge)
        [run] = under_way()
        facts = {"bot": "waits", "set": str(RECIPE), "count": 5, "not_right": {}, "running": True, "silent": False}
        assert run.items() >= facts.items()
        playing = {"tournament": "small", "played": 0, "count": 1}
        assert shown(tmp_path / "results")["playing"] == [playing | {"running": True}]
        judge.kill()
        finished(judge)
    Path("go").touch()
    for age, is_running, silent in [(10, True, True), (60, False, False)]:
        os.utime(Path("results/small", PLAYING), (time.time() - age,) * 2)
        [run] = under_way()
        assert (run["running"], run["silent"]) == (is_running, silent)
        assert shown(tmp_path / "results")["playing"] == [playing | {"running": is_running}]


def test_an_old_result_is_not_shown_while_its_run_waits_to_be_played_again(tmp_path, own_folder):
    path = definition(tmp_path, {"good": "perfect", "odd": "wrong_at_2"})
    assert cli.run(["tournament", str(path), "--quiet"]) == 0
    results = Path("results/small")
    assert not (results / PLAYING).exists()

    def ranked() -> list[str]:
        return [row["bot"] for ranking in shown(Path("results"))["rankings"] for row in ranking["rows"]]

    good, odd = scheduled_runs(read_tournament(path), results)
    assert ranked() == ["good", "odd"]
    with PlayingFile([good, odd], [good.result_path]) as file:
        wait_until(lambda: ranked() == ["good"])
        file.show(odd, 3, 2)
        wait_until(lambda: shown(Path("results"))["under_way"])
        [run] = shown(Path("results"))["under_way"]
        assert (run["bot"], run["done"], run["right"], run["not_right"]) == ("odd", 3, 2, {"not right": 1})
        file.end(odd, is_played=True)
        wait_until(lambda: ranked() == ["good", "odd"])
        assert shown(Path("results"))["playing"] == [
            {"tournament": "small", "played": 2, "count": 2, "running": True}
        ]


def test_a_single_tournament_is_named_and_its_plots_are_in_the_order_of_its_sets(tmp_path):
    folder = tmp_path / "spring"
    sets = ("first", "second", "third")
    files = [f"{name}--{bot}" for name in sets for bot in ("a", "b")]
    runs = {file: run_result(file[-1], set_name=file[:-3]) for file in files}
    written(folder, **runs)
    (folder / ORDER).write_text("\n".join(files))
    for bot, age in (("a", 60), ("b", 0)):  # the first is interrupted
        journal = folder / f"first--{bot}.journal.jsonl"
        with Journal(journal) as journalled:
            for record in records_of(runs[f"first--{bot}"]):
                journalled.add(record)
        (folder / f"first--{bot}.json").unlink()
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join(line for line in lines if b'"attempt-ended"' not in line))
        os.utime(journal, (time.time() - age,) * 2)
    state = shown(tmp_path)
    assert state["folder"] == str(folder)
    assert [plot["title"] for plot in state["plots"]] == list(sets)
    names = [name for name, *_ in state["plots"][0]["series"]]
    assert names == ["a (interrupted)", "b (under way)"]


def test_missing_runs_and_results_of_removed_bots_are_named(tmp_path):
    folder_of_a_changed_tournament(tmp_path)
    [ranking] = shown(tmp_path)["rankings"]
    *notes, removed = NOTES_OF_A_CHANGED_TOURNAMENT
    assert {*notes} <= {*ranking["notes"]}
    assert removed in ranking["warnings"]


def test_the_ranking_over_all_sets_comes_first(tmp_path):
    result = played("perfect", tmp_path)
    of_other = replace(result, set=replace(result.set, name="other", sha256="0" * 64))
    (tmp_path / "other.json").write_text(json_text(of_other))
    assert {ranking["title"] for ranking in shown(tmp_path)["rankings"]} == {"overall", str(RECIPE), "other"}
    assert shown(tmp_path)["rankings"][0]["title"] == "overall"


def test_the_live_view_needs_no_puzzle_page_and_no_folder_yet(tmp_path, monkeypatch):
    monkeypatch.setenv("NONOBOT_PYODIDE", str(tmp_path / "nowhere"))  # as good as no kernels for browsers
    with Server("--results", "results", folder=tmp_path) as server:
        assert server.ask("/").headers["location"] == "/live"
        for name in ("live", "static/live.js", "static/elements.js", "static/style.css", "static/icon.svg"):
            assert server.ask(f"/{name}").status == 200
        assert server.ask("/facts.json").status == 404
        (tmp_path / "results").mkdir()
        played("perfect", tmp_path / "results")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
        connection.request("GET", "/api/live")
        with contextlib.closing(connection), connection.getresponse() as response:
            state = json.loads(response.readline().removeprefix(b"data: "))
    assert [ranking["title"] for ranking in state["rankings"]] == [str(RECIPE)]
    assert state["note"] == "The puzzle page is not installed here."
    assert server.err.startswith("nonojudge: only the live view is here, without the puzzle page: ")


def test_the_cross_table_of_a_match_comes_first_while_runs_are_missing_too(tmp_path):
    runs = {("a", "b"): 3, ("b", "a"): 2, ("a", "c"): 1}
    for (bot, setter), right in runs.items():
        its_set = replace(facts(f"{setter}.txt"), setter=setter)
        verdicts = dict.fromkeys(range(right + 1, 4), Verdict.WRONG)
        written(tmp_path, **{f"{setter}--{bot}": run_result(bot, verdicts=verdicts, set=its_set)})
    first = shown(tmp_path)["rankings"][0]
    rows = [(row["bot"], row["points"], row["solved"], row["pairings"]) for row in first["rows"]]
    assert rows == [
        ("a", 2, 4, [("b", "2 (3:2)"), ("c", f"{NOTHING} (1:{NOTHING})")]),
        ("b", 0, 2, [("a", "0 (2:3)"), ("c", f"{NOTHING} ({NOTHING}:{NOTHING})")]),
    ]
    assert first["title"] == "match"
    assert first["notes"][1] == "not final: 3 runs missing, and pairings without both runs have no points"


@contextlib.contextmanager
def touched(path):
    """Change a file again and again within the block, as a judge does that goes on."""
    over = threading.Event()

    def touch():
        while not over.wait(1.0):
            os.utime(path)

    thread = threading.Thread(target=touch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


EDGES = """[...document.querySelector('#rankings table').rows].map(row => row.cells[1])
  .concat(document.querySelector('#under-way td'), document.querySelector('progress'))
  .map(one => [one.getBoundingClientRect(), one.scrollWidth > one.clientWidth])
  .map(([at, isCut]) => [at.left, at.right, isCut])"""
"""Of each bot's name and the progress of a run: the left and right edge, and whether it is cut off."""


@pytest.mark.slow
def test_the_live_view_has_the_points_of_the_table_and_a_phone_shows_names_and_progress(
    chromium, tmp_path, monkeypatch
):
    monkeypatch.setenv("NONOBOT_PYODIDE", str(tmp_path / "nowhere"))
    results = tmp_path / "results"
    names = ["nonobot", "hare", "a bot with a rather long name", "_of_the_university".join("abcd")]
    written(results, **{str(place): run for place, run in enumerate(match_of(names))})
    table = [sys.executable, "-m", "nonobot.harness", "table", str(results), "--format", "json"]
    sections = json.loads(subprocess.check_output(table, timeout=PATIENCE_SECONDS))["sections"]
    [match] = [section for section in sections if section["scope"] == "match"]
    expected = {row["bot"]: row["points"] for row in match["rows"]}
    of_pairs = {
        (row["bot"], pair["opponent"]): pair["points"] for row in match["rows"] for pair in row["pairings"]
    }
    journals = []
    played("perfect", tmp_path, lambda *_: journals.append(next(tmp_path.glob("*.jsonl")).read_bytes()))
    records = [line for line in journals[-1].splitlines(keepends=True) if b"attempt-ended" not in line]
    (results / "run.journal.jsonl").write_bytes(b"".join(records))
    with touched(results / "run.journal.jsonl"), Server("--results", "results", folder=tmp_path) as server:
        for width in (1400, 390):
            chromium.shape(width)
            chromium.open(f"{server.address}live")
            chromium.wait_for("document.querySelector('#rankings table') && document.querySelector('progress')")
            lines = "[...document.querySelector('#rankings table').rows].map(row => [...row.cells]"
            head, *lines = chromium.value(f"{lines}.map(cell => cell.innerText))")
            rows = {line[1]: dict(zip(head, line, strict=True)) for line in lines}
            assert {bot: int(row["Points"]) for bot, row in rows.items()} == expected
            assert {pair: int(rows[pair[0]][f"vs {pair[1]}"].split()[0]) for pair in of_pairs} == of_pairs
            for left, right, is_cut in chromium.value(EDGES):
                assert 0 <= left < right - 50 < right <= width
                assert not is_cut
            edges = chromium.value("document.querySelector('#under-way .whole').getBoundingClientRect()")
            assert chromium.text_of("#under-way .whole").endswith(" of 5")
            assert edges["right"] < width
            chromium.keep(f"page-live-match-{width}")
    chromium.open("about:blank")


@pytest.mark.slow
def test_the_live_view_of_a_killed_tournament_still_counts_the_runs_played(chromium, tmp_path, monkeypatch):
    monkeypatch.setenv("NONOBOT_PYODIDE", str(tmp_path / "nowhere"))
    folder = tmp_path / "results" / "spring"
    written(folder, a=run_result("a"))
    playing = Playing("2026-11-28T10:00:00+00:00", 3, ["b.json", "c.json"])
    (folder / PLAYING).write_bytes(msgspec.json.encode(playing))
    os.utime(folder / PLAYING, (time.time() - 60,) * 2)
    with Server("--results", "results", folder=tmp_path) as server:
        chromium.open(f"{server.address}live")
        chromium.wait_for("document.querySelector('#rankings table')")
        assert chromium.text_of("#state") == "results/spring · nothing under way · 1 of 3 runs played"
    chromium.open("about:blank")
