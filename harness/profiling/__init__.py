"""Profiles of bots: their time by stage and step of the search, by puzzle, and outside of both.

`profile_data` makes a profile and divides its time, `profile_text` shows it and compares it with an earlier one,
`profile_picture` draws it.
"""
