"""Lower syntax trees of C, C++ and Rust to the intermediate representation."""
