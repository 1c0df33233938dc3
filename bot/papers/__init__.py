"""The strategy `papers`: propagation, full probing, Min-logd branching, backtracking."""

from nonobot.bot.papers.strategy import PROBINGS, PapersStrategy, deduce

__all__ = ["PROBINGS", "PapersStrategy", "deduce"]
