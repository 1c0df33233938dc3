"""Reference solvers to measure against: published algorithms, and general solvers."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads that are useless here
