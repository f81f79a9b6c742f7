"""How a C project is compiled: read from its build files, which are never run."""
