"""Lessons of the files in which people write down how a project is worked on, a section each."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from jarvis_ls.runtime.memory.lessons.lesson import MAX_TEXT, RULES, Lesson

MOST_SECTIONS = 80
_SHORTEST = 30
"""Characters of a section that says something."""
_NAMES = re.compile(
    r"(?:AGENTS|CLAUDE|GEMINI|copilot-instructions|(?i:contributing|hacking|conventions|style|"
    r"styleguide|coding[-_]?style|coding[-_]standards?))(?:\.(?:md|rst|txt))?"
    r"|\.(?:cursor|windsurf)rules"
)
_FOLDERS = (".jarvis/rules/", ".cursor/rules/")
_HEADING = re.compile(r"#{1,4} +(\S.*)")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,})\s*")
_LONGEST_NAME = 60


def is_rule_file(path: str) -> bool:
    """Return whether a file of this path tells how the project is worked on."""
    return path.startswith(_FOLDERS) or _NAMES.fullmatch(posixpath.basename(path)) is not None


def rule_lessons(files: Iterable[tuple[str, str]]) -> list[Lesson]:
    """Return the sections of rule files, given as paths with their texts, the first
    `MOST_SECTIONS`."""
    found = [lesson for path, text in files for lesson in _of_file(path, text)]
    return found[:MOST_SECTIONS]


def _of_file(path: str, text: str) -> Iterator[Lesson]:
    folder = "" if path.startswith(_FOLDERS) else posixpath.dirname(path)
    folder = "" if folder in (".github", "docs", "doc") else folder
    seen = Counter[str]()
    for heading, said in _sections(text):
        if len(said) < _SHORTEST:
            continue
        seen[heading] += 1
        yield Lesson(
            f"rule:{path}:{heading}:{seen[heading]}",
            "convention",
            f"{posixpath.basename(path)}: {heading or 'all'}"[: _LONGEST_NAME * 2],
            f"From `{path}`{f', section {heading!r}' if heading else ''}:\n\n{said[:MAX_TEXT]}",
            (RULES,),
            folder,
        )


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield the headings of a text with what stands below each; code blocks have none."""
    heading, lines = "", list[str]()
    is_code = False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        match = None if is_code else _HEADING.match(line)
        if match or (not is_code and len(lines) > 0 and _is_underline(line, lines[-1])):
            following = match[1] if match else lines.pop()
            yield heading, "\n".join(lines).strip()
            heading, lines = following.strip(" #")[:_LONGEST_NAME], []
            continue
        lines.append(line)
    yield heading, "\n".join(lines).strip()


def _is_underline(line: str, above: str) -> bool:
    return bool(_UNDERLINE.fullmatch(line)) and above.strip() != "" and "|" not in above
