"""Benchmarks of the bot's parts with pyperf, alone or against another revision.

`catalogue` says which benchmarks there are, `suite` is the pyperf script that runs them, `measure` starts it,
`alone` measures the present tree, and `against` has the bots of two source trees run by turns.
"""
