"""Results against each other: the official ranking of several, and two of them puzzle by puzzle.

`sources` reads what the commands are given, `standings` ranks it, `table_text` writes the ranking; `compared_runs`
makes runs into the sides that `comparison` holds against each other, and `comparison_text` says what came of it.
`comparability` lists the conditions that must be equal for times to compare.
"""
