"""Keep the findings of open documents up to date while the user types."""
