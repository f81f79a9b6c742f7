"""Moving C to Rust: scan, order, and what follows from them."""
