"""Benchmarks of the bot's parts with pyperf, alone or against another revision; `_jobs` modules do their work."""
