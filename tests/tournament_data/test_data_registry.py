"""The registry of official sets."""

import re

from nonobot.protocol import read_batch
from nonobot.tournament_data.generate import black_cells
from nonobot.tournament_data.registry import official_sets, recognise


def test_the_registry_lists_30_official_sets_with_consistent_file_sizes():
    sets = official_sets()
    assert len(sets) == 30
    assert list(sets) == sorted(sets, key=lambda name: (name[4:], name))
    assert {official.year for official in sets.values()} == set(range(2011, 2024))
    for name, official in sets.items():
        assert official.name == name == f"{official.event.casefold()}{official.year}"
        assert re.fullmatch("[0-9a-f]{64}", official.sha256)
        assert (official.puzzles, official.side, official.p1) == (1000, 25, 0.5)
        assert re.fullmatch(
            "https://raw.githubusercontent.com/zxkyjimmy/NonogramRecord/"
            f"([0-9a-f]{{40}}|HEAD)/question/{name}.txt",
            official.url,
        )
        ends = official.bytes and ("lf" if official.bytes < 660_000 else "crlf")
        assert official.line_ends == ends
    assert len({official.sha256 for official in sets.values()}) == 30
    assert [name for name, official in sets.items() if official.p2 != 0.35] == ["tcga2013"]


def test_registry_facts_match_the_files_of_the_official_sets(official_sets):
    found = [(recognise(path), path.read_bytes()) for path in official_sets]
    known = [(recognised, content) for recognised, content in found if recognised]
    for recognised, content in known:
        official = recognised.official
        assert not recognised.restored
        assert len(content) == official.bytes
        ends = content.count(b"\r\n"), content.count(b"\n")
        assert ends == ((0, 51_000) if official.line_ends == "lf" else (51_000, 51_000))
        entries = list(read_batch(content.splitlines(keepends=True), (official.side, official.side)))
        assert len(entries) == official.puzzles
        for index, entry in enumerate(entries):
            black = black_cells(index, official.puzzles, official.p1, official.p2, official.side, official.side)
            assert sum(map(sum, entry.puzzle.rows)) == black
    assert known, "NONOBOT_SETS holds none of the official sets"
