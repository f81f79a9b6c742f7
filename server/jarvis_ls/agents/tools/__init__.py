"""Tools that need the tree of agents."""
