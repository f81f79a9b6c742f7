"""Changes of the user's files: proposed, reviewed, written whole, and undone."""
