"""One module for each command: `add_to` describes its arguments, `carry_out` does its work, returns its status."""
