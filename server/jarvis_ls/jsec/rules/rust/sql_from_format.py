"""SQL injection through string formatting.

## What it does
Finds `format!` and `+` with an SQL statement and a value in it, passed to `query`, `execute`,
`prepare` and the like, directly or through a variable. The same for what is appended to a string
that begins with an SQL statement (`push_str`, `write!`, `+=`).

## Why is this bad?
A value that contains a quote ends the string and continues as SQL: `x' OR '1'='1`.

## Example
```rust
db.execute(&format!("DELETE FROM users WHERE name = '{name}'"), [])?;
```

Use instead:
```rust
db.execute("DELETE FROM users WHERE name = ?1", [name])?;
```

## References
- CWE-89: Improper Neutralization of Special Elements used in an SQL Command ('SQL Injection')
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import arguments, macro_name, macro_tokens, peel, receiver_of
from jarvis_ls.jsec.local.rust.values import is_literal, literal_text

_STATEMENT = re.compile(
    r"(?is)^\s*(?:select\b.{1,400}?\bfrom\b|insert\s+(?:or\s+\w+\s+)?into\b|update\b.{1,200}?\bset\b"
    r"|delete\s+from\b|drop\s+(?:table|database)\b|alter\s+table\b|create\s+table\b|replace\s+into\b"
    r"|truncate\s+table\b|grant\b|call\b)"
)
_PLACE = re.compile(r"\{[^{}]*\}")
_NAME_PLACE = re.compile(
    r"(?i)(?:from|into|table|update|join|exists|by|index|on|pragma)\s+[\"`\[]?$"
)
_BEGINS = re.compile(
    r"(?is)^\s*(?:select\b.{1,400}?\bfrom\b|insert\s+(?:or\s+\w+\s+)?into\b|update\b.{1,200}?\bset\b"
    r"|delete\s+from\b)"
)
"""A statement to which conditions or values may be appended."""
_COMPARED = re.compile(r"(?i)(?:['\"]%?|[=<>]\s*|\blike\s+|\(\s*|\bvalues\b.*)$")
"""What is in front of a value, not of a name."""
_INTEGER = re.compile(r"&?(?:[ui](?:8|16|32|64|128|size)|bool|f32|f64)")
_NAMED = re.compile(r"\w+\s*=[^=]")
_RUNS = frozenset(
    "query execute prepare query_row query_map query_as raw_query execute_batch query_one "
    "query_opt sql_query exec batch_execute query_scalar fetch_all fetch_one query_drop "
    "exec_drop raw_sql simple_query prepare_cached query_first exec_first query_iter run "
    "sql unprepared".split()
)


@rule(
    query=nodes(
        "(macro_invocation) @site (binary_expression) @site",
        names=("format", "write"),
        operators=("+",),
    ),
    category="input_validation",
    cwe=(89,),
    confidence=0.85,
    suggestion="Use a literal statement with bound parameters ('?1').",
)
def sql_from_format(site: Site) -> Iterator[Report]:
    if site.node.type == "binary_expression":
        yield from _concatenation(site)
        return
    tokens = macro_tokens(site.node)
    first = next((c for c in tokens.named_children), None) if tokens is not None else None
    statement = literal_text(first)
    begun = _appended_to(site, first)
    if begun:
        yield from _report_appends(site, tokens, begun)
        return
    if (
        statement is None
        or macro_name(site.node) != "format"
        or not _STATEMENT.match(statement[:1000])
        or site.item.in_test
    ):
        return
    places = list(_PLACE.finditer(statement[:4000].replace("{{", "  ")))
    values = [m for m in places if not _NAME_PLACE.search(statement[: m.start()][-40:])]
    if not places or in_test(site.node) or _only_numbers(site, tokens, places):
        return
    confidence = 0.85 if values else 0.55
    if not _is_run(site.node, site.function):
        confidence -= 0.2
    if all(_is_list_of_marks(m.group()) for m in values) and values:
        confidence = 0.4
    yield Report(
        site.node,
        "Values are concatenated into the SQL statement '{statement}…' (SQL injection).",
        confidence=confidence,
        pattern="format!",
        statement=" ".join(statement[:40].split()),
    )


def _concatenation(site: Site) -> Iterator[Report]:
    """Report a statement and values concatenated by `+`."""
    parent = site.node.parent
    if site.item.in_test or (parent is not None and parent.type == "binary_expression"):
        return
    first: Node | None = site.node
    for _ in range(32):
        if first is None or first.type != "binary_expression":
            break
        first = peel(first.named_children[0])
    if first is not None and first.type == "call_expression":
        first = receiver_of(first) or next(iter(arguments(first)), None)
    statement = literal_text(first)
    if statement is None or not _STATEMENT.match(statement[:1000] + " x from x set "):
        return
    if not re.search(r"(?i)\b(?:where|values|set|from|into)\b", statement) or in_test(site.node):
        return
    if is_literal(site.node.named_children[-1], site.function, site.unit) and (
        site.node.named_children[0] == first
    ):
        return
    yield Report(
        site.node,
        "Values are concatenated into the SQL statement '{statement}…' (SQL injection).",
        confidence=0.85 if _is_run(site.node, site.function) else 0.65,
        pattern="+",
        statement=" ".join(statement[:40].split()),
    )


def _report_appends(site: Site, tokens: Node | None, begun: str) -> Iterator[Report]:
    """Report values in what is appended to the begun statement."""
    literals = tokens.named_children[:2] if tokens is not None else []
    part = next((found for node in literals if (found := literal_text(node)) is not None), "")
    plain = part[:4000].replace("{{", "  ")
    values = [
        place
        for place in _PLACE.finditer(plain)
        if _COMPARED.search(plain[: place.start()][-40:]) and not _is_list_of_marks(place.group())
    ]
    if not values or site.item.in_test or in_test(site.node):
        return
    if _only_numbers(site, tokens, values):
        return
    yield Report(
        site.node,
        "Values are concatenated into the SQL statement '{statement}…' (SQL injection).",
        confidence=0.65,
        pattern=macro_name(site.node),
        statement=" ".join(begun[:40].split()),
    )


def _appended_to(site: Site, first: Node | None) -> str:
    """Return the SQL statement that a local string begins with to which the text of a macro is
    appended; empty when there is none."""
    name = text(first) if macro_name(site.node) == "write" else ""
    if not name:
        for outer in list(ancestors(site.node))[:4]:
            if outer.type == "call_expression" and called_name(outer) in ("push_str", "add_assign"):
                name = text(receiver_of(outer))
            elif outer.type == "compound_assignment_expr":
                name = text(field(outer, "left"))
            elif outer.type in ("arguments", "reference_expression"):
                continue
            break
    if not name.isidentifier() or site.function is None:
        return ""
    variable = site.function.variable(name, site.node.start_byte)
    made = peel(variable.initial) if variable is not None else None
    if made is not None and made.type == "call_expression":
        made = receiver_of(made) or next(iter(arguments(made)), None)
    begun = literal_text(made)
    return begun if begun is not None and _BEGINS.match(begun[:1000]) else ""


def _only_numbers(site: Site, tokens: Node | None, places: list[re.Match[str]]) -> bool:
    """Return whether every value is a constant or an integer, which cannot change the statement."""
    written = [m.group().strip("{}").partition(":")[0].strip() for m in places]
    given = tokens.children if tokens is not None else []
    format_at = next((i for i, token in enumerate(given) if literal_text(token) is not None), -1)
    rest = "".join(text(token) for token in given[format_at + 1 :]).removesuffix(")")
    behind = [word for word in _split(rest) if word]
    named = dict(word.split("=", 1) for word in behind if _NAMED.match(word))
    positional = iter(word for word in behind if not _NAMED.match(word))
    values = [
        next(positional, "") if not name or name.isdigit() else named.get(name, name)
        for name in written
    ]
    return all(_is_number(value, site) for value in values)


def _split(listed: str) -> list[str]:
    """Return arguments written one after another, split at commas outside of brackets."""
    parts, depth = [""], 0
    for sign in listed:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def _is_number(value: str, site: Site) -> bool:
    if re.fullmatch(r"(?:\w+::)*[A-Z][A-Z0-9_]*|\d[\d_]*", value):
        return True
    name, _, member = value.rpartition(".")
    if re.fullmatch(r"(?:self|\w+)(?:\.\w+)*", name) and member.isidentifier():
        known = {declared.type for declared in site.unit.facts.fields.get(member, ())}
        return bool(known) and all(_INTEGER.fullmatch(type_) for type_ in known)
    if not value.isidentifier() or site.function is None:
        return False
    variable = site.function.variable(value, site.node.start_byte)
    return variable is not None and _INTEGER.fullmatch(variable.type.strip()) is not None


def _is_list_of_marks(place: str) -> bool:
    """Return whether the placeholder is named for a list of `?` or of columns."""
    return (
        re.search(r"(?i)placeholder|marks|column|cols|params|fields|table|order", place) is not None
    )


def _is_run(node: Node, function: Function | None) -> bool:
    """Return whether the statement goes to a function that runs it, directly or through a
    variable.
    """
    for outer in ancestors(node):
        if outer.type == "call_expression" and called_name(outer) in _RUNS:
            return True
        if outer.type == "macro_invocation" and macro_name(outer) in _RUNS:
            return True
        if outer.type == "let_declaration" and function is not None:
            name = text(field(outer, "pattern")).removeprefix("mut ")
            return any(
                holder is not None and called_name(holder) in _RUNS
                for use in function.uses(name, outer.end_byte)[:16]
                for holder in list(ancestors(use))[:4]
                if holder.type == "call_expression"
            )
        if outer.type in ("block", "closure_expression"):
            return False
    return False
