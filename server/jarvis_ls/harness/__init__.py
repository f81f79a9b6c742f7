"""Calling C functions and programs with generated inputs, under sanitizers and by coverage."""
