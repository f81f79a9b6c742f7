"""Keeps the tables of README.md true: settings from package.json, rules from the rules.

python scripts/readme_tables.py           write them
python scripts/readme_tables.py --check   fail when they are not up to date
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from jarvis_ls.jsec.rule import all_rules

ROOT = Path(__file__).resolve().parent.parent


def settings_table() -> str:
    """Every setting of the extension with its default and English description."""
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
    """Every rule with its weaknesses and what it finds."""
    rows = ["| rule | for | CWE | finds | fix |", "| --- | --- | --- | --- | --- |"]
    for rule in all_rules().values():
        languages = {frozenset({"c", "cpp"}): "C, C++", frozenset({"cpp"}): "C++",
                     frozenset({"c"}): "C", frozenset({"rust"}): "Rust"}[rule.dialects]  # fmt: skip
        cwe = ", ".join(map(str, rule.cwe))
        fix = "yes" if rule.fixable else ""
        rows.append(f"| `{rule.id}` | {languages} | {cwe} | {rule.title} | {fix} |")
    return "\n".join(rows)


def filled(readme: str) -> str:
    """README.md with its tables replaced by what is true now."""
    for name, table in (("settings", settings_table()), ("rules", rules_table())):
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)"
        readme, count = re.subn(
            pattern, lambda m, t=table: m[1] + t + m[2], readme, flags=re.DOTALL
        )
        if count != 1:
            raise SystemExit(f"README.md has no single place for the table of {name}")
    return readme


def main() -> int:
    """Write or check; exit status 1 when a check finds a difference."""
    path = ROOT / "README.md"
    old = path.read_text(encoding="utf-8")
    new = filled(old)
    if "--check" in sys.argv:
        if old != new:
            print("README.md: tables are out of date; run python scripts/readme_tables.py")
        return int(old != new)
    path.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
