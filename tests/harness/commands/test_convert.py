"""`nonojudge convert`: files from one format to another, what it says, exit statuses."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import nonobot
from nonobot.arguments import Parser
from nonobot.harness import cli
from nonobot.harness.commands import convert
from nonobot.protocol import Puzzle, Record, formats
from tests.helpers.pictured import P_PUZZLE
from tests.helpers.places import PUZZLES

pytestmark = pytest.mark.usefixtures("own_folder")

PUZZLE_IN_XML = "<puzzle><title>Dot</title><note>n</note><solution><image>|X|</image></solution></puzzle>"


def run(*arguments: str) -> int:
    return cli.run(["convert", *arguments])


def puzzles_in(file: str) -> list:
    return [record.puzzle for record in formats.read(Path(file).read_bytes())]


@pytest.mark.parametrize("ending", [form.extensions[0] for form in formats.formats() if form.name != "taai"])
def test_the_file_extension_selects_the_format(ending, capsys):
    assert run(str(PUZZLES / "p.non"), "out" + ending) == 0
    assert puzzles_in("out" + ending) == [P_PUZZLE]
    format = formats.by_extension("out" + ending)
    assert capsys.readouterr().err.splitlines()[-1] == f"1 puzzle written to out{ending} ({format.name})"


@pytest.mark.parametrize("file", ["p.non", "p.xml", "p-partly.grid", "several.non"])
def test_a_written_json_file_contains_the_same_puzzles(file, output_of):
    records = list(formats.read((PUZZLES / file).read_bytes()))
    assert "warning" not in output_of(run, str(PUZZLES / file), "out.json").err
    found = json.loads(Path("out.json").read_bytes())
    assert [puzzle["rows"] for puzzle in (found if records[1:] else [found])] == [
        [[*clue] for clue in record.puzzle.rows] for record in records
    ]
    assert list(formats.read(Path("out.json").read_bytes())) == records
    nonobot.write(records, "again.json")
    assert Path("again.json").read_bytes() == Path("out.json").read_bytes()


def test_formats_can_be_named_and_a_file_converted_onto_itself():
    assert run("--from", "non", "--to", "nin", str(PUZZLES / "p.non"), "out.xml") == 0
    assert formats.detect(Path("out.xml").read_bytes()) == "nin"
    Path("here.txt").write_bytes((PUZZLES / "p.letters").read_bytes())
    assert run("here.txt", "here.txt", "--to", "webpbn") == 0
    assert puzzles_in("here.txt") == [P_PUZZLE]


def test_convert_reads_stdin_and_writes_stdout(monkeypatch, capfdbinary):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1:1-2\n")))
    assert run("-", "-", "--to", "letters") == 0
    assert capfdbinary.readouterr() == (b"A A\nB\n", b"1 puzzle written to stdout (letters)\n")


def test_size_sets_the_board_size_of_a_taai_file(output_of):
    err = output_of(run, "--size", "8x11", str(PUZZLES / "p.txt"), "out.hv").err
    assert (err, puzzles_in("out.hv")) == ("1 puzzle written to out.hv (hv)\n", [P_PUZZLE])
    err = output_of(run, "--size", "9x12", str(PUZZLES / "p.txt"), "third.hv", status=1).err
    assert "expected 21 clue lines for a 9x12 board, found 19" in err
    assert not Path("third.hv").exists()


def test_square_boards_of_several_sizes_come_back_with_size_auto(output_of):
    records = [Record(Puzzle([[]] * side, [[]] * side)) for side in (25, 2, 3)]
    Path("in.oneline").write_bytes(formats.write(records, "oneline").data)
    assert "to be read with --size auto" in output_of(run, "in.oneline", "out.txt").err
    err = output_of(run, "--size", "auto", "out.txt", "back.oneline").err
    assert err == "3 puzzles written to back.oneline (oneline)\n"
    assert Path("back.oneline").read_bytes() == Path("in.oneline").read_bytes()


def test_dropped_data_is_reported_once_and_counted(output_of):
    name = PUZZLES / "several.non"
    assert output_of(run, str(name), "out.oneline").err.splitlines() == [
        f"{name}: warning: $1: oneline cannot hold the title; dropped",
        f"{name}: warning: $2: oneline cannot hold the title, author, solution; dropped",
        f"{name}: warning: $3: oneline cannot hold the title, catalogue; dropped",
        "3 puzzles written to out.oneline (oneline)",
    ]
    Path("in.xml").write_text("<puzzleset>" + 5 * PUZZLE_IN_XML + "</puzzleset>")
    assert output_of(run, "in.xml", "out.oneline").err.splitlines() == [
        "in.xml: warning: $1: line 1: <note> is dropped (and 4 more like this)",
        "in.xml: warning: $1: oneline cannot hold the title, solution; dropped (and 4 more like this)",
        "5 puzzles written to out.oneline (oneline)",
    ]


def test_unconvertible_puzzles_are_skipped_and_an_empty_result_writes_no_file(output_of):
    Path("in.oneline").write_text("1-1\n1:1\n" + ":".join(["1"] * 27) + "-27\n2-1:1\n")
    assert output_of(run, "in.oneline", "out.letters", status=1).err.splitlines() == [
        "in.oneline: $2: line 2: no '-'; expected the rows' clues, '-', the columns' clues",
        "in.oneline: $3: cannot be written as letters: a block of 27 cells; letters allows at most 26",
        "2 puzzles written to out.letters (letters); 2 could not be converted",
    ]
    assert Path("out.letters").read_text() == "A\nA\n\nB\nA A\n"
    Path("in.nin").write_text("2 2\n1\n")
    Path("out.xml").write_text("as it was")
    *_, last = output_of(run, "in.nin", "out.xml", status=1).err.splitlines()
    assert last == "nothing written; 1 could not be converted"
    assert Path("out.xml").read_text() == "as it was"


def test_the_faults_of_a_few_puzzles_are_shown_and_the_others_counted(output_of):
    assert cli.run(["generate", "25x25x9", "--seed", "1", "-o", "in.txt"]) == 0
    for status, last, command in (
        (1, "nothing written; 9 could not be converted", ["convert", "in.txt", "-", "--to", "oneline"]),
        (2, "nonojudge: in.txt: nothing that can be drawn", ["render", "in.txt", "--number", "all"]),
    ):
        err = output_of(cli.run, [*command, "--size", "8x11"], status=status).err.splitlines()
        assert len(err) == 12
        assert err[-2:] == ["in.txt: and 4 more puzzles; check --size", last]


def test_puzzles_that_are_lost_are_counted_even_if_their_numbers_repeat_and_no_others(output_of):
    lost, whole = b"$1\n1\n1\n1\n9\n", b"$2\n1\n1\n1\n1\n"
    Path("in.txt").write_bytes(lost + b"too\n" + lost + lost + whole + b"much\n")
    err = output_of(run, "--size", "2x2", "in.txt", "out.non", status=1).err.splitlines()
    assert [line.partition(" ")[2][:11] for line in err[:-1]] == [
        "$1: line 5:",
        "$1: line 6:",
        "$1: line 11",
        "$1: line 16",
        "$2: line 22",
    ]
    assert err[-1] == "1 puzzle written to out.non (non); 3 could not be converted"


def test_the_help_lists_every_format():
    parser = Parser()
    convert.add_to(parser)
    for name in (*(format.name for format in formats.formats()), "picture"):
        assert f"\n  {name:<8}  " in parser.epilog
    singles = [format.name for format in formats.formats() if not format.several]
    text = " ".join(parser.epilog.split())
    assert f"{', '.join(singles[:-1])} and {singles[-1]} files have one puzzle" in text


@pytest.mark.parametrize(
    ("arguments", "streams", "status", "err"),
    [
        ("convert - out.xml", "<&-", 2, b"nonojudge: stdin: the file is empty\n"),
        ("render -", "<&-", 2, b"nonojudge: -: the file is empty\n"),
        ("render p.non", ">&-", 0, b""),
        ("generate 5x5x1 --seed 1", ">&-", 0, b""),
        ("convert p.non no/where.xml", "2>&-", 2, b""),
    ],
)
def test_a_standard_stream_that_is_closed_is_empty(arguments, streams, status, err):
    Path("p.non").write_bytes((PUZZLES / "p.non").read_bytes())
    command = f'"$0" -m nonobot.harness {arguments} {streams}'
    run = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True)
    assert (run.returncode, run.stdout, run.stderr) == (status, b"", err)


def test_a_long_conversion_shows_its_progress(monkeypatch, output_of):
    monkeypatch.setattr("nonobot.harness.progress.SECONDS_BETWEEN_LINES", 0.0)
    said = output_of(run, str(PUZZLES / "several.oneline"), "out.letters").err.splitlines()
    assert [line.split(",")[0] for line in said[:-1]] == ["1 puzzle read", "2 puzzles read", "3 puzzles read"]
