"""Read makefiles."""
