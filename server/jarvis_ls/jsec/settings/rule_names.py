"""Names of rules as people write them: on command lines, in settings, to tools."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from jarvis_ls.core.words import Words


def known_rules() -> frozenset[str]:
    """Return the ids of all rules, the hints about a scan among them."""
    from jarvis_ls.jsec.findings.scan_findings import PAGES  # few settings name rules
    from jarvis_ls.jsec.rules.registry import rule_ids

    return rule_ids().union(PAGES)


def unknown_rule(name: str, known: Collection[str]) -> Words:
    """Return the message about a name that no rule has, with those of `known` that it resembles."""
    near = ", ".join(difflib.get_close_matches(name, known, 3))
    if near:
        return Words("unknown rule '{name}'; did you mean {near}?", name=name, near=near)
    return Words("unknown rule '{name}'; `jsec rules` lists them", name=name)
