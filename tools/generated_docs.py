"""The generated parts of the documents: `python -m tools.generated_docs [--write]`.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`. Without `--write`, the command only compares;
its exit status is 1 if a page differs.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path

from nonobot.harness.bench import claims
from nonobot.harness.check.self_test import STEPS
from nonobot.harness.results.run_result import EndReason
from nonobot.protocol import formats
from tests.helpers.places import REPOSITORY

PAGES = sorted((REPOSITORY / "docs").glob("*.md"))
PACKAGES = ("nonobot", "protocol", "bot", "tournament_data", "harness", "tools", ".ci")
PART = re.compile(r"(?<=^<!-- generated: )(.*?)( -->\n).*?(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"(?:#!.*\n)?((?:(?://|#) .+\n)+)")  # of scripts, TOML files and JavaScript


def sources(package: str) -> list[Path]:
    """Return the modules, scripts and TOML files of a top-level folder, without those that it links to."""
    paths = sorted((REPOSITORY / package).rglob("*"))
    own = [path for path in paths if path.is_file() and not any(above.is_symlink() for above in path.parents)]
    return [path for path in own if path.suffix in (".py", ".js", ".toml") or package == ".ci"]


def modules(package: str) -> list[Path]:
    """Return the modules of a top-level package."""
    return [path for path in sources(package) if path.suffix == ".py"]


def summary(source: Path) -> str:
    """Return the first paragraph of a module's docstring, or of a comment its first sentence, on one line."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".py":
        paragraph = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
    else:
        comment = COMMENT.match(text)
        paragraph = re.sub(r"^(//|#) ", "", comment[1], flags=re.MULTILINE) if comment else ""
        paragraph = re.split(r"(?<=\.)\s", paragraph)[0]
    return " ".join(paragraph.split()).removesuffix(".")


def module_map() -> str:
    """Return each folder with its sources, and their summaries; that of a folder is in `__init__.py`."""
    lines = []
    for package in PACKAGES:
        paths = sources(package)
        for folder in sorted({path.parent for path in paths}):
            about = folder / "__init__.py"
            lines.append(f"{folder.relative_to(REPOSITORY)}/  {summary(about) if about in paths else ''}".rstrip())
            inside = [path for path in paths if path.parent == folder and path != about]
            lines.extend(f"  {path.name:<24} {summary(path)}" for path in inside)
    return "\n".join(["```text", *lines, "```"])


def table(*rows: tuple[str, ...]) -> str:
    """Return a table in Markdown; the first row is its head."""
    head, *body = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join([head, "|---" * len(rows[0]) + "|", *body])


def checks() -> str:
    rows = [(str(number), step.level, step.title, step.why, step.section) for number, step in enumerate(STEPS, 1)]
    return table(("step", "level", "what the bot does", "why it matters", "rule"), *rows)


def ends() -> str:
    return table(("end", "meaning"), *((f"`{reason}`", reason.meaning) for reason in EndReason))


def file_formats() -> str:
    """Return the formats of puzzle files, with links to their sections."""
    rows = []
    for format in formats.formats():
        keeps = ", ".join(sorted(format.holds)) or "clues only"
        extensions = ", ".join(f"`{extension}`" for extension in format.extensions)
        rows.append((f"[`{format.name}`](#{format.name})", extensions, "many" if format.several else "one", keeps))
    return table(("name", "file extensions", "puzzles", "also stores"), *rows)


def claim_table() -> str:
    rows = [(f"`{claim.id}`", claim.sentence, f"`{claim.command}`") for claim in claims.read_claims()]
    return table(("id", "claim", "command"), *rows)


def opened_files() -> str:
    """Return the files of others that the judge reads, as `tests/harness/test_judges_side.py` observes it."""
    from tests.helpers.judges_side import DATA

    commands: dict[tuple[str, ...], list[str]] = {}
    for row in DATA:
        if row.use != "write":
            commands.setdefault((row.name, row.writer, row.purpose), []).extend(row.commands.split())
    rows = [(*about, ", ".join(f"`{name}`" for name in dict.fromkeys(names))) for about, names in commands.items()]
    return table(("the judge reads", "who else can write it", "what it takes from it", "in"), *rows)


PARTS: dict[str, Callable[[], str]] = {
    "modules": module_map,
    "checks": checks,
    "ends": ends,
    "formats": file_formats,
    "claims": claim_table,
    "opened-files": opened_files,
}


def generated(page: str) -> str:
    """Return the text of a page with its generated parts as they should be."""
    return PART.sub(lambda part: f"{part[1]}{part[2]}\n{PARTS[part[1]]()}\n\n", page)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the generated parts into the pages")
    write = parser.parse_args().write
    status = 0
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        current = generated(page)
        if current != page and write:
            path.write_text(current, encoding="utf-8")
        elif current != page:
            name = path.relative_to(REPOSITORY)
            print(f"{name}: outdated; run `python -m tools.generated_docs --write`", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
