"""Small C and C++ programs, each with one flaw and its repaired twins, and the truth about them.

A family module says what a flaw consists of (`shape`), `inputs` where its values come from,
`controls` and `flows` how they travel, `tree` writes a folder of them with a truth table.
Everything is decided by a seed: the same seed gives the same bytes.
"""
