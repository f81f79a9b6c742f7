"""Abstract interpretation of C, C++ and Rust: values, sizes, nullness, ownership and taint,
followed through functions in the context of their callers.

`README.md` beside this file draws the rooms. Reading order: `ir` (what is interpreted), `lower`
(how it comes from trees), `domain` (what is known at a point), `semantics` (expressions and
memory), `checks` (what becomes a `Fault`), `models` with the tables of `library` (what library
functions do), `interp` (blocks, branches and calls), `program` (the whole program).
"""
