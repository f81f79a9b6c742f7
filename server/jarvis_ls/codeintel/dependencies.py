"""What a file asks for from other files, and which files of a project that is."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.languages import language_of

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*([<"])([^>"\n]+)[>"]')
_RUST_MOD = re.compile(rb"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?mod[ \t]+(?:r#)?(\w+)[ \t]*;")
_RUST_USE = re.compile(rb"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?use[ \t]+([^;\n]+)")
_RUST_CRATE = re.compile(rb"^[ \t]*(?:pub[ \t]+)?extern[ \t]+crate[ \t]+(\w+)")
_PYTHON = re.compile(rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import|import[ \t]+([\w.]+))")
_SCRIPT = re.compile(
    rb"""(?:^[ \t]*(?:import|export)\b[^'"\n]*|^[ \t]*\}[ \t]*from[ \t]*"""
    rb"""|\b(?:require|import)[ \t]*\([ \t]*)['"]([^'"\n]+)['"]"""
)
_SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
SUPPORTED = "C, C++, Rust, Python, JavaScript and TypeScript"


@dataclass(frozen=True, slots=True)
class Import:
    """One request for another file, module or library."""

    name: str
    """As written: `sys/types.h`, `crate::parse::Token`, `.views`, `./dialog.js`."""
    line: int
    """From 1."""
    system: bool = False
    """Written in a way that looks outside of the project first (`#include <…>`)."""


def imports(path: str, data: bytes) -> list[Import] | None:
    """Return the imports of a file (UTF-8) in order; None when its language is unknown."""
    language = language_of(path, data)
    suffix = posixpath.splitext(path)[1].lower()
    if language is not None:
        code = blank(data, language, literals=False)
    elif suffix in (".py", ".pyi") or suffix in _SCRIPTS:
        code = data
    else:
        return None
    found: list[Import] = []
    for number, line in enumerate(code.split(b"\n"), 1):
        if language == "rust":
            found += [Import(name, number) for name in _rust(line)]
        elif language is not None:
            if match := _INCLUDE.match(line):
                found.append(Import(_text(match[2]), number, match[1] == b"<"))
        elif suffix in _SCRIPTS:
            found += [Import(_text(match[1]), number) for match in _SCRIPT.finditer(line)]
        elif match := _PYTHON.match(line):
            found.append(Import(_text(match[1] or match[2]), number))
    return found


class Project:
    """The files of a project by what they can be asked for as."""

    def __init__(self, paths: Iterable[str]) -> None:
        """`paths` are relative to one root, with forward slashes."""
        self._paths = set(paths)
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self._paths):
            self._by_name.setdefault(posixpath.basename(path), []).append(path)

    def resolve(self, path: str, wanted: Import) -> str | None:
        """Return the file of the project that `wanted` in the file `path` means, or None."""
        suffix = posixpath.splitext(path)[1].lower()
        if suffix == ".rs":
            return self._rust(path, wanted.name)
        if suffix in (".py", ".pyi"):
            return self._python(path, wanted.name)
        if suffix in _SCRIPTS:
            return self._script(path, wanted.name)
        return self._include(path, wanted.name)

    def names_of(self, path: str) -> set[str]:
        """Words of which one is in every file that asks for `path`."""
        name = posixpath.basename(path)
        stem = posixpath.splitext(name)[0]
        parent = posixpath.basename(posixpath.dirname(path))
        if stem in ("mod", "__init__", "index", "lib", "main"):
            return {parent, stem} - {""} if parent else {stem}
        return {stem}

    def _include(self, path: str, name: str) -> str | None:
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        if beside in self._paths:
            return beside
        name = posixpath.normpath(name)
        found = [
            p
            for p in self._by_name.get(posixpath.basename(name), ())
            if p == name or p.endswith("/" + name)
        ]
        return max(found, key=lambda p: (_common(path, p), -len(p)), default=None)

    def _rust(self, path: str, name: str) -> str | None:
        folder, base = posixpath.split(path)
        own = folder if base in ("mod.rs", "lib.rs", "main.rs") else path[: -len(".rs")]
        parts = [part for part in name.split("::") if part]
        start = own
        if not parts:
            return None
        if parts[0] == "crate":
            start, parts = self._crate(path), parts[1:]
        elif parts[0] == "self":
            parts = parts[1:]
        while parts and parts[0] == "super":
            start, parts = posixpath.dirname(start), parts[1:]
        for count in range(len(parts), 0, -1):
            at = posixpath.normpath(posixpath.join(start, *parts[:count]))
            for candidate in (f"{at}.rs", f"{at}/mod.rs"):
                if candidate in self._paths and candidate != path:
                    return candidate
        return None

    def _crate(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while True:
            if any(posixpath.join(folder, f) in self._paths for f in ("lib.rs", "main.rs")):
                return folder
            if not folder:
                return posixpath.dirname(path)
            folder = posixpath.dirname(folder)

    def _python(self, path: str, name: str) -> str | None:
        dots = len(name) - len(name.lstrip("."))
        parts = [part for part in name.split(".") if part]
        starts = [""]
        folder = posixpath.dirname(path)
        if dots:
            for _ in range(dots - 1):
                folder = posixpath.dirname(folder)
            starts = [folder]
        for start in starts:
            at = posixpath.join(start, *parts) if parts else start
            for candidate in (f"{at}.py", f"{at}/__init__.py", f"{at}.pyi"):
                if candidate in self._paths:
                    return candidate
        if dots or not parts:
            return None
        tail = "/".join(parts)
        for end in (f"{tail}.py", f"{tail}/__init__.py"):
            for candidate in self._by_name.get(posixpath.basename(end), ()):
                if candidate.endswith("/" + end):
                    return candidate
        return None

    def _script(self, path: str, name: str) -> str | None:
        if not name.startswith("."):
            return None
        at = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        stem, suffix = posixpath.splitext(at)
        bases = [at, stem] if suffix in _SCRIPTS else [at]  # `./a.js` may be written as a.ts
        for base in bases:
            for candidate in (
                base,
                *(base + s for s in _SCRIPTS),
                f"{base}/index.ts",
                f"{base}/index.js",
            ):
                if candidate in self._paths:
                    return candidate
        return None


def _rust(line: bytes) -> list[str]:
    if match := _RUST_MOD.match(line):
        return [f"self::{_text(match[1])}"]
    if match := _RUST_CRATE.match(line):
        return [_text(match[1])]
    if match := _RUST_USE.match(line):
        written = _text(match[1])
        head, brace, rest = written.partition("{")
        head = head.strip().partition(" as ")[0]
        if not brace:
            return [head.strip()]
        inner = [p.strip().partition(" as ")[0].rstrip("}").strip() for p in rest.split(",")]
        return [f"{head}{name}" for name in inner if name and name != "self"] or [head.rstrip(":")]
    return []


def _common(path: str, other: str) -> int:
    count = 0
    for a, b in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
