"""Other solvers to measure against: those of the literature, and engines that one would pick instead."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads that have nothing to do here
