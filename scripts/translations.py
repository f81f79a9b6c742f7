"""Keeps the Chinese catalogs complete: every template the user can read has a translation, and
every rule a page.

    python scripts/translations.py            list what has no translation, as JSON
    python scripts/translations.py --check    fail when there are any, or when one no longer fits

Templates are found in the source: what is given to `Report`, `Rewrite`, `Message`, `rule` and
to the server's messages, also through names, conditional expressions and tables.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent / "server" / "jarvis_ls"
CATALOGS = {part: PACKAGE / part / "locale/zh-cn.json" for part in ("jsec", "lsp", "review")}
PAGES = PACKAGE / "jsec/locale/pages/zh-cn.json"
PARTS = ("title", "what", "why")
"""What of a rule's page is translated."""
SAID = [PACKAGE / "jsec" / folder for folder in ("flow", "rules", "local")]
"""Where sentences are handed on as plain values, to be said elsewhere."""
COMMANDS = [
    PACKAGE / "cli" / f"{name}.py"
    for name in ("scanning", "baselining", "fixing", "explaining", "pages", "proving", "repairing")
]
"""Commands that speak with the catalog of jsec."""
PLACE = re.compile(r"\{\w+\}")

# Which arguments of which call hold templates: positions and keywords.
TAKES: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "Report": ((1,), ("message", "suggestion")),
    "with_related": ((0,), ()),
    "Rewrite": ((0,), ("title",)),
    "Message": ((0,), ("template",)),
    "Words": ((0,), ()),
    "Step": ((2,), ("message",)),
    "rule": ((), ("suggestion",)),
    "summary": ((0,), ()),
    "say": ((0,), ()),
    "counted": ((1, 2), ()),
    "messages": ((0,), ()),
    "BuiltIn": ((1,), ()),
    "PatchUnfit": ((0,), ()),
    "passed": ((1,), ()),
    "failed": ((1,), ()),
    "without": ((1,), ()),
}


def templates(part: str) -> set[str]:
    """All templates below one package that hold more than places and signs."""
    found: set[str] = set()
    for path in [*sorted((PACKAGE / part).rglob("*.py")), *(COMMANDS if part == "jsec" else ())]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= set(_of_module(tree))
        if any(path.is_relative_to(folder) for folder in SAID):
            found |= set(sentences(tree))
    return {template for template in found if re.search(r"[A-Za-z]", PLACE.sub("", template))}


def catalog(part: str) -> dict[str, str]:
    """The translations of one package."""
    path = CATALOGS[part]
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def pages() -> dict[str, dict[str, str]]:
    """By the id of a rule, the parts of its page that have no translation yet."""
    known = json.loads(PAGES.read_text(encoding="utf-8"))
    files = (PACKAGE / "jsec/rules").glob("*/[!_]*.py")
    missing = {}
    for rule in sorted(path.stem.replace("_", "-") for path in files):
        parts = [part for part in PARTS if not known.get(rule, {}).get(part)]
        if parts:
            missing[rule] = dict.fromkeys(parts, "")
    return missing


def _of_module(tree: ast.Module) -> Iterator[str]:
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            values.setdefault(node.target.id, []).append(node.value)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        positions, keywords = TAKES.get(name, ((), ()))
        given = [node.args[i] for i in positions if i < len(node.args)]
        given += [k.value for k in node.keywords if k.arg in keywords]
        for expression in given:
            for text in _strings(expression, values, set()):
                pattern = text.startswith("(")  # of the parser
                if not pattern and (" " in text or PLACE.search(text)):
                    yield text


def sentences(tree: ast.Module) -> Iterator[str]:
    """Sentences in a module, but for its docstrings."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in said:
            text = node.value
            if isinstance(text, str) and " " in text and text.endswith("."):
                yield text


def _strings(
    expression: ast.expr, values: dict[str, list[ast.expr]], seen: set[str]
) -> Iterator[str]:
    for node in ast.walk(expression):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Name) and node.id in values and node.id not in seen:
            for value in values[node.id]:
                yield from _strings(value, values, seen | {node.id})


def main() -> int:
    """List or check; exit status 1 when a check finds something."""
    wrong = 0
    missing: dict[str, dict[str, Any]] = {}
    for part in CATALOGS:
        known = catalog(part)
        missing[part] = dict.fromkeys(sorted(templates(part) - set(known)), "")
        for english, chinese in known.items():
            if sorted(PLACE.findall(english)) != sorted(PLACE.findall(chinese)):
                print(f"{CATALOGS[part].name}: places differ: {english}")
                wrong += 1
    lacking = pages()
    if "--check" not in sys.argv:
        missing["jsec/locale/pages"] = lacking
        print(json.dumps(missing, ensure_ascii=False, indent=1))
        return 0
    for part, texts in missing.items():
        for text in texts:
            print(f"{part}: no Chinese for: {text}")
    for rule, parts in lacking.items():
        print(f"{PAGES.parent.name}/{PAGES.name}: no Chinese page of {rule}: {', '.join(parts)}")
    return int(bool(wrong or lacking or any(missing.values())))


if __name__ == "__main__":
    raise SystemExit(main())
