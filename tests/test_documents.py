"""The documents: generated parts, links, fences, lengths of pages and sentences; the words in all texts."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from pathlib import Path
from statistics import mean

import pytest

from nonobot.bot.cli import parse
from nonobot.harness import cli
from nonobot.harness.cli import COMMANDS
from tests.generated_docs import REPOSITORY
from tests.prose import PAGES, docstrings, inline, phrases, sentences, tokens
from tests.test_messages import GOLDEN

MOST_LINES = {"README.md": 140, "docs/engine.md": 140, "docs/judge.md": 160}
OURS = "nin"
"""Words that codespell takes for misspelt ones."""

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())


def test_generated_parts_are_current():
    command = [sys.executable, "-m", "tests.generated_docs"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@each_page
def test_a_page_has_a_length_to_be_read_at_once(page):
    name = page.relative_to(REPOSITORY).as_posix()
    if not name.startswith("docs/lab/"):
        assert len(page.read_text(encoding="utf-8").splitlines()) <= MOST_LINES.get(name, 420)
    assert mean(len(one.split()) for one in sentences(page)) <= 22


@each_page
def test_examples_are_in_fences(page):
    for token in tokens(page):
        if token.type == "inline":
            assert ">>>" not in token.content, f"{page.name}:{token.map[0] + 1}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    before = ""
    for token in tokens(page):
        if before == "heading_open":
            plain = "".join(child.content for child in token.children if child.type in ("text", "code_inline"))
            anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            found.add(next(one for n in range(99) if (one := f"{anchor}-{n}" if n else anchor) not in found))
        before = token.type
    return found


@each_page
def test_links_lead_somewhere(page):
    for token in tokens(page):
        for child in token.children or ():
            target = child.attrs.get("href") or child.attrs.get("src")
            if target and not re.match(r"https?:|mailto:", target):
                path, _, anchor = target.partition("#")
                file = (page.parent / path).resolve() if path else page
                assert file.exists(), target
                assert not anchor or anchor in anchors(file), target


# Words. A phrase in a fence or between backticks may be output or code, so only prose is searched.


@each_page
def test_pages_use_the_words_of_the_glossary(page):
    prose = [(token.map[0] + 1, inline(token)) for token in tokens(page) if token.type == "inline"]
    assert [(line, *found) for line, text in prose for found in phrases(text)] == []


def test_docstrings_use_the_words_of_the_glossary():
    assert [(place, *found) for place, text in docstrings() for found in phrases(text)] == []


@pytest.mark.parametrize("command", ["nonobot", "nonojudge", *(f"nonojudge {name}" for name in COMMANDS)])
def test_help_uses_the_words_of_the_glossary(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    program, *words = command.split()
    with contextlib.suppress(SystemExit):
        (cli.run if program == "nonojudge" else parse)([*words, "--help"])
    text = capsys.readouterr().out
    assert text
    assert [*phrases(text)] == []


def test_messages_use_the_words_of_the_glossary():
    assert [*phrases(GOLDEN.read_text(encoding="utf-8"))] == []


def test_no_word_is_misspelt():
    pytest.importorskip("codespell_lib", reason="the extra `dev` is not installed")
    patterns = ("*.md", "*.py", "*.js", "*.html", "*.toml")
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", OURS, *listed.stdout.split()]
    assert subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True).stdout == ""
