"""Where a bot's time went: by stage and step of its search, by puzzle, and outside of both.

`model` is what a profile holds, `collect` runs a bot and reads its statistics, `spans` divides the time, `words`
and `picture` show it, `comparison` sets it beside an earlier one.
"""
