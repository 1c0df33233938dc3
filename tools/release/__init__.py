"""Build the artefacts of a release from a clone: kernels, wheels, and the executable to hand in."""
