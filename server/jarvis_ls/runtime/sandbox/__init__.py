"""Running scripts so that they cannot harm: a ladder of sandboxes, each proving its claims."""
