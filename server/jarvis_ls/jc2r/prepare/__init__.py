"""How the crate is to look from outside: an interface for each function, planned by types."""
