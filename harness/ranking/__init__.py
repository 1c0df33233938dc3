"""Results ranked: the official ranking of several bots, and the cross table of a match."""
