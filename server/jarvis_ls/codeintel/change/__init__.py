"""What a change to source code does to the code around it."""
