"""The Common Weakness Enumeration, which the numbers of rules are of."""

from __future__ import annotations

import re
from collections.abc import Iterable

REFERENCE = re.compile(r"^- (CWE-(\d+): (.+))$", re.MULTILINE)
"""A weakness among the references of a rule's page: the text, its number and its name."""


def weakness_uri(number: int) -> str:
    """Return the address of the page of a weakness."""
    return f"https://cwe.mitre.org/data/definitions/{number}.html"


def weakness_names(pages: Iterable[str]) -> dict[int, str]:
    """Return the names of weaknesses that pages of rules refer to, by number."""
    found = (match for page in pages for match in REFERENCE.finditer(page))
    return {int(match[2]): match[3] for match in found}
