"""A tournament: several bots on several sets, as a TOML file says."""
