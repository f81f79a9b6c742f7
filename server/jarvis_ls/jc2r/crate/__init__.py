"""The crate of a project and what a migration keeps beside it: settings, state, history."""
