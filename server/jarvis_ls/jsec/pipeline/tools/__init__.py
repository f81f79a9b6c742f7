"""Tools that only the agents of the pipeline have, one a file."""
