"""Functions of the crate written in safe Rust by a model, and the rules and gates they pass."""
