"""Which opponents there are."""

from __future__ import annotations

import ast
from pathlib import Path

__all__ = ["OPPONENTS", "summary"]

OPPONENTS = (
    "block_backtracking",
    "csp_bt",
    "csp_fc",
    "csp_gac",
    "line_logic",
    "papers_fp1",
    "papers_fp2",
    "papers_fp3",
    "sat",
    "cp_sat",
)
"""Names of the modules of this folder that are opponents, weakest first."""


def summary(name: str) -> str:
    """Return the first line of an opponent's docstring; the module is read, not imported."""
    source = (Path(__file__).with_name(f"{name}.py")).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
