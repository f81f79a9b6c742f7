"""Keep odd phrases and long messages out of what people read.

    python scripts/phrases.py            count per file
    python scripts/phrases.py --list     every place
    python scripts/phrases.py --check    fail when there is any

Read are the server's templates, as `scripts/translations.py` finds them and as the catalogs of
terminal, runtime and C to Rust have them, the titles and pages of rules, the help of the commands,
and the English catalogs of the client. ``EXCEPTIONS`` holds texts that may stay, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import translations

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = translations.PACKAGE
CATALOGS = tuple(
    "package.nls.json package.json l10n/bundle.l10n.zh-cn.json "
    "client-vscode/webview/strings/en.json client-vscode/webview/strings/migration.en.json".split()
)
BY_KEY = tuple(
    f"server/jarvis_ls/{part}/locale/zh-cn.json"
    for part in ("cli", "harness", "jc2r", "jsec", "lsp")
)
"""Catalogs whose keys are the English texts that server, terminal and runtime say."""
MESSAGE = 160
"""Characters of a finding's message, without its suggestion."""
HELP = 120
"""Characters of the help of an option."""
PHRASES = re.compile(
    r"\b(nobody|whoever|anew|looked at|looks at|look at all|is told|are told|stands in|stands for"
    r"|in front of the|behind the (?:last|end)|what is made|goes on|by now|lies|lie in"
    r"|has a say|no problem|gravest|begin(?:s)? anew|what shall|on this way|given back"
    r"|meanwhile|(?:is|are) meant|taken back|handed over|hands? over|no one to|at work|wrong use"
    r"|(?<!there )(?:is|are) no (?!longer|more)\w+|holds no|looked over"
    r"|(?:is|are|was|were) remembered|what was said|was said|goes round|says something else"
    r"|leads? out of|one by one"
    r"|of (?:its|their) own in|by themselves|mend|rests?(?= until)|cannot be told"
    r"|does not know this|nothing of"
    r"|stands|stand (?:for|in)|somebody|anybody|everybody|gives? back|took back|take back"
    r"|all the same|looks? whether"
    r"|for good|is left over|comes? to an end)\b",
    re.IGNORECASE,
)
EXCEPTIONS: dict[str, str] = {}
"""Text to the reason why it may stay."""


class Problem(NamedTuple):
    """One text that should read differently."""

    file: str
    line: int
    what: str
    text: str


def problems() -> Iterator[Problem]:
    """Yield every odd phrase and every text that is too long."""
    for file, line, text, most in _texts():
        if text in EXCEPTIONS:
            continue
        found = PHRASES.search(text)
        if found:
            yield Problem(file, line, f"'{found[0]}'", text)
        if most and len(text) > most:
            yield Problem(file, line, f"{len(text)} > {most} characters", text)


def _texts() -> Iterator[tuple[str, int, str, int]]:
    """Yield the file and line of each text, and how long it may be (0: any length)."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, text, most in _of_module(path, tree):
            yield name, line, text, most
    for name in BY_KEY:
        texts = json.loads((ROOT / name).read_text(encoding="utf-8"))
        for line, text in enumerate(texts, 2):
            yield name, line, text, 0
    for name in CATALOGS:
        entries = json.loads((ROOT / name).read_text(encoding="utf-8"))
        for line, text in enumerate(_values(entries, keys="l10n/" in name), 1):
            yield name, line, text, 0


def _of_module(path: Path, tree: ast.Module) -> Iterator[tuple[int, str, int]]:
    is_rule = path.parent.parent.name == "rules"
    if is_rule and not path.stem.startswith("_"):
        page = ast.get_docstring(tree) or ""
        for offset, paragraph in enumerate(_prose(page)):
            yield 1 + offset, paragraph, 0
    if any(path.is_relative_to(folder) for folder in translations.SAID):
        for text in translations.sentences(tree):
            yield 0, text, 0
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        for line, text, keyword in _arguments(node, name):
            most = MESSAGE if name in ("Report", "Step") and keyword != "suggestion" else 0
            yield line, text, HELP if keyword == "help" else most


def _arguments(call: ast.Call, name: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, text and keyword of the arguments that people read."""
    positions, keywords = translations.TAKES.get(name, ((), ()))
    takes = {*keywords, "help", "description", "epilog"} if name.startswith("add_") else {*keywords}
    if name in ("ArgumentParser", "Command", "Words", "notice") or name.endswith("Error"):
        takes |= {"description", "epilog"}
        positions = (0, 1)
    given = [("", call.args[i]) for i in positions if i < len(call.args)]
    given += [(word.arg, word.value) for word in call.keywords if word.arg in takes]
    for keyword, value in given:
        for node in ast.walk(value):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield node.lineno, node.value, keyword or ""


def _prose(page: str) -> Iterator[str]:
    """Yield the paragraphs of a rule's page outside of code."""
    for paragraph in re.sub(r"```.*?```", "", page, flags=re.DOTALL).split("\n\n"):
        text = " ".join(paragraph.split())
        if text:
            yield re.sub(r"`[^`]*`", "``", text)


def _values(entries: object, *, keys: bool) -> Iterator[str]:
    """Yield the strings of a catalog: its keys where they are the English text."""
    if isinstance(entries, dict):
        for key, value in entries.items():
            if keys:
                yield key
            else:
                yield from _values(value, keys=False)
    elif isinstance(entries, list):
        for value in entries:
            yield from _values(value, keys=False)
    elif isinstance(entries, str):
        yield entries


def main() -> int:
    """Count, list or check; return the exit status."""
    parser = argparse.ArgumentParser(description="Find odd phrases in what people read.")
    parser.add_argument("--list", action="store_true", help="print every place")
    parser.add_argument("--check", action="store_true", help="fail when there is any")
    options = parser.parse_args()
    found = list(problems())
    if options.list or options.check:
        for problem in found:
            print(f"{problem.file}:{problem.line}: {problem.what}: {problem.text}")
    else:
        for file, count in sorted(Counter(problem.file for problem in found).items()):
            print(f"{count:4} {file}")
        print(f"{len(found):4} in all")
    return int(options.check and bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
