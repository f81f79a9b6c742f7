"""One agent: its turns, its rounds with a model, what can be done to it while it works."""
