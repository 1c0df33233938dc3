"""Profiles of bots: their time by stage and step of the search, by puzzle, and outside of both."""
