"""A faithful translation of C to Rust that needs no model.

What C does is kept to the letter: layout, integer conversions, wrapping, pointers. The result is
unsafe Rust that behaves like the C; what makes it idiomatic comes after, under test.
"""
