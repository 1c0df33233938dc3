"""Two versions of a bot compared: the statistic, runs puzzle by puzzle, and the outcome in words."""
