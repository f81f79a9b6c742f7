"""`jsec rules` and `jsec explain`."""

from __future__ import annotations

import argparse
import difflib
import json
import shutil
from collections.abc import Collection

from jarvis_ls.core.errors import UsageError
from jarvis_ls.jsec.hints import PAGES
from jarvis_ls.jsec.page_text import LANGUAGES, in_language
from jarvis_ls.jsec.pages import rule_pages
from jarvis_ls.jsec.rule import Rule, all_rules

__all__ = ["LANGUAGES", "known_rules", "no_such_rule", "run_explain", "run_rules"]


def known_rules() -> set[str]:
    """Ids of all rules, the hints about a scan among them."""
    return {*all_rules(), *PAGES}


def no_such_rule(name: str, known: Collection[str]) -> UsageError:
    """What to tell who names a rule that is not among those known."""
    near = difflib.get_close_matches(name, known, 3)
    if near:
        return UsageError(f"there is no rule '{name}'; is one of these meant: {', '.join(near)}?")
    return UsageError(f"there is no rule '{name}'; `jsec rules` lists them")


def run_rules(options: argparse.Namespace) -> int:
    """List the rules."""
    rules = list(all_rules().values())
    if options.format == "json":
        print(json.dumps([_to_json(one) for one in rules], indent=2))
        return 0
    width = max(len(one.id) for one in rules)
    room = shutil.get_terminal_size((80, 24)).columns - width - 24
    for one in rules:
        cwe = f"CWE-{one.cwe[0]}" if one.cwe else ""
        title = one.title if len(one.title) <= room or room < 20 else one.title[: room - 1] + "…"
        fix = "fix" if one.fixable else ""
        print(f"{one.id:<{width}}  {one.severity:<6}  {cwe:<8}  {fix:<3}  {title}".rstrip())
    print(f"\n{len(rules)} rules; `jsec explain RULE` shows the page of one")
    return 0


def run_explain(options: argparse.Namespace) -> int:
    """Show the page of a rule."""
    name = options.rule
    known = {page.id: in_language(page, options.lang) for page in rule_pages() if page.id == name}
    rule = all_rules().get(name)
    if not known:
        raise no_such_rule(name, known_rules())
    page = known[name].page.rstrip()
    if rule is None:
        print(f"# {name}\n\n{page}")
        return 0
    cwe = ", ".join(f"CWE-{number}" for number in rule.cwe)
    facts = (f"{rule.category} · {cwe} · at most {rule.severity} · "
             f"languages: {', '.join(sorted(rule.dialects))}"
             f"{' · offers a fix' if rule.fixable else ''}")  # fmt: skip
    print(f"# {rule.id}\n\n{facts}\n\n{page}")
    return 0


def _to_json(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "title": rule.title,
        "languages": sorted(rule.dialects),
        "category": rule.category,
        "cwe": list(rule.cwe),
        "severity": rule.severity,
        "confidence": rule.confidence,
        "fixable": rule.fixable,
    }
