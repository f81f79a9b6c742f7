"""What kind of file something is."""

from __future__ import annotations

import asyncio
import os
import re
import time

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.core.beneath import read_beneath
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import kind_of
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.binary_kinds import kind_of_data
from jarvis_ls.runtime.edits.text_file import MAX_BYTES, WorkspacePath, decode, resolve_path
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool

_LANGUAGES = {"c": "C", "cpp": "C++", "rust": "Rust"}
_BY_SUFFIX = {
    ".py": "Python",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".js": "JavaScript",
    ".mjs": "JavaScript",
    ".go": "Go",
    ".java": "Java",
    ".kt": "Kotlin",
    ".sh": "shell",
    ".md": "Markdown",
    ".json": "JSON",
    ".toml": "TOML",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".cmake": "CMake",
    ".html": "HTML",
    ".css": "CSS",
    ".xml": "XML",
    ".txt": "text",
}
_BY_NAME = {
    "makefile": "make",
    "cmakelists.txt": "CMake",
    "dockerfile": "Dockerfile",
    "build.gn": "GN",
    "meson.build": "Meson",
}
_TEST = re.compile(
    r"(^|/)(tests?|spec|testing|__tests__)/|(^|[/_.-])(test|tests|spec)s?[_.-]|"
    r"_(test|spec)\.\w+$|(^|/)test_",
    re.IGNORECASE,
)
_SETTINGS = re.compile(
    r"\.(toml|ya?ml|json|ini|cfg|conf|cmake|gn|gni|properties|lock)$|"
    r"(^|/)(makefile|cmakelists\.txt|dockerfile|\.[^/]+rc|\.editorconfig|\.gitignore)$",
    re.IGNORECASE,
)


@tool(actions=lambda a: [Action("read", a["file_path"])], independent=True, offered=False)
async def read_file_info(context: ToolContext, file_path: str) -> str:
    """Say what is known of a file without its text: size, language, lines, encoding, whether it
    is a test or a settings file.

    Args:
        file_path: Path relative to the workspace.
    """
    place = resolve_path(file_path, context)
    return await asyncio.to_thread(_describe, place)


def _describe(place: WorkspacePath) -> str:
    try:
        status = place.real.lstat()
    except OSError as error:
        raise ToolRetry("{name}: {why}.", name=shown(place.name), why=error.strerror) from None
    lines: list[str] = [Words("path: {path}", path=shown(place.name))]
    if place.real.is_dir():
        count = len(os.listdir(place.real))  # noqa: PTH208
        return together([*lines, Words("kind: folder with {count} entries", count=count)], "\n")
    if kind := kind_of(status.st_mode):
        return together([*lines, Words("kind: {kind}", kind=kind)], "\n")
    changed = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(status.st_mtime))
    lines.append(Words("size: {size} bytes", size=status.st_size))
    lines.append(Words("changed: {time} UTC", time=changed))
    if not status.st_mode & 0o222:
        lines.append(Words("read-only: yes"))
    if status.st_nlink > 1:
        lines.append(Words("names: {count} (hard links)", count=status.st_nlink))
    lines += _of_contents(place)
    lines.append(Words("test: yes" if _TEST.search(place.path) else "test: no"))
    lines.append(Words("settings: yes" if _SETTINGS.search(place.path) else "settings: no"))
    return together(lines, "\n")


def _of_contents(place: WorkspacePath) -> list[str]:
    try:
        raw, mode = read_beneath(place.root, place.path, limit=MAX_BYTES)
    except (SkippedFile, FileNotFoundError) as error:
        return [Words("contents: not read ({why})", why=error)]
    try:
        file = decode(place, raw, mode)
    except ToolRetry:
        return [Words("kind: {kind}", kind=kind_of_data(raw) or Words("binary"))]
    language = language_of(place.path, file.text.encode("utf-8", "replace")[:65536])
    suffix = place.real.suffix.lower()
    name = _LANGUAGES.get(language or "") or _BY_NAME.get(place.real.name.lower())
    return [
        Words("language: {name}", name=name or _BY_SUFFIX.get(suffix) or Words("unknown")),
        Words("lines: {count}", count=len(file.lines)),
        Words("text: {how}", how=file.described or Words("UTF-8, LF line ends")),
    ]
