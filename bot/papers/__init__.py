"""The strategy of the papers: propagation, fully probing, Min-logd branching, backtracking."""

from nonobot.bot.papers.strategy import PROBINGS, PapersStrategy, deduce

__all__ = ["PROBINGS", "PapersStrategy", "deduce"]
