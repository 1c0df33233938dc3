"""The files for a forge and for the site: they parse, and name what exists."""

from __future__ import annotations

import re

import pytest

import nonobot
from tests.generated_docs import REPOSITORY

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


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {nonobot.__version__}\n" in (REPOSITORY / "CITATION.cff").read_text()


def test_the_site_has_all_pages():
    listed = re.findall(r"[\w/-]+\.md", (REPOSITORY / "mkdocs.yml").read_text())
    docs = REPOSITORY / "docs"
    assert sorted(listed) == sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))
