"""Distribute work over many cores or machines with dask.distributed."""
