"""`jsec rules` and `jsec explain`."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Sequence

from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import language
from jarvis_ls.cli.report_language import reporter
from jarvis_ls.core.columns import columns, cut
from jarvis_ls.core.errors import UsageError
from jarvis_ls.jsec.base.categories import CATEGORIES, category_name
from jarvis_ls.jsec.base.rule import Rule
from jarvis_ls.jsec.base.weaknesses import weakness_names, weakness_uri
from jarvis_ls.jsec.engine.page_text import LANGUAGE_NAMES, facts, in_language
from jarvis_ls.jsec.engine.rule_pages import rule_pages
from jarvis_ls.jsec.report.spoken import count_phrase, speaker
from jarvis_ls.jsec.rules.registry import all_rules
from jarvis_ls.jsec.settings.rule_names import known_rules, unknown_rule

_WEAKNESS = re.compile(r"(?:cwe-?)?(\d{1,6})", re.IGNORECASE)


def run_rules(options: argparse.Namespace) -> ExitStatus:
    """List the rules."""
    titles = {page.id: in_language(page, language()).title for page in rule_pages()}
    words = " ".join(options.filter).lower().split()
    rules = [rule for rule in all_rules().values() if _has_all(words, rule, titles[rule.id])]
    if options.format == "json":
        print(json.dumps([_to_json(rule) for rule in rules], indent=2))
        return ExitStatus.SUCCESS
    _list_rules(rules)
    counted = count_phrase(
        reporter(),
        "{count} rule; `jsec explain RULE` shows the documentation of a rule",
        "{count} rules; `jsec explain RULE` shows the documentation of a rule",
        len(rules),
    )
    print(f"\n{counted}")
    return ExitStatus.SUCCESS


def _list_rules(rules: Sequence[Rule]) -> None:
    """Print a line for each rule, no wider than the terminal; whole where there is none."""
    titles = {page.id: in_language(page, language()).title for page in rule_pages()}
    width = max((len(rule.id) for rule in rules), default=0)
    room = shutil.get_terminal_size().columns - width - 24 if sys.stdout.isatty() else 0
    for rule in rules:
        print(_line(rule, titles[rule.id], width, room))


def _has_all(words: Sequence[str], rule: Rule, title: str) -> bool:
    """Return whether each of the words is in something that the list says of a rule."""
    say = reporter()
    told = [
        rule.id,
        rule.title,
        title,
        *(f"CWE-{number}" for number in rule.cwe),
        *(LANGUAGE_NAMES[dialect] for dialect in rule.dialects),
        rule.severity,
        say(rule.severity),
        CATEGORIES.get(rule.category, rule.category),
        category_name(rule.category, say),
        *(("fix", say("fix")) if rule.fixable else ()),
    ]
    text = "\n".join(told).lower()
    return all(word in text for word in words)


def _line(rule: Rule, title: str, width: int, room: int) -> str:
    """Return a rule in the list: ids have `width` columns; titles have `room`, unless that is
    nothing.
    """
    say = reporter()
    cwe = f"CWE-{rule.cwe[0]}" if rule.cwe else ""
    severity, fix = say(rule.severity), say("fix") if rule.fixable else ""
    severity += " " * (6 - columns(severity))
    fix += " " * (4 - columns(fix))
    shown = title if room < 20 else cut(title, room)
    return f"{rule.id:<{width}}  {severity}  {cwe:<8}  {fix} {shown}".rstrip()


def run_explain(options: argparse.Namespace) -> ExitStatus:
    """Show the page of a rule."""
    name, wanted = options.rule, options.lang or language()
    if (number := _WEAKNESS.fullmatch(name)) is not None:
        _explain_weakness(int(number[1]))
        return ExitStatus.SUCCESS
    known = {page.id: in_language(page, wanted) for page in rule_pages() if page.id == name}
    rule = all_rules().get(name)
    if not known:
        raise UsageError(unknown_rule(name, known_rules()))
    page = known[name].page.rstrip()
    if rule is None:
        print(f"# {name}\n\n{page}")
        return ExitStatus.SUCCESS
    weaknesses = (f"CWE-{number}" for number in rule.cwe)
    told = facts(known[name], speaker(wanted), weaknesses)
    print(f"# {rule.id}\n\n{told}\n\n{page}")
    return ExitStatus.SUCCESS


def _explain_weakness(number: int) -> None:
    """Print the name of a weakness and the rules that report it. Raises `UsageError` when there are
    none."""
    rules = [rule for rule in all_rules().values() if number in rule.cwe]
    if not rules:
        raise UsageError("no rule is about CWE-{number}; `jsec rules` lists them", number=number)
    names = weakness_names(rule.page for rule in rules)
    title = f"CWE-{number}: {names[number]}" if number in names else f"CWE-{number}"
    print(f"# {title}\n\n{weakness_uri(number)}\n")
    _list_rules(sorted(rules, key=lambda rule: rule.cwe.index(number)))
    print()
    print(reporter()("`jsec explain RULE` shows the documentation of a rule"))


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
