"""The words of the project: its pages, help texts, messages and docstrings, and phrases that do not belong there.

`python -m tools.prose` prints the lines, the words and the mean sentence of each page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tools.generated_docs import PACKAGES, REPOSITORY, modules

PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]

BETTER = {
    r"\b(?<!there )(?<!There )(?:are|is) (?:no|none)\b(?! longer| more)": "is not a ..., `cannot find ...`",
    r"\bhere is none\b": "`cannot find ...`",
    r"(?:^|[.;:] )Who(?:ever)? (?!\w+s\b.*\?)": "anyone who ...",
    r"\banew\b": "again",
    r"\bborne\b": "accepted",
    r"\bto be had\b": "available",
    r"\bby turns\b": "alternating",
    r"\bso (?:many|much) (?:cores|seconds|puzzles|rounds|workers|cells|boards)\b": "N ..., about ...",
    r"\bgo(?:es)? on with\b": "resume",
    r"\bcomes? home\b": "is copied back",
    r"\bslow-down": "slowdown",
    r"\bwithin walls\b": "in a sandbox",
    r"\bwalls\b": "sandbox",
    r"\bcontained (?:bot|run)s?\b": "sandboxed",
    r"\bcounted by the kernel\b": "measured by cgroup",
    r"\bpainted lines?\b": "line solve",
    r"\bperceptible|\bfallible\b": "a plain word",
    r"\brulings?\b": "verdict",
    r"\bagain for more\b": "repeatable",
    r"\band end:": "and exit",
    r"\d %": "5% without a space",
    r"\btells? (?:apart|from each other)\b": "distinguish",
    r"\btwins?\b": "reference version",
    r"\bthis project's bot\b": "nonobot",
    r"\bpromises?\b": "claim",
}
"""Regular expressions of phrases that WRITING.md replaces, and the better words."""

SENTENCE_END = re.compile(r"(?<=[.!?])[)*_\"'`]*\s+(?=[A-Z`*\"'(\[$0-9])")


def tokens(page: Path) -> Iterator[Token]:
    yield from MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def inline(token: Token) -> str:
    """Return the text of an inline token; code counts as one word."""
    texts = (
        {"text": child.content, "code_inline": "code", "softbreak": " "}.get(child.type, "")
        for child in token.children
    )
    return "".join(texts)


def sentences(page: Path) -> list[str]:
    """Return the sentences of a page's paragraphs and list items, without tables, headings and examples."""
    found, before = [], ""
    for token in tokens(page):
        if token.type == "inline" and before == "paragraph_open":
            found += [text for text in SENTENCE_END.split(inline(token).strip()) if len(text.split()) > 2]
        before = token.type
    return found


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each docstring of the packages, and of the strings that explain a name."""
    for path in (path for package in PACKAGES for path in modules(package)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield f"{path.relative_to(REPOSITORY)}:{node.lineno}", text


def phrases(text: str) -> Iterator[tuple[str, str]]:
    """Yield what is found in a text of the phrases to replace, with the better words."""
    for pattern, better in BETTER.items():
        for found in re.finditer(pattern, text, re.MULTILINE):
            yield found[0], better


if __name__ == "__main__":
    for page in PAGES:
        name, lengths = page.relative_to(REPOSITORY).as_posix(), [len(text.split()) for text in sentences(page)]
        lines = len(page.read_text(encoding="utf-8").splitlines())
        print(f"{name:<28} {lines:>4} lines {sum(lengths):>6} words {mean(lengths or [0]):5.1f} a sentence")
