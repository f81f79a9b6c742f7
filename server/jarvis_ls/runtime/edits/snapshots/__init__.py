"""What folders hold, kept by contents: the ground checkpoints are on."""
