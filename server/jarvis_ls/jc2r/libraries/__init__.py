"""Which functions of a project a library can do instead, and the crates that are there."""
