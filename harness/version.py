"""Which version of the judge this is."""

from __future__ import annotations

from importlib import metadata

__all__ = ["judge_version"]


def judge_version() -> str:
    """Return the installed version; `unknown` in a tree that was never installed."""
    try:
        return metadata.version("nonobot")
    except metadata.PackageNotFoundError:
        return "unknown"
