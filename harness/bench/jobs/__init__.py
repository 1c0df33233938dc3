"""The jobs of the benchmarks; their modules load kernels."""
