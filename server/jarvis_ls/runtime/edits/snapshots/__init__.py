"""What folders hold, kept by contents: the ground checkpoints stand on."""
