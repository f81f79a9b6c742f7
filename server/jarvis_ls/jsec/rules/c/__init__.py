"""Rules for C and C++."""
