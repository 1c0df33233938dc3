"""Other solvers to measure against: those of the literature, and engines that one would pick instead."""
