"""Generate the tables of the documentation: settings from package.json, rules from the rules.

python scripts/doc_tables.py           write them
python scripts/doc_tables.py --check   fail when they are not up to date
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from jarvis_ls.jsec.rules.registry import all_rules

ROOT = Path(__file__).resolve().parent.parent


def settings_table() -> str:
    """Return every setting of the extension with its default and English description."""
    manifest = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    english = json.loads((ROOT / "package.nls.json").read_text(encoding="utf-8"))
    configuration = manifest["contributes"]["configuration"]
    sections = configuration if isinstance(configuration, list) else [configuration]
    rows = ["| setting | default | what it does |", "| --- | --- | --- |"]
    for section in sections:
        for name, setting in section["properties"].items():
            key = setting.get("markdownDescription") or setting.get("description", "")
            words = english.get(key.strip("%"), key)
            words = words.partition("\n")[0].replace("|", "\\|")
            default = json.dumps(setting.get("default"), ensure_ascii=False)
            rows.append(f"| `{name}` | `{default}` | {words} |")
    return "\n".join(rows)


def rules_table() -> str:
    """Return every rule with its weaknesses and what it finds."""
    rows = ["| rule | for | CWE | finds | fix |", "| --- | --- | --- | --- | --- |"]
    for rule in all_rules().values():
        languages = {
            frozenset({"c", "cpp"}): "C, C++",
            frozenset({"cpp"}): "C++",
            frozenset({"c"}): "C",
            frozenset({"rust"}): "Rust",
        }[rule.dialects]
        cwe = ", ".join(map(str, rule.cwe))
        fix = "yes" if rule.fixable else ""
        rows.append(f"| `{rule.id}` | {languages} | {cwe} | {rule.title} | {fix} |")
    return "\n".join(rows)


TABLES = {
    "docs/configuration.md": ("settings", settings_table),
    "docs/rules.md": ("rules", rules_table),
}
"""Each page with the name of its table, which stands between two comments, and what makes it."""


def main() -> int:
    """Write or check the tables; the status is 1 when a check finds a difference."""
    outdated = 0
    for page, (name, make) in TABLES.items():
        path = ROOT / page
        old = path.read_text(encoding="utf-8")
        new = with_table(old, name, make(), page)
        if old == new:
            continue
        if "--check" in sys.argv:
            print(f"{page}: the table is out of date; run python scripts/doc_tables.py")
            outdated = 1
        else:
            path.write_text(new, encoding="utf-8")
    return outdated


def with_table(text: str, name: str, table: str, page: str) -> str:
    """Return a page with its table replaced.

    Raises `SystemExit` when the page has no single place for it.
    """
    pattern = rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)"
    replaced, count = re.subn(pattern, lambda m: m[1] + table + m[2], text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{page} has no single place for the table of {name}")
    return replaced


if __name__ == "__main__":
    raise SystemExit(main())
