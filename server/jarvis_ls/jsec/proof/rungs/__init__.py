"""The rungs of the ladder, one a file."""
