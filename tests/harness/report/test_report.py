"""The report: what it states and how it is written; test_report_browser.py looks at it in a browser."""

import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from statistics import median
from xml.etree import ElementTree

import msgspec
import pytest
from msgspec.structs import fields, replace

from nonobot.arguments import Parser
from nonobot.harness import cli, options
from nonobot.harness.commands import run_bot
from nonobot.harness.report import contents, plots, report_page
from nonobot.harness.report.contents import Report, Run, Variants, configurations
from nonobot.harness.report.report_page import MOST_CELLS, STEPS, Gallery, page_of
from nonobot.harness.results.comparability import MACHINE
from nonobot.harness.results.conditions import CgroupMeasures, Configuration, Contain, Feed, FileNames, SetFacts
from nonobot.harness.results.referee import cells_of
from nonobot.harness.results.run_result import BotLog, EndReason, PuzzleResult, RunResult, Score, Verdict
from nonobot.harness.results.worth import worth
from nonobot.protocol import mismatches
from nonobot.system import printable
from tests.helpers import report_samples as samples
from tests.helpers.ranked import run_result


@pytest.fixture(scope="module", autouse=True)
def _templates_compiled_once():
    """Let all pages be made with the same templates, as they are in one process; else each compiles them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_page, "_environment", cache(report_page._environment))
        yield


def report_of(*results) -> Report:
    return Report({Path(f"{number:02}.json"): result for number, result in enumerate(results)})


def page_with(*results, title: str = "A title"):
    return Reader(page_of(report_of(*results), title, "1.0", lambda done, note: None))


class Reader:
    """A page, its elements and its text; read as XML, so that no element may be left open."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.root = ElementTree.fromstring(re.sub("(<meta[^>]*)>", r"\1/>", page[page.index("<html") :]))
        self.text = "".join(self.root.itertext())

    def having(self, name: str) -> list[str]:
        return [element.attrib[name] for element in self.root.iter() if name in element.attrib]


@pytest.fixture(scope="module", params=samples.SAMPLES)
def read(request) -> Reader:
    return page_with(*getattr(samples, request.param)())


def test_a_line_of_medians_is_explained_only_where_one_is_drawn():
    for number, is_drawn in ((39, False), (40, True)):
        page = page_with(run_result("a", range(1, number + 1))).page
        assert ("a line follows the median" in page) == is_drawn


def test_links_lead_somewhere_and_the_page_can_be_listened_to(read):
    ids = read.having("id")
    assert len(ids) == len(set(ids))
    inner = read.having("href") + [f"#{name}" for name in re.findall(r"url\(#([^)]*)\)", read.page)]
    assert {address.removeprefix("#") for address in inner} <= set(ids)
    levels = [int(element.tag[1]) for element in read.root.iter() if re.fullmatch("h[1-6]", element.tag)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(element.get("scope") in ("row", "col") for element in read.root.iter("th"))
    regions = [element.get("aria-label") for element in read.root.iter() if element.get("role") == "region"]
    assert all(regions)
    assert len(set(regions)) == len(regions) >= 4
    for element in read.root.iter("{*}svg"):
        is_image = element.get("role") == "img"
        assert "aria-hidden" in element.attrib or is_image or element.get("viewBox") == "0 0 30 14"
        if is_image and element.tag == "svg":  # pictures, which have a namespace, have a title instead
            assert len(element.get("aria-label")) > 20


def test_the_page_needs_nothing_from_outside_runs_no_script_and_has_its_own_colours(read):
    tags = {element.tag.rpartition("}")[2].lower() for element in read.root.iter()}
    assert not {"script", "link", "img", "iframe", "object", "image", "foreignobject"} & tags
    assert not [name for element in read.root.iter() for name in element.attrib if name.startswith("on")]
    assert not read.having("src")
    assert "@import" not in read.page
    assert not re.findall(r"url\((?!#)", read.page)
    drawings = "".join(re.findall(r"<svg viewBox.*?</svg>", read.page, re.DOTALL))
    assert not re.findall(r"#0[0-9a-f]{5}\b", drawings)
    assert "var(--bot-0)" in drawings


def test_what_comes_from_outside_is_text():
    hostile = samples.HOSTILE
    run = samples.run_of(hostile)
    wrong = replace(run.score.puzzles[0], verdict=Verdict.WRONG, detail=hostile)
    end = replace(run.attempts[0].end, reason=EndReason.CRASHED, signal=hostile, detail=hostile)
    run = replace(
        run,
        score=replace(Score.of([wrong, *run.score.puzzles[1:]]), notes=[hostile]),
        set=replace(run.set, name=hostile),
        machine=replace(run.machine, cpu=hostile),
        command=[hostile],
        judge_version=hostile,
        started_at=hostile,
        stderr_file=hostile,
        stderr_bytes=1,
        attempts=[replace(run.attempts[0], end=end)],
    )
    read = page_with(run, samples.run_of("other"), title=hostile)
    assert not list(read.root.iter("script"))
    assert read.text.count(printable(hostile)) > 10
    assert "\x07" not in read.page
    assert "{{ 7 * 7 }}" in read.page


@pytest.mark.slow
def test_a_page_is_the_same_byte_for_byte_whatever_the_settings(tmp_path):
    samples.read_back(tmp_path / "results", *samples.two_sets())
    (tmp_path / "matplotlibrc").write_text("svg.fonttype: path\nlines.linewidth: 9\naxes.facecolor: red\n")
    pages = []
    for seed, settings in (("1", ""), ("2", str(tmp_path / "matplotlibrc"))):
        command = [sys.executable, "-m", "nonobot.harness", "report", "results", "-o", f"{seed}.html"]
        environment = os.environ | {"PYTHONHASHSEED": seed, "MATPLOTLIBRC": settings}
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
        pages.append((tmp_path / f"{seed}.html").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.slow
def test_the_page_stays_small_and_there_may_be_more_bots_than_looks():
    runs = [samples.run_of(f"bot {pace}", "boardgen:25x25x1000:seed=7", pace=pace / 100) for pace in range(1, 6)]
    assert len(page_with(*runs).page.encode()) < 2_000_000
    read = page_with(*(one_puzzle(bot=f"bot {number}") for number in range(60)))
    assert len([symbol for symbol in read.root.iter("symbol") if symbol.get("id").startswith("swatch")]) == 60


def test_runs_stand_in_the_order_of_the_ranking_and_are_drawn_with_a_right_answer():
    report = report_of(*reversed(samples.twelve_bots()))
    assert list(report.bots) == [row.bot for row in report.sets[0].ranking.rows]
    assert [run.bot for run in report.sets[0].runs] == list(range(12))
    assert [second.bot for _, second in report.sets[0].duels] == list(range(1, contents.MOST_DUELS + 1))
    runs = [*(samples.run_of("one", pace=pace) for pace in (0.01, 0.03, 0.02)), NONE]
    report = report_of(*runs)
    assert len(report.runs) == 4
    assert [run.result for run in report.sets[0].runs] == [runs[2], NONE]
    assert [run.result for run in report.sets[0].timed] == [runs[2]]


def test_every_result_is_on_the_page_and_steps_are_told_in_order():
    runs, told = [result for result in samples.two_sets() if isinstance(result, RunResult)], []
    text = Reader(page_of(report_of(*samples.two_sets()), "T", "1", lambda done, note: told.append(done))).text
    assert told == list(range(2 * STEPS + 1))
    expected = [part for run in runs for part in (printable(run.bot), run.end.reason.value)]
    expected += ["SIGSEGV", "puzzle 22", "no such file: ./bots/run", "answer file", "row 3 has 9 numbers"]
    expected += ["51\N{EN DASH}60", "Slow CPU @ 2.00GHz", "the machine was busy at the start of "]
    expected += ["Not warmed up by the judge before the clock started: tortoise"]
    assert [part for part in expected if part not in text] == []


NONE = samples.run_of("none", samples.SMALL, samples.none_right)


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ([samples.run_of("one", pace=1e-9)], "< 100 µs"),
        ([samples.run_of("one", pace=pace) for pace in (0.01, 0.03, 0.02)], "middle of 3 runs"),
        ([samples.run_of("one"), NONE], "no right answer has a time: none."),
        ([NONE], "there is nothing to plot"),
        ([samples.not_started("none")], "there is nothing to plot"),
    ],
)
def test_words_for_what_cannot_be_drawn_or_was_chosen(results, text):
    assert text in page_with(*results).text


def one_puzzle(number: int = 1, took: float | None = 1.0, bot: str = "one"):
    run = samples.run_of(bot)
    puzzle = replace(run.score.puzzles[0], number=number, took_seconds=took, arrived_seconds=took)
    facts = replace(run.set, puzzle_count=1, name="one.txt", sha256="1" * 64)
    return replace(run, set=facts, score=Score.of([puzzle]))


@pytest.mark.parametrize("took", [0.0, -1.0, 1e-9, 0.1, 1e9])
@pytest.mark.parametrize("number", [1, *(pytest.param(number, marks=pytest.mark.slow) for number in (0, 10**15))])
def test_one_puzzle_is_a_report(number, took):
    read = page_with(one_puzzle(number, took), one_puzzle(number, took, "two"))
    assert "1 puzzle solved by both" in read.text


def test_answer_files_and_logs_are_ranked_and_not_drawn_and_own_times_have_a_column_where_a_bot_keeps_a_log():
    log = BotLog({1: 0.5, 2: 1.25}, 1.75)
    files = map(Path, ("0.json", "1.json", "a <b>.log"))
    report = Report(dict(zip(files, (samples.run_of("one"), samples.checked(), log), strict=True)))
    assert [len(report.sets[0].ranking.rows), len(report.sets[0].runs), len(report.runs)] == [2, 1, 1]
    text = Reader(page_of(report, "T", "1", lambda done, note: None)).text
    assert [word for word in ("Logs, not verified", "a <b>", "1.750") if word not in text] == []
    run = one_puzzle()
    attempt = replace(run.attempts[0], own_log=BotLog({1: 0.875}))
    logging = replace(run, bot="logs", files=FileNames("in", "out", "log"), attempts=[attempt])
    assert [word for word in ("Own time, s", "0.875") if word not in page_with(run, logging).text] == []
    assert "Own time, s" not in page_with(run).text


def test_a_page_of_many_sets_draws_fewer_points_of_each():
    run = one_puzzle()
    report = report_of(*(replace(run, set=replace(run.set, sha256=f"{number:064}")) for number in range(45)))
    assert report.most_points == contents.ALL_POINTS // 45
    assert report_of(*samples.twelve_bots()).most_points == contents.MOST_POINTS


def test_the_slowest_puzzles_and_a_few_faults_are_named():
    runs = samples.two_bots()
    times = defaultdict(list)
    for puzzle in (puzzle for run in runs for puzzle in run.score.puzzles if puzzle.verdict is Verdict.RIGHT):
        times[puzzle.number].append(puzzle.took_seconds)
    expected = sorted(((number, median(seconds)) for number, seconds in times.items()), key=lambda pair: -pair[1])
    assert list(report_of(*runs).sets[0].slowest.items()) == expected[: contents.SLOWEST]
    [part] = report_of(samples.run_of("hare", samples.SMALL, samples.mixed)).sets
    right = {puzzle.number for puzzle in part.runs[0].result.score.puzzles if puzzle.verdict is Verdict.RIGHT}
    assert (part.runs[0].seconds.keys(), len(part.runs[0].by_number)) == (right, 60)
    [part] = report_of(samples.run_of("wrong", samples.SMALL, lambda _: Verdict.WRONG)).sets
    [(_, shown, further)] = part.wrong
    assert (len(shown) + further, len(shown), part.faulty) == (60, contents.SHOWN_FAULTS, [])


def test_a_shared_mistake_is_told_twice_and_an_overall_ranking_without_bots_has_no_table():
    run = samples.run_of("mixed", samples.SMALL, samples.mixed)
    read = page_with(replace(run, score=replace(run.score, mistake="all 2 would be right if transposed"))).text
    assert read.count("all 2 would be right if transposed") == 2
    page = page_with(samples.run_of("hare"), samples.run_of("tortoise", samples.OTHER))
    assert "No set that every bot has played" in page.text
    assert "Overall ranking" not in page.having("aria-label")


def test_what_differs_is_marked():
    variants = Variants(MACHINE, [samples.MACHINE, samples.OTHER_MACHINE, samples.MACHINE])
    assert variants.differing == ["CPU", "Memory"]
    assert variants.letters == ["A", "B"]
    assert variants.letter_of == ["A", "B", "A"]
    load = replace(samples.MACHINE, load_average=7.0, busy_share=None)
    assert Variants(MACHINE, [samples.MACHINE, load]).differing == []


def run_on(configuration):
    return replace(samples.one_bot()[0], configuration=configuration, environment={})


@pytest.mark.parametrize("name", [field.name for field in fields(Configuration)])
def test_every_term_is_stated_and_in_the_command_that_repeats_the_run(name):
    values = {"feed": "interactive", "any_order": True, "core": 1, "contain": "yes", "shared_core": "name"}
    values |= {variables: {"A": "b"} for variables in ("environment", "environment_digests")}
    other = msgspec.convert(msgspec.to_builtins(Configuration()) | {name: values.get(name, 5)}, Configuration)
    runs = [run_on(Configuration()), run_on(other)]
    assert len(configurations(runs).differing) == (name != "contain"), "not in CONFIGURATION of comparability.py"
    is_repeated = name not in ("shared_core", "environment", "environment_digests")
    assert len(report_of(*runs).commands) == 1 + is_repeated, "not in _options of report/contents.py"


def test_how_a_bot_was_held_and_counted_is_stated():
    run, on_two = run_on(Configuration(core=1)), run_on(Configuration(core=(0, 1)))
    assert configurations([run, on_two]).facts["Number of cores"] == ["1", "2"]
    attempt = replace(run.attempts[0], sandboxed=True, cgroup_measures=CgroupMeasures(cpu=True))
    held = replace(run, attempts=[attempt])
    assert configurations([run, held]).differing == ["Sandbox", "Figures measured by cgroup"]
    requested = replace(held, configuration=Configuration(core=1, contain="no"))  # as it was counts, not as asked
    assert configurations([held, requested]).differing == []
    absent = samples.not_started("absent")  # what is unknown differs from nothing
    both = configurations([absent, replace(held, configuration=absent.configuration)])
    assert (both.differing, both.letter_of) == ([], ["A", "A"])


def test_the_page_says_what_figures_are_worth_in_the_words_of_a_run():
    run = samples.one_bot()[0]
    run = replace(run, attempts=[replace(attempt, sandboxed=False) for attempt in run.attempts])
    assert len(worth([run])) == 2
    assert "; ".join(worth([run])) in page_with(run).page


WRONG = Run("wrong", 0, samples.run_of("wrong", samples.SMALL, lambda _: Verdict.WRONG))


def marks(*others: Run, **changes) -> int:
    """Return how many lines of a wrong answer are marked, with changes to the facts of its set."""
    gallery = Gallery(replace(WRONG.result.set, **changes), [WRONG, *others])
    [drawn] = re.findall(r'<path fill="var\(--bad\)" d="([^"]*)"', gallery.picture(WRONG.by_number[8])) or [""]
    return drawn.count("M")


def test_lines_at_fault_are_marked_if_the_set_or_a_right_answer_is_at_hand():
    puzzle = samples.known_set(samples.SMALL)[0].puzzles[7].puzzle
    at_fault = len(mismatches(puzzle, cells_of(WRONG.by_number[8], WRONG.result.set)))
    assert marks() == marks(Run("right", 1, samples.run_of("right")), name="gone.txt") == at_fault > 0


def test_without_the_puzzle_no_line_is_marked_and_no_endless_set_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 1 << 42)
    assert marks(sha256="0" * 64) == 0  # the set has changed
    endless = (str(tmp_path / "pipe"), "/dev/zero", "boardgen:10x10x99999999999:seed=1")
    for name in ("gone.txt", *endless, str(tmp_path / "sparse"), "boardgen:?", "", "\0"):
        assert marks(name=name) == 0


def test_cells_that_are_no_grid_of_the_set_give_no_picture():
    for cells, width in product(("", "zz", "ff", "ff" * 14, "é", None), (10, 0)):
        result = replace(samples.run_of("x").score.puzzles[0], cells_hex=cells)
        assert cells_of(result, SetFacts("x", "0" * 64, width, 10, 60)) is None


def test_a_board_that_is_too_large_for_a_page_has_no_picture():
    facts = SetFacts("gone.txt", "0" * 64, MOST_CELLS // 500, 500, 1)
    black = replace(samples.run_of("x").score.puzzles[0], verdict=Verdict.WRONG, cells_hex="f" * (MOST_CELLS // 4))
    assert Gallery(facts, []).picture(black)
    larger = replace(facts, height=504)
    assert Gallery(larger, []).picture(replace(black, cells_hex="f" * (MOST_CELLS // 500 * 504 // 4))) is None


def run_with(times: dict[int, float]) -> Run:
    puzzles = [PuzzleResult(number, Verdict.RIGHT, None, took, took) for number, took in times.items()]
    return Run("x", 0, replace(run_result(), score=Score.of(puzzles)))


def test_medians_and_the_slowest_points_are_drawn_whatever_is_thinned():
    points = [(number, 1.0 + number % 3) for number in range(1, 201)]
    middle = plots.running_median(points)
    assert {time for _, time in middle} == {2.0}
    assert all(1 <= number <= 200 for number, _ in middle)
    assert plots.running_median(points[:10]) == []
    points = [(number, 1.0 + number % 7) for number in range(5000)]
    points[1234] = (1234, 99.0)
    kept = plots.thinned(points, 1000)
    assert len(kept) <= 1000
    assert (1234, 99.0) in kept
    assert kept == sorted(set(kept) & set(points))
    assert plots.thinned(points[:100], 100) == points[:100]


@pytest.mark.parametrize(
    "configuration",
    [
        Configuration(core=3, stall_limit_seconds=60.0, process_limit=512, contain=Contain.AUTO),
        Configuration(
            feed=Feed.INTERACTIVE,
            wall_limit_seconds=0.3,
            cpu_limit_seconds=1234567.0,
            puzzle_limit_seconds=2.5,
            memory_limit_bytes=(4 << 30) + 1,
            any_order=True,
            contain=Contain.YES,
        ),
        Configuration(core=(2, 3), memory_limit_bytes=None),
    ],
)
def test_the_commands_repeat_the_runs(configuration):
    files = FileNames("in put.txt", "out.txt")
    plain = run_result("my bot", terms=configuration, command=["./bot", "a b"], show=["/data/book"], files=files)
    other = replace(plain, set=replace(plain.set, name="other set.txt", sha256="f" * 64))
    [(_, command)] = report_of(plain).commands
    words = shlex.split(command)
    assert words[:4] == ["nonojudge", "run", "--set", plain.set.name]
    assert words[words.index("--") + 1 :] == plain.command
    parser = Parser()
    run_bot.add_to(parser)
    given = vars(parser.parse_args(words[2 : words.index("--")]))
    again = options.configuration_of(given, configuration.core)
    assert again == configuration
    assert (given["name"], given["size"], given["show"]) == ("my bot", (5, 5), [Path("/data/book")])
    assert (given["reads"], given["writes"]) == ("in put.txt", "out.txt")
    assert given.get("cores", 1) == (2 if configuration.core == (2, 3) else 1)
    assert given.get("core", configuration.core) == configuration.core
    [(_, command)] = report_of(plain, other).commands
    assert command.startswith("""for set in set1 'other set.txt'; do nonojudge run --set "$set" --size 5x5 """)


def test_duels_are_counted():
    first = run_with({1: 1.0, 2: 2.0, 3: 3.0, 4: 1e-5})
    second = run_with({2: 1.0, 3: 4.0, 4: 0.0, 5: 1.0, 6: 1.0})
    assert plots.duel_in_words(first, second) == (
        "3 puzzles solved by both, x faster on 1 of them, x on 1; 1 solved by x alone, 2 by x alone"
    )


def test_the_command_writes_the_page_and_names_what_is_left_out(own_folder, capsys, output_of):
    samples.read_back(Path(), samples.run_of("one"))
    assert cli.run(["report", "00.json", "-o", "new/page.html", "--title", "Spring & summer"]) == 0
    assert "<title>Spring &amp; summer</title>" in Path("new/page.html").read_text()
    assert capsys.readouterr().out == "report: new/page.html\n"
    Path("bad.json").write_text("{")
    assert "bad.json is not a result" in output_of(cli.run, ["report", "."], status=1).err
    assert Path("report.html").exists()
    capsys.readouterr()
    assert cli.run(["report", "00.json", "-o", "-"]) == 0
    assert capsys.readouterr().out.endswith("</html>")
    assert "cannot write" in output_of(cli.run, ["report", "00.json", "-o", "."], status=2).err
    message = "nonojudge: -o weekly.PDF: a report is an HTML file; name it weekly.html\n"
    assert output_of(cli.run, ["report", "00.json", "-o", "weekly.PDF"], status=2).err == message
    assert not Path("weekly.PDF").exists()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("own.txt")])
def test_a_link_or_a_pipe_that_the_user_has_not_named_is_replaced(own_folder, output_of, make):
    samples.read_back(Path(), samples.run_of("one"))
    Path("own.txt").write_text("mine")
    make(Path("report.html"))
    output_of(cli.run, ["report", "00.json"])
    assert Path("own.txt").read_text() == "mine"
    assert not Path("report.html").is_symlink()
    assert Path("report.html").read_text().endswith("</html>")


def test_a_link_that_the_user_has_named_stays_one(own_folder, output_of):
    samples.read_back(Path(), samples.run_of("one"))
    Path("page.html").symlink_to("own.txt")
    output_of(cli.run, ["report", "00.json", "-o", "page.html"])
    assert Path("own.txt").read_text().endswith("</html>")


def test_without_a_run_or_a_library_there_is_no_report(own_folder, monkeypatch, output_of):
    samples.read_back(Path(), samples.checked())
    assert "no run results found" in output_of(cli.run, ["report", "00.json"], status=2).err
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert "needs jinja2, " in output_of(cli.run, ["report", "00.json"], status=2).err
    assert not Path("report.html").exists()
