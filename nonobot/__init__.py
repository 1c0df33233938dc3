"""A nonogram bot for tournaments, and the judge, data and measuring tools around it."""

__version__ = "0.1.0"
