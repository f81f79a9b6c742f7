"""What a project teaches by itself: its history, its rules, and what its user has decided."""
