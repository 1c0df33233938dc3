"""Work on many cores or machines: dask.distributed finds the workers and brings them what is to be done."""
