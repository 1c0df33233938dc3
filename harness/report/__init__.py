"""Results as one self-contained page: tables, plots and pictures that need neither network nor script."""
