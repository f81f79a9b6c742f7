"""The rules as people see them: records without code, so that they can cross processes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jarvis_ls.core.finding import Severity
from jarvis_ls.jsec.hints import PAGES
from jarvis_ls.jsec.observed import RULE


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
    from jarvis_ls.jsec.rule import all_rules  # loads every rule; the records need none

    rules = [
        RulePage(
            id=one.id,
            title=one.title,
            page=one.page,
            languages=tuple(sorted(one.dialects)),
            category=one.category,
            cwe=one.cwe,
            severity=one.severity,
            fixable=one.fixable,
        )
        for one in all_rules().values()
    ]
    every = ("c", "cpp", "rust")
    hints = [
        RulePage(
            name, page.partition("\n")[0].rstrip("."), page, every, "suppression", (), "low", False
        )
        for name, page in PAGES.items()
    ]
    return rules + [
        replace(one, languages=("c", "cpp"), category="undefined_behaviour", cwe=(758,),
                severity="medium") if one.id == RULE else one
        for one in hints
    ]  # fmt: skip
