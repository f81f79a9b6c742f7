"""What rules for Rust share."""
