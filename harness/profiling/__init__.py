"""Where a bot's time went: by stage and step of its search, by puzzle, and outside of both.

`profile_data` is what a profile holds and how its time divides, `collect` runs a bot and reads its statistics,
`profile_text` and `profile_picture` show it, `profile_comparison` sets it beside an earlier one.
"""
