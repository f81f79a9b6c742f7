"""What depends on what: libraries of the project, or files on files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from jarvis_ls.codeintel.dependencies import SUPPORTED, Project, imports
from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.toml import read_toml
from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.text_file import WorkspacePath, resolve_path
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool
from jarvis_ls.tools.project import (
    Clock,
    Hidden,
    Listed,
    contents,
    cut_short,
    hidden_from,
    look,
    one_line,
    walk,
)

MAX_FILE = 2_000_000
SECONDS = 40.0
MAX_SHOWN = 300
_REQUIREMENTS = re.compile(r"requirements[\w.-]*\.txt")
_FOUND_BY = re.compile(r"\b(?:find_package|pkg_check_modules|dependency)\s*\(\s*['\"]?([\w.+-]+)")


@tool(actions=lambda a: [Action("read", a["path"])], independent=True, timeout=SECONDS + 30)
async def get_dependencies(context: ToolContext, path: str = ".") -> str:
    """For a file: what it includes or imports, and which files of the project include or import
    it. For a folder: the libraries that its build files ask for.

    Args:
        path: A file or a folder, relative to the workspace.
    """
    place = resolve_path(path, context)
    if place.real.is_dir():
        hidden = hidden_from("get_dependencies", place, context)
        return await look(lambda clock: _libraries(place, hidden, clock), SECONDS)
    if not place.real.is_file():
        raise ToolRetry("{name} does not exist.", name=shown(place.name))
    hidden = hidden_from("get_dependencies", replace(place, path=""), context)
    return await look(lambda clock: _files(place, hidden, clock), SECONDS)


def _files(place: WorkspacePath, hidden: Hidden | None, clock: Clock) -> str:
    root = replace(place, path="")
    listed = {path.path: path for path in walk(root, hidden=hidden)}
    project = Project([*listed, place.path])
    data = _data(next(walk(place), None), place)
    own = imports(place.path, data) if data is not None else None
    if own is None:
        raise ToolRetry("Dependencies of files are known for {kinds} only.", kinds=SUPPORTED)
    parts: list[str] = [Words("{name} asks for:", name=shown(place.name))]
    for path in own:
        found = project.resolve(place.path, path)
        target = shown(place.named(found)) if found else Words("not in the project")
        line = Words(
            "  line {line}: {name} -> {target}",
            line=path.line,
            name=shown(path.name),
            target=target,
        )
        parts.append(line)
    if not own:
        parts.append(Words("  nothing"))
    users, note = _users(place, project, listed, clock)
    parts.append(Words("Files that ask for {name}:", name=shown(place.name)))
    named = [f"  {one_line(name)}:{line}" for name, line in users[:MAX_SHOWN]]
    parts += named or [Words("  none")]
    if len(users) > MAX_SHOWN:
        parts.append(Words("  … {count} more", count=len(users) - MAX_SHOWN))
    return together([*parts, *([note] if note else [])], "\n")


def _users(
    place: WorkspacePath, project: Project, listed: dict[str, Listed], clock: Clock
) -> tuple[list[tuple[str, int]], str]:
    words = [name.encode() for name in project.names_of(place.path)]
    found: list[tuple[str, int]] = []
    for path, item in listed.items():
        if clock.is_over:
            return found, cut_short(SECONDS)
        data = _data(item, place) if path != place.path else None
        if data is None or not any(word in data for word in words):
            continue
        for wanted in imports(path, data) or ():
            if project.resolve(path, wanted) == place.path:
                found.append((item.name, wanted.line))
                break
    return found, ""


def _data(listed: Listed | None, place: WorkspacePath) -> bytes | None:
    raw = contents(listed, place, MAX_FILE) if listed is not None else None
    return None if raw is None else decode(listed.path if listed else "", raw).data


def _libraries(place: WorkspacePath, hidden: Hidden | None, clock: Clock) -> str:
    parts: list[str] = []
    for listed in walk(place, hidden=hidden):
        if clock.is_over:
            parts.append(cut_short(SECONDS))
            break
        name = listed.path.rpartition("/")[2]
        read = _READERS.get(name) or (_requirements if _REQUIREMENTS.fullmatch(name) else None)
        if read is None:
            continue
        data = _data(listed, place)
        try:
            found = read((data or b"").decode("utf-8", "replace"))
        except (ValueError, TypeError, AttributeError) as error:
            parts.append(Words("{name}: not parsed ({why})", name=one_line(listed.name), why=error))
            continue
        if found:
            parts.append(f"{one_line(listed.name)}: {', '.join(map(shown, dict.fromkeys(found)))}")
        if len(parts) >= MAX_SHOWN:
            parts.append(Words("… and more"))
            break
    if not parts:
        return Words("No build file below {name} asks for a library.", name=shown(place.name))
    return together(parts, "\n")


def _toml(text: str) -> dict[str, Any]:
    return read_toml(text)


def _cargo(text: str) -> list[str]:
    read = _toml(text)
    tables = [read, read.get("workspace", {}), *read.get("target", {}).values()]
    found = []
    for table in tables:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, value in table.get(kind, {}).items():
                version = value if isinstance(value, str) else value.get("version", "")
                mark = {"dev-dependencies": " (dev)", "build-dependencies": " (build)"}.get(
                    kind, ""
                )
                found.append(f"{name} {version}".strip() + mark)
    return found


def _pyproject(text: str) -> list[str]:
    read = _toml(text)
    project = read.get("project", {})
    found = list(project.get("dependencies", []))
    for name, extra in project.get("optional-dependencies", {}).items():
        found += [f"{requirement} ({name})" for requirement in extra]
    for name, group in read.get("dependency-groups", {}).items():
        found += [
            f"{requirement} ({name})" for requirement in group if isinstance(requirement, str)
        ]
    found += [f"{n} {v}" for n, v in _poetry(read).items()]
    return found


def _poetry(read: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = read.get("tool", {}).get("poetry", {}).get("dependencies", {})
    return found


def _package(text: str) -> list[str]:
    read = json.loads(text)
    marks = {
        "dependencies": "",
        "devDependencies": " (dev)",
        "peerDependencies": " (peer)",
        "optionalDependencies": " (optional)",
    }
    return [f"{n} {v}{mark}" for kind, mark in marks.items() for n, v in read.get(kind, {}).items()]


def _vcpkg(text: str) -> list[str]:
    listed = json.loads(text).get("dependencies", [])
    return [
        dependency if isinstance(dependency, str) else dependency.get("name", "")
        for dependency in listed
    ]


def _requirements(text: str) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("-")]


def _go(text: str) -> list[str]:
    return [
        f"{m[1]} {m[2]}"
        for m in re.finditer(r"^\s*(?:require\s+)?([\w./-]+\.[\w./-]+) (v\S+)", text, re.MULTILINE)
    ]


def _conan(text: str) -> list[str]:
    _, _, rest = text.partition("[requires]")
    lines = [line.strip() for line in rest.partition("[")[0].split("\n")]
    return [line for line in lines if line and not line.startswith("#")]


def _by_call(text: str) -> list[str]:
    return [match[1] for line in text.split("\n") for match in _FOUND_BY.finditer(line)]


_READERS = {
    "Cargo.toml": _cargo,
    "pyproject.toml": _pyproject,
    "package.json": _package,
    "vcpkg.json": _vcpkg,
    "go.mod": _go,
    "conanfile.txt": _conan,
    "CMakeLists.txt": _by_call,
    "meson.build": _by_call,
}
