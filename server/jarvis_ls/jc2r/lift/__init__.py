"""Passes that need no model and make the baseline better Rust."""
