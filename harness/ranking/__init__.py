"""Results compared: the official ranking of several bots, and two versions of a bot puzzle by puzzle.

`standings` ranks results, and `table_text` shows the ranking. `compared_runs` reads the runs of two versions,
`comparison` compares them, and `comparison_text` shows the comparison. `comparability` lists the conditions that
must be equal to compare times.
"""
