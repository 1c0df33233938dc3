"""Results of runs: their content, their files and their text."""
