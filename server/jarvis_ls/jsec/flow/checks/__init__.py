"""What becomes a `Fault`."""
