"""Read a change like a strict reviewer: what needs no model."""
