"""What rules for C and C++ share: sizes, values, and one variable followed through a function."""
