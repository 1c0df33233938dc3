"""The kernels' language, memory, compiler and cache: what both strategies are written with and run on."""
