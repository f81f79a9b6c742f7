"""Lower Rust."""
