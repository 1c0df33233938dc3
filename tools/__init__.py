"""Programs for maintainers: release, trials, attacks, and generated parts of the documents."""
