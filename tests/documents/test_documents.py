"""The documents: generated parts, links, fences, lengths, words, quoted messages; files for a forge."""

import ast
import contextlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from statistics import mean

import pytest

import nonobot
from nonobot.bot.cli import parse
from nonobot.harness import cli
from nonobot.harness.cli import COMMANDS
from nonobot.harness.tournament.definition import read_tournament
from tests.harness.commands.test_messages import FILE
from tools.generated_docs import PACKAGES, REPOSITORY, modules
from tools.prose import PAGES, docstrings, inline, phrases, sentences, tokens

OURS = "nin,nd"
"""Words that codespell takes for misspelt ones."""


def test_generated_parts_are_current():
    command = [sys.executable, "-m", "tools.generated_docs"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_sentences_are_short_and_examples_in_fences():
    for page in PAGES:
        name = page.relative_to(REPOSITORY).as_posix()
        assert mean(len(sentence.split()) for sentence in sentences(page)) <= 22, name
        for token in tokens(page):
            if token.type == "inline":
                assert ">>>" not in token.content, f"{page.name}:{token.map[0] + 1}"


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    before = ""
    for token in tokens(page):
        if before == "heading_open":
            plain = "".join(child.content for child in token.children if child.type in ("text", "code_inline"))
            anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            found.add(next(name for n in range(99) if (name := f"{anchor}-{n}" if n else anchor) not in found))
        before = token.type
    return found


def test_links_lead_somewhere():
    for page in PAGES:
        for child in (child for token in tokens(page) for child in token.children or ()):
            target = child.attrs.get("href") or child.attrs.get("src")
            if target and not re.match(r"https?:|mailto:", target):
                path, _, anchor = target.partition("#")
                file = (page.parent / path).resolve() if path else page
                assert file.exists(), (page.name, target)
                assert not anchor or anchor in anchors(file), (page.name, target)


# Words. A phrase in a fence or between backticks may be output or code, so only prose is searched.


def test_pages_use_the_words_of_the_glossary():
    inlines = [(page, token) for page in PAGES for token in tokens(page) if token.type == "inline"]
    prose = [(f"{page.name}:{token.map[0] + 1}", inline(token)) for page, token in inlines]
    assert [(place, *found) for place, text in prose for found in phrases(text)] == []


def test_docstrings_and_messages_use_the_words_of_the_glossary():
    assert [(place, *found) for place, text in docstrings() for found in phrases(text)] == []
    assert [*phrases(FILE.read_text(encoding="utf-8"))] == []


def test_help_uses_the_words_of_the_glossary(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with contextlib.suppress(SystemExit):
        parse(["--help"])
    texts = {"nonobot": capsys.readouterr().out}
    for command in ("", *COMMANDS):
        cli.run([*filter(None, [command]), "--help"])
        texts[f"nonojudge {command}"] = capsys.readouterr().out
    assert all(texts.values())
    assert [(command, *found) for command, text in texts.items() for found in phrases(text)] == []


@pytest.mark.slow  # with the developers' tools, which README's tests do without
def test_no_word_is_misspelt():
    pytest.importorskip("codespell_lib", reason="the extra `dev` is not installed")
    folders = [REPOSITORY / name for name in (*PACKAGES, "docs", "tests", "tools")]
    every = [*REPOSITORY.iterdir(), *(path for folder in folders for path in folder.rglob("*"))]
    ours = [path for path in every if path.suffix in (".md", ".py", ".js", ".html", ".toml")]
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", OURS, *ours]
    assert subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True).stdout == ""


# docs/troubleshooting.md: each quoted message is in the program


PAGE = (REPOSITORY / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"^\| `(.+?)` \|", PAGE, re.MULTILINE)


def texts() -> str:
    """Return all strings of the program that are no docstrings; a value in a message is an X."""
    found = []
    for path in (path for package in PACKAGES for path in modules(package)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
                found.append("".join(parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(found)


def test_each_message_is_in_the_program_and_there_are_at_least_twenty():
    assert len(set(QUOTED)) == len(QUOTED) >= 20
    program = texts()
    assert [text for text in QUOTED if not re.search(re.escape(text).replace("champion", "X"), program)] == []


# docs/organise.md: its tournament files


def test_the_bots_of_an_organisers_examples_get_the_size_of_the_boards(tmp_path):
    page, path = REPOSITORY / "docs" / "organise.md", tmp_path / "example.toml"
    examples = [token.content for token in tokens(page) if token.type == "fence" and token.info == "toml"]
    assert len(examples) == 2
    for example in examples:
        path.write_text(example)
        for bot in read_tournament(path).bots:
            assert "{size}" in bot.command or "{width} {height}" in bot.command


# The files for a forge and for the site: they parse, and name what exists


WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("place", [".github/dependabot.yml", ".github/ISSUE_TEMPLATE/bot.yml", "CITATION.cff"])
def test_a_file_is_yaml(place):
    assert pytest.importorskip("yaml").safe_load((REPOSITORY / place).read_text())


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_what_exists(workflow):
    text = workflow.read_text()
    jobs = pytest.importorskip("yaml").safe_load(text)["jobs"]
    assert all(job["steps"] for job in jobs.values())
    assert all((REPOSITORY / script).is_file() for script in re.findall(r"\.ci/[a-z0-9-]+", text))
    assert all((REPOSITORY / "tests" / f"{name}.py").is_file() for name in re.findall(r"-m tests\.(\w+)", text))


def test_the_citation_has_the_version_and_the_site_all_pages():
    assert f"\nversion: {nonobot.__version__}\n" in (REPOSITORY / "CITATION.cff").read_text()
    listed = re.findall(r"[\w/-]+\.md", (REPOSITORY / "mkdocs.yml").read_text())
    docs = REPOSITORY / "docs"
    assert sorted(listed) == sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))
