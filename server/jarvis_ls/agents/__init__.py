"""Agents in a tree: nodes with constraints, a bus between parent and child, budgets."""
