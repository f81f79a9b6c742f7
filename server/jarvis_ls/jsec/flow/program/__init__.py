"""A whole program over its files: name lookup, storage of lowered functions, the runner."""
