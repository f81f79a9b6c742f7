"""Sessions: what was said and seen, kept so that no kill loses any of it."""
