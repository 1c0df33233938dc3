"""Pictures of puzzles, solutions and answers, and pictures as cells: PNG needs Pillow (the extra `pictures`)."""
