"""Migrations to Rust of the workspace's folders."""
