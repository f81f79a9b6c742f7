"""The staged path from C to Rust: assess, harden, replace, transpile, optimize."""
