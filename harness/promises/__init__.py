"""The figures that this project promises, each with the command that shows it."""
