"""Lower C and C++."""
