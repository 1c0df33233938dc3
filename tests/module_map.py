"""The module map of docs/development.md, made from docstrings: `python -m tests.module_map [--write]`.

Without `--write` it only compares; exit status 1 if the page has another map.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
PAGE = REPOSITORY / "docs" / "development.md"
PACKAGES = ("nonobot", "protocol", "bot", "tournament_data", "harness", "release")
BEGIN, END = "<!-- module map: begin, made by `python -m tests.module_map --write` -->", "<!-- module map: end -->"


def modules(package: str) -> list[Path]:
    """Return the modules of a top-level package, without those that it links to."""
    paths = sorted((REPOSITORY / package).rglob("*.py"))
    return [path for path in paths if not any(above.is_symlink() for above in path.parents)]


def summary(module: Path) -> str:
    """Return the first paragraph of a module's docstring on one line, without its full stop."""
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.partition("\n\n")[0].split()).removesuffix(".")


def module_map() -> str:
    """Return the map: each folder with its modules, and their summaries."""
    lines = []
    for package in PACKAGES:
        paths = modules(package)
        for folder in sorted({path.parent for path in paths}):
            lines.append(f"{folder.relative_to(REPOSITORY)}/  {summary(folder / '__init__.py')}".rstrip())
            inside = [path for path in paths if path.parent == folder and path.name != "__init__.py"]
            lines.extend(f"  {path.name:<24} {summary(path)}" for path in inside)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the map into the page")
    write = parser.parse_args().write
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    current = f"{before}{BEGIN}\n\n```text\n{module_map()}\n```\n\n{END}{after}"
    if current == page:
        return 0
    if not write:
        print(f"{PAGE}: the module map is out of date; run `python -m tests.module_map --write`", file=sys.stderr)
        return 1
    PAGE.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
