"""Read `configure.ac` and what autoconf and automake make of it."""
