"""What makes the artefacts of a release from a clone: the kernels, the wheel, the file to hand in."""
