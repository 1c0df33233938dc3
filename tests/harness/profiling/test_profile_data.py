"""nonobot.harness.profiling: how time divides, and how that is shown."""

import json
import re
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from nonobot.harness import UnusableError
from nonobot.harness.profiling.profile_data import (
    OUTSIDE_PHASES,
    depth_first,
    median_of,
    read_profile,
    reason,
    span_of,
    stages_of,
    to_json,
)
from nonobot.harness.profiling.profile_picture import INNER, STAGES, THEMES, draw
from nonobot.harness.profiling.profile_text import as_text, compare, comparison_as_text, conclusion
from nonobot.harness.results.conditions import SetFacts
from nonobot.harness.results.run_result import BotEnd, EndReason
from tests.helpers.profiled import example, profile, puzzle


def names_and_seconds(profiled):
    return [(depth, span.name, pytest.approx(span.seconds)) for depth, span in depth_first(span_of(profiled))]


def test_the_whole_run_divides_into_parts():
    assert names_and_seconds(example()) == [
        (0, "whole run", 10.0),
        (1, "before the first puzzle", 1.0),
        (1, "puzzles", 6.5),
        (2, "propagation", 1.5),
        (2, "learn", 4.2),
        (3, "start", 0.6),
        (3, "rest", 3.6),
        (2, OUTSIDE_PHASES, 0.8),
        (1, "between puzzles", 1.5),
        (1, "after the last answer", 1.0),
    ]


ODD_STEPS = {"line_solving": 1.0, "a_b": 0.25, "a_c": 0.25}


@pytest.mark.parametrize(
    ("profiled", "part"),
    [
        (profile(puzzle(1, 2.0, ODD_STEPS)), (2, "line_solving", 1.0)),  # a step alone, whatever its name
        (profile(puzzle(1, 2.0, ODD_STEPS)), (3, "c", 0.25)),
        (profile(puzzle(1, 3.0)), (2, OUTSIDE_PHASES, 3.0)),  # the bot states no steps
        (profile(), (1, "between puzzles", 10.0)),
        (profile(puzzle(4, 1.0), end=BotEnd(EndReason.TIME_LIMIT)), (1, "no answer after $4", 1.0)),
    ],
)
def test_every_measured_time_becomes_a_part_of_the_profile(profiled, part):
    assert part in names_and_seconds(profiled)


@pytest.mark.parametrize(
    ("puzzles", "wall", "answers", "parts"),
    [  # a first answer that was read late; clocks that disagree
        ([puzzle(1, 5.0)], 8.0, (7.5, 7.5), [2.5, 5.0, 0.0, 0.5]),
        ([puzzle(1, 5.0), puzzle(2, 1.0)], 8.0, (7.4, 7.5), [1.5, 6.0, 0.0, 0.5]),
        ([puzzle(1, 3.0, {"a": 3.5})], 3.0, (2.9, 3.1), [0.0, 3.0, 0.0, 0.0]),
    ],
)
def test_parts_are_as_long_as_the_whole_and_none_is_negative(puzzles, wall, answers, parts):
    first, last = answers
    whole = span_of(profile(*puzzles, wall=wall, first_answer_seconds=first, last_answer_seconds=last))
    assert [part.seconds for part in whole.children] == pytest.approx(parts)
    assert min(span.seconds for _, span in depth_first(whole)) >= 0.0


def test_answers_that_were_read_after_the_exit_take_no_time_beyond_it():
    seen = {"from_outside": True, "first_output_seconds": 0.8, "last_answer_seconds": 3.3}
    whole = span_of(profile(puzzle(1, 1.0), puzzle(2, 1.5), wall=3.0, **seen))
    assert [part.seconds for part in whole.children] == pytest.approx([0.8, 2.2, 0.0, 0.0])
    whole = span_of(profile(puzzle(1, 1.0), wall=0.7, **seen))
    assert [part.seconds for part in whole.children] == pytest.approx([0.7, 0.0, 0.0, 0.0])


def test_parts_have_time_per_count_and_escaped_names():
    for probes, per in ((4, ("probes", 4)), (0, (None, None))):
        whole = span_of(profile(puzzle(1, 2.0, {"probing": 1.0}, probes=probes)))
        assert [(span.per, span.count) for _, span in depth_first(whole) if span.name == "probing"] == [per]
    evil = profile(puzzle(1, 1.0, {"a\x1b[2J": 1.0}, **{"b\x1b[2J": 20}), command=["x\x1b[2J"])
    for terminal in (True, False):
        assert "\x1b[2J" not in as_text(evil, terminal)
    assert "\x1b" not in comparison_as_text(evil, evil, False)


TWO_COUNTS = profile(
    *(puzzle(number, 1.0, {"probing": 1.0}, hits=hits, probes=50) for number, hits in ((1, 90), (2, 10)))
)
UNEXPLAINED = profile(
    puzzle(1, 9.0, {"a": 9.0}, probes=10, descents=2), puzzle(2, 1.0, {"a": 1.0}, probes=990, descents=1)
)


@pytest.mark.parametrize(
    ("profiled", "place", "explained"),
    [
        (example(), 1, "learn 80% (rest 70%); 90 conflicts (90% of all); 30 probes (30% of all)"),
        (example(), 2, "propagation 90%; 60 probes (60% of all); 10 conflicts (10% of all)"),
        (profile(puzzle(1, 1.0)), 0, f"{OUTSIDE_PHASES} 100%"),
        (profile(puzzle(1, 0.0)), 0, f"{OUTSIDE_PHASES} 0%"),
        # the count of the stage first
        (TWO_COUNTS, 0, "probing 100%; 50 probes (50% of all); 90 hits (90% of all)"),
        (UNEXPLAINED, 0, "a 100%; no count explains it: memory used for the first time, or others on the core"),
        (UNEXPLAINED, 1, "a 100%; 990 probes (99% of all)"),
    ],
)
def test_a_comparison_explains_slowdowns_by_stage_step_and_counts(profiled, place, explained):
    assert reason(profiled.puzzles[place], profiled) == explained
    assert sum(stages_of(profiled.puzzles[place]).values()) == pytest.approx(profiled.puzzles[place].seconds)


def test_a_profile_is_printed_as_text():
    lines = as_text(example(), terminal=False).splitlines()
    assert lines[:3] == ["a set", "bot --fast", "3 of 3 right, 10.0 s from start to end, 10.0 s of CPU time"]
    assert [line.split()[1:4] for line in lines if line.startswith("    learn ")] == [["4.20", "s", "42%"]]
    assert any(line.split()[:5] == ["conflicts", "100", "10", "90", "$2"] for line in lines)
    assert [line.split()[0] for line in lines if line.startswith("$")] == ["$2", "$3", "$1"]
    assert "warning" not in "".join(lines)
    assert "half of the time of all puzzles: 1 of 3 puzzles; the median puzzle takes 1.00 s" in lines
    bars = {line.split()[0]: line.count("\N{FULL BLOCK}") for line in lines if "%" in line and "$" not in line}
    assert (bars["whole"], bars["learn"], bars["start"]) == (30, 12, 1)


def test_every_output_of_a_profile_mentions_a_stop_of_the_judge():
    at_once = profile(puzzle(1, 1.0), puzzle(2, 0.0), puzzle(3, 0.0), wall=200.0, from_outside=True)
    stopped = replace(at_once, stood_still_seconds=5.0)
    assert "all answers came at once" in as_text(at_once, terminal=False)
    assert "all answers came at once" not in as_text(stopped, terminal=False)
    assert median_of([at_once, stopped, stopped]).stood_still_seconds == 10.0
    said = "the judge stood still for 5.00 s"
    assert f"before: {said}" in comparison_as_text(stopped, at_once, terminal=False)
    assert f"after: {said}" in comparison_as_text(at_once, stopped, terminal=False)


@pytest.mark.parametrize("terminal", ["xterm", "dumb"])
@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_no_number_is_cut_off_on_a_narrow_terminal(columns, terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", terminal)
    profiled = profile(puzzle(1, 5.0, {"probing": 4.0}, probes=1000), puzzle(2, 1.0, {"probing": 0.5}, probes=10))
    text = as_text(profiled, terminal=True)
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert ("4.46 ms a probe" in text) == (columns >= 80)


@pytest.mark.parametrize(
    ("steps", "changes", "said"),
    [
        ({"a": 1.0}, {"cpu": 5.0}, "the bot computed for 5.00 s of 10.0 s"),
        ({"a": 1.0}, {"end": BotEnd(EndReason.INTERRUPTED)}, "it ended as interrupted"),
        ({}, {}, "states no phase_seconds"),
        ({"a": 1.0}, {"stood_still_seconds": 5.0}, "the judge stood still for 5.00 s"),
    ],
)
def test_a_doubtful_profile_has_a_warning(steps, changes, said):
    assert said in as_text(profile(puzzle(1, 1.0, steps), **changes), terminal=False)


@pytest.mark.parametrize("profiled", [example(), profile()])
def test_a_profile_is_read_as_it_was_written(tmp_path, profiled):
    path = tmp_path / "p.json"
    path.write_text(to_json(profiled))
    assert read_profile(path) == profiled
    written = json.loads(path.read_text())
    assert (written["kind"], written["span"]["name"]) == ("profile", "whole run")


def slower(seconds):
    """Return the example with so much more time in a step of its second puzzle."""
    first, second, third = example().puzzles
    steps = second.phase_seconds | {"learn_rest": second.phase_seconds["learn_rest"] + seconds}
    second = puzzle(2, second.seconds + seconds, steps, **second.counts)
    return profile(first, second, third, wall=10.0 + seconds, last_answer_seconds=9.0 + seconds)


def late(profiled, seconds):
    first, last = profiled.first_answer_seconds + seconds, profiled.last_answer_seconds + seconds
    usage = replace(profiled.usage, wall_seconds=profiled.usage.wall_seconds + seconds)
    return replace(profiled, usage=usage, first_answer_seconds=first, last_answer_seconds=last)


def test_the_step_that_got_slower_is_named_also_after_a_late_start():
    comparison = compare(example(), slower(2.0))
    assert conclusion(comparison) == [
        "20% slower (10.0 s before, 12.0 s after)",
        "the puzzles: +2.00 s, most of all in learn, rest: 3.60 s before, 5.60 s after",
        "every count of every puzzle is the same: the search is the same, the rest is speed or noise",
    ]
    assert conclusion(compare(slower(2.0), example()))[:2] == [
        "16.7% faster (12.0 s before, 10.0 s after)",
        "the puzzles: -2.00 s, most of all in learn, rest: 5.60 s before, 3.60 s after",
    ]
    assert conclusion(compare(example(), example()))[0] == "as fast as before"
    assert conclusion(compare(example(), late(slower(0.5), 1.0)))[1:3] == [
        "the puzzles: +500 ms, most of all in learn, rest: 3.60 s before, 4.10 s after",
        "start, end and the rest: +1.00 s, most of all in before the first puzzle: 1.00 s before, 2.00 s after",
    ]


def test_cpu_time_decides_the_comparison_of_computing_bots():
    more = slower(0.5)
    more = replace(more, usage=replace(more.usage, cpu_seconds=11.0))
    wall = "wall time 10.0 s before, 10.5 s after"
    assert (
        conclusion(compare(example(), more))[0] == f"10% slower in CPU time (10.0 s before, 11.0 s after; {wall})"
    )
    assert conclusion(compare(example(), slower(0.5)))[0] == "as fast as before"  # others had the core
    shared = replace(example(), usage=replace(example().usage, cpu_seconds=5.0))
    text = comparison_as_text(shared, more, terminal=False)
    assert " after)\nin CPU time 120% slower (5.00 s before, 11.0 s after)\n" in text
    assert "\nbefore: the bot computed for 5.00 s of 10.0 s: " in text
    assert "\nafter: the bot computed" not in text


def test_several_runs_are_compared_by_medians_and_changes_beyond_their_range():
    before = median_of([late(slower(more), start) for more, start in ((0.3, 0.0), (0.0, 0.9), (0.1, 0.1))])
    spans = {span.name: span.seconds for _, span in depth_first(span_of(before))}
    assert spans["whole run"] == pytest.approx(10.3)
    assert spans["before the first puzzle"] == pytest.approx(1.1)
    assert spans["rest"] == pytest.approx(3.7)
    text = as_text(before, False)
    assert "medians of 3 runs (wall 10.2 s to 10.9 s, CPU 10.0 s to 10.0 s)" in text
    assert any(line.split()[1:7] == ["3.70", "s", "3.60", "s", "to", "3.90"] for line in text.splitlines())
    after = median_of([late(slower(more), start) for more, start in ((0.6, 0.2), (0.4, 0.3), (0.5, 1.2))])
    waiting_before, waiting_after = (
        replace(runs, usage=replace(runs.usage, cpu_seconds=1.0)) for runs in (before, after)
    )
    overlap = "no clear difference, as the runs overlap: "
    assert conclusion(compare(waiting_before, waiting_after))[0].startswith(overlap)
    beyond = median_of([slower(more) for more in (2.0, 2.5, 3.0)])
    assert conclusion(compare(before, replace(beyond, usage=waiting_after.usage)))[0].startswith("21.4% slower (")
    assert conclusion(compare(before, after))[1:3] == [
        "the puzzles: +400 ms, most of all in learn, rest: 3.70 s before, 4.10 s after",
        "start, end and the rest: +200 ms, and no part by more than runs differ",
    ]


def test_changed_counts_and_added_or_removed_steps_are_reported():
    first, second, third = example().puzzles
    after = profile(first, puzzle(2, 5.0, second.phase_seconds, probes=31, conflicts=90), third)
    comparison = compare(example(), after)
    assert comparison.recounted == [2]
    assert comparison.totals["probes"] == (100, 101)
    assert conclusion(comparison)[1] == "the counts of 1 puzzle differ, first $2: the search is another"
    text = comparison_as_text(example(), after, False)
    assert "\nas fast as before\na single run: --repeat 5 for medians" in text
    assert any(line.split() == ["probes", "100", "101", "1.010"] for line in text.splitlines())
    before, after = profile(puzzle(1, 2.0, {"old": 1.0})), profile(puzzle(1, 2.0, {"new": 1.5}))
    parts = {part.name: (part.before_seconds, part.after_seconds) for part in compare(before, after).parts}
    assert parts["whole run/puzzles/old"] == (1.0, 0.0)
    assert parts["whole run/puzzles/new"] == (0.0, 1.5)
    assert list(parts).index("whole run/puzzles/old") < list(parts).index("whole run/between puzzles")
    stages = {span.name: span.stage for _, span in depth_first(span_of(median_of([before, after])))}
    assert (stages["old"], stages["new"]) == ("old", "new")
    other = profile(puzzle(1, 1.0), set=SetFacts("another", "1" * 64, 5, 5, 1))
    with pytest.raises(UnusableError, match="of the same puzzles"):
        compare(example(), other)


SVG = "{http://www.w3.org/2000/svg}"


def picture(profiled, theme="light"):
    pytest.importorskip("matplotlib")
    return draw(profiled, "svg", theme)


def titled_widths(svg):
    """Return the width of each titled part of a drawing, by title."""
    widths = {}
    for group in ElementTree.fromstring(svg).iterfind(f".//{SVG}title/.."):
        across = [float(value) for value in re.findall(r"[ML] (\S+)", group.find(f"{SVG}path").attrib["d"])]
        widths[group.find(f"{SVG}title").text] = max(across) - min(across)
    return widths


@pytest.mark.parametrize("theme", THEMES)
def test_svg_parts_are_as_wide_as_their_time(theme):
    svg = picture(example(), theme)
    widths = titled_widths(svg)
    for title, share in (
        ("whole run: 10.0 s, 100%", 1.0),
        ("learn: 4.20 s, 42%", 0.42),
        ("rest: 3.60 s, 36%", 0.36),
        ("$2: 5.00 s, of it 4.00 s learn", 5.0 / 6.5),
    ):
        assert widths[title] == pytest.approx(share * INNER, abs=0.1)
    assert all(colour.encode() in svg for colour in (THEMES[theme].paper, THEMES[theme].other, STAGES[0]))
    assert svg == picture(example(), theme)


def test_a_profile_svg_accepts_any_name_and_stays_small():
    odd = profile(puzzle(1, 1.0, {"<&$x^$\x00": 1.0}), command=["<b>\x1b"], set=SetFacts("a&b", "0", 5, 5, 1))
    assert any("<&$x^$" in title for title in titled_widths(picture(odd)))
    many = profile(*(puzzle(number, 0.001, {"a": 0.0005}) for number in range(1, 5001)))
    assert len(picture(many)) < 1_000_000


@pytest.mark.parametrize(
    "empty", [profile(), profile(puzzle(1, 0.0)), profile(puzzle(1, 9.0), puzzle(2, 0.0)), profile(wall=0.0)]
)
def test_a_profile_without_puzzles_can_be_drawn(empty):
    assert ElementTree.fromstring(picture(empty)).tag == f"{SVG}svg"
    assert f"{empty.right} of {empty.set.puzzle_count} right" in as_text(empty, False)
    comparison_as_text(empty, empty, False)
