"""Symbolic execution of C with z3, which shows that operations cannot go wrong."""
