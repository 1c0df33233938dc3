"""Results: what they hold, as files, in words."""
