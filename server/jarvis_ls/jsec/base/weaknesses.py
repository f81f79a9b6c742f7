"""The Common Weakness Enumeration, which the numbers of rules are of."""

from __future__ import annotations


def weakness_uri(number: int) -> str:
    """Return the address of the page of a weakness."""
    return f"https://cwe.mitre.org/data/definitions/{number}.html"
