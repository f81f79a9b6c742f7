"""Transfer functions: what expressions, conversions, loads and stores do to a state."""
