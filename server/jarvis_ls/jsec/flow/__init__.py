"""Abstract interpretation of C, C++ and Rust: values, sizes, nullness, ownership and taint,
followed through functions in the context of their callers.

Reading order: `ir` (what is interpreted), `lower` and the `lower_*` files (how it comes from
trees), `values`, `regions` and `state` (what is known at a point), `interpret` (blocks and
branches), `evaluate` and `conversions` (expressions), `calls` with `library/` (what functions do),
`checks/` (what becomes a `Fault`).
"""
