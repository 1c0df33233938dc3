"""Making puzzles: boards graded, selected, made unique, and made of pictures."""
