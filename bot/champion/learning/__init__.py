"""Conflict learning: clauses over cells and block bounds, with the line kernel as a propagator."""
