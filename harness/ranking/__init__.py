"""Results against each other: the official ranking of several, and two of them puzzle by puzzle.

`sources` reads what the commands are given, `standings` ranks it, `layout` writes the ranking; `comparison` holds
two sides against each other with the help of `statistics`, and `words` says what came of it.
"""
