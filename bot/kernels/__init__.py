"""The language, memory, compiler and cache of the kernels of both strategies."""
