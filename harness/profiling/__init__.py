"""Profiles of bots: their time by stage and phase of the search, by puzzle, and outside of both."""
