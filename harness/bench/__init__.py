"""Benchmarks of the bot's parts with pyperf, alone or against another revision.

`catalogue` says which benchmarks there are, `jobs` has the work of each, `suite` is the pyperf script for them,
`measure` starts it, and `against` has the bots of two source trees run by turns.
"""
