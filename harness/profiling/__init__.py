"""Profiles of bots: their time by stage and step of the search, by puzzle, and outside of both.

`collect` runs a bot and reads its statistics, `profile_data` divides the time of a profile, `profile_text` shows
it and compares it with an earlier one, `profile_picture` draws it.
"""
