"""Benchmarks of the bot's parts with pyperf, alone or against another revision.

`catalogue` lists the benchmarks, the modules with `_jobs` do their work, `suite` is the pyperf script for them,
`measure` starts it, and `against` compares two source trees.
"""
