"""Results compared: the official ranking of several bots, and two versions of a bot puzzle by puzzle."""
