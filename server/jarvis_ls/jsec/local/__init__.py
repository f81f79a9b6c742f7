"""Local reasoning that rules share: around a place, within one function."""
