"""The benchmarks: a module for each, so that an older revision that lacks one's needs skips just that one."""
