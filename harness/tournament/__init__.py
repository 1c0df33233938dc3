"""A tournament: several bots on several sets, defined by a TOML file."""
