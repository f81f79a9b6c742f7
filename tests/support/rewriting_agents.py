"""What a scripted model says to the agents that write tests, read rewrites and polish files."""

from __future__ import annotations

import json
import re

TESTS = r"## The C under test: \S+, (\w+)"
REVIEW = r"## The C reviewed: \S+, (\w+)"


def agree(text: str) -> str | None:
    """The answer of an agent with nothing to say or to change; None for other questions."""
    if re.search(TESTS, text):
        return json.dumps({"code": ""})
    if re.search(REVIEW, text):
        return json.dumps({"agrees": True})
    if "Write the documentation that a file of a crate lacks" in text:
        return json.dumps({"functions": []})
    if "Fix one warning of clippy" in text or "Lessen what is `unsafe`" in text:
        return json.dumps({"status": "nothing"})
    return None
