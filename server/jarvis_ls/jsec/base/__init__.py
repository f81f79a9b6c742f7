"""What every rule is made of: its declaration, the place it is matched at, its category."""
