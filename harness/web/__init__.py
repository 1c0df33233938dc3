"""The web server of `nonojudge page`: the puzzle page, the live view, and which requests it refuses."""
