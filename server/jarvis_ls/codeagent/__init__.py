"""Agents that change code: a copy to work in, what is checked after an edit, the way back."""
