"""Repair of failing tests inside a scope that is enforced; see README.md."""
