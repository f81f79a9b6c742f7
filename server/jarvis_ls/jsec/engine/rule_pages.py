"""The rules as people see them: records without code, so that they can cross processes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jarvis_ls.core.finding import Severity
from jarvis_ls.jsec.findings.sanitizer_findings import RULE
from jarvis_ls.jsec.findings.scan_findings import PAGES


@dataclass(frozen=True, slots=True)
class RulePage:
    """One rule and its page."""

    id: str
    """Name with dashes."""
    title: str
    """First line of the page."""
    page: str
    """Markdown; the first line is the title."""
    languages: tuple[str, ...]
    """Grammars it runs on."""
    category: str
    """Its family."""
    cwe: tuple[int, ...]
    """Weakness numbers, the most exact first."""
    severity: Severity
    """The worst it can be."""
    fixable: bool
    """Whether it can offer a rewrite."""


def rule_pages() -> list[RulePage]:
    """Every rule, then what is reported about the scan itself, and what runs have shown."""
    from jarvis_ls.jsec.rules.registry import all_rules  # loads every rule; the records need none

    rules = [
        RulePage(
            id=all_rule.id,
            title=all_rule.title,
            page=all_rule.page,
            languages=tuple(sorted(all_rule.dialects)),
            category=all_rule.category,
            cwe=all_rule.cwe,
            severity=all_rule.severity,
            fixable=all_rule.fixable,
        )
        for all_rule in all_rules().values()
    ]
    every = ("c", "cpp", "rust")
    hints = [
        RulePage(
            name, page.partition("\n")[0].rstrip("."), page, every, "suppression", (), "low", False
        )
        for name, page in PAGES.items()
    ]
    return rules + [
        replace(
            hint,
            languages=("c", "cpp"),
            category="undefined_behaviour",
            cwe=(758,),
            severity="medium",
        )
        if hint.id == RULE
        else hint
        for hint in hints
    ]
