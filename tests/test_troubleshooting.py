"""docs/troubleshooting.md: each quoted message is in the program."""

from __future__ import annotations

import ast
import re

import pytest

from tests.generated_docs import PACKAGES, REPOSITORY, modules

PAGE = (REPOSITORY / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"^\| `(.+?)` \|", PAGE, re.MULTILINE)


def texts() -> str:
    """Return all strings of the program that are no docstrings; a value in a message is an X."""
    found = []
    for path in (path for package in PACKAGES for path in modules(package)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                found.append(
                    "".join(part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(found)


TEXTS = texts()


def test_there_are_at_least_twenty_entries():
    assert len(set(QUOTED)) == len(QUOTED) >= 20


@pytest.mark.parametrize("message", QUOTED)
def test_the_message_is_in_the_program(message):
    assert re.search(re.escape(message).replace("champion", "X"), TEXTS), message
