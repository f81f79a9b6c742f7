"""A crate that does not build is made to: what rustc rejects stays in C, and is listed.

No translator knows every program. A function that rustc does not take is left in C like any other
that cannot be translated, a program that does not link is left out, and the rest still builds.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.jc2r.build.compile_commands import Unit
from jarvis_ls.jc2r.build.machine_probes import in_library
from jarvis_ls.jc2r.translate.crate import Translated, build, translate
from jarvis_ls.jc2r.translate.linking import providers
from jarvis_ls.jc2r.translate.names import rust_name
from jarvis_ls.jc2r.translate.output import Module, Stays

ROUNDS = 8
UNLINKED = "its program is not linked"
"""Begins the reason why a program is left out that something is missing for."""
_ERROR = re.compile(r"^error(?:\[E\d+\])?: (.*)\n\s+--> (src/[^\n:]+):(\d+):", re.MULTILINE)
_FUNCTION = re.compile(r'(?:pub )?unsafe extern "C" fn (\S+?)\(')
_ITEM = re.compile(r"(?:pub )?static |(?:pub )?const |std::thread_local")
_UNLINKED = re.compile(r'error: could not compile `[^`]*` \(bin "([^"]+)"\)')
_MISSING = re.compile(r"undefined (?:symbol: |reference to `)([\w.@]+)")
_LINKED = re.compile(r'"-o" "[^"]*/([^"/]+)-[0-9a-f]{16}"')
"""Names the program in what is said of its linking."""
_DOUBLED = re.compile(r"duplicate symbol: (\w+)|multiple definition of `(\w+)'")
_COMPILED = re.compile(r'"c/([^"]+)" "-o"')


@dataclass
class Refused:
    """What a build did not take, with the reason."""

    functions: dict[tuple[str, str], str] = field(default_factory=dict)
    """By file and name; an empty name represents all of a file."""
    programs: dict[str, str] = field(default_factory=dict)
    """Files that are left out."""
    unlinked: dict[str, str] = field(default_factory=dict)
    """Files of which no program is made."""

    libraries: list[str] = field(default_factory=list)
    """What programs must be linked with besides; nothing is refused for that."""

    @property
    def count(self) -> int:
        """Return how much it is."""
        return len(self.functions) + len(self.programs) + len(self.unlinked) + len(self.libraries)

    def stays(self, wanted: Stays) -> Stays:
        """Return the same as `wanted`, and what was refused."""

        def why(file: str, name: str) -> str:
            return (
                wanted(file, name)
                or self.functions.get((file, name), "")
                or self.functions.get((file, ""), "")
            )

        return why


def settle(
    root: Path,
    units: Sequence[Unit],
    folder: Path,
    linked: Sequence[str],
    stays: Stays,
    failed: subprocess.CompletedProcess[str],
    found: Translated | None = None,
) -> tuple[Translated, subprocess.CompletedProcess[str]]:
    """Translate again without what the build of `found` `failed` for, until it does not; `found` is
    None when another run translated.

    Gives what the last translation did and its build.
    """
    refused = Refused()
    built = failed
    found = found or translate(root, units, folder, linked, stays)
    for _ in range(ROUNDS):
        if not _learn(refused, found, built.stderr):
            break
        found = translate(
            root,
            units,
            folder,
            [*linked, *refused.libraries],
            refused.stays(stays),
            without=refused.programs,
            unlinked=refused.unlinked,
        )
        built = build(folder)
        if built.returncode == 0:
            break
    return found, built


def _learn(refused: Refused, found: Translated, said: str) -> bool:
    """Take in what a build said; False when that was nothing new."""
    before = refused.count
    modules = {module.name: module for module in found.modules}
    for match in _ERROR.finditer(said):
        module = modules.get(Path(match[2]).stem)
        if module is not None:
            name = _function_at(found.folder / match[2], int(match[3]), module)
            key = (module.file, name)
            refused.functions.setdefault(key, f"rustc does not take it: {match[1]}")
    for match in _COMPILED.finditer(said):
        if match[1] in {module.file for module in found.modules}:
            _refuse_remainder(refused, match[1])
    if refused.count == before:
        missing = _MISSING.findall(said)
        refused.libraries += [
            provider for provider in providers(missing) if provider not in refused.libraries
        ]
        if refused.count != before:
            return True
        doubled = _DOUBLED.search(said)
        said_of = _said_of(said)
        refused.programs.update(
            (module.file, f"nothing here needs it, and {said_of}")
            for module in _not_needed(modules, missing)
        )
        if refused.count != before:
            return True
        own = _said_of_programs(said)
        for match in _UNLINKED.finditer(said):
            module = modules.get(match[1])
            if module is not None and (missing or doubled):
                of_it = own.get(match[1].replace("-", "_"), "") or said_of
                refused.unlinked[module.file] = f"{UNLINKED}: {of_it}"
    return refused.count != before


def _said_of(said: str) -> str:
    """Return which symbols are missing, or else doubled, in what a linker said."""
    missing = _MISSING.findall(said)
    names = missing or [name or other for name, other in _DOUBLED.findall(said)]
    return f"{', '.join(dict.fromkeys(names))} {'is not there' if missing else 'is there twice'}"


def _said_of_programs(said: str) -> dict[str, str]:
    """Return the same by program; cargo links several at a time and tells of all."""
    found = {}
    for part in said.split("error: linking with ")[1:]:
        linked = _LINKED.search(part)
        if linked and (_MISSING.search(part) or _DOUBLED.search(part)):
            found[linked[1].replace("-", "_")] = _said_of(part)
    return found


def _not_needed(modules: Mapping[str, Module], missing: Sequence[str]) -> list[Module]:
    """Files that call what is `missing` and that no program has to be linked with: what others
    want of them the C library has as well. Such are written for other systems."""
    found = []
    for module in modules.values():
        text = "\n".join(module.items)
        if module.has_main or not any(re.search(rf"\bsys::{name}\b", text) for name in missing):
            continue
        used = re.compile(rf"\b{re.escape(module.name)}::(?:r#)?(\w+)")
        wanted = {
            name
            for other in modules.values()
            if other is not module
            for item in other.items
            for name in used.findall(item)
        }
        if wanted <= in_library(sorted(wanted)):
            found.append(module)
    return found


def _refuse_remainder(refused: Refused, file: str) -> None:
    """Keep a file whole in C, since the rest of it does not compile."""
    if (file, "") in refused.functions:
        refused.programs[file] = "what is left of it in C does not compile"
    else:
        refused.functions[file, ""] = "what would be left of it in C does not compile"


def _function_at(path: Path, line: int, module: Module) -> str:
    """Return the C function a line of Rust belongs to; empty when it belongs to none."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    known = {rust_name(name): name for name in module.functions} | {"main_0": "main"}
    for text in reversed(lines[:line]):
        match = _FUNCTION.match(text)
        if match is not None:
            name = match[1].removesuffix("__listed")
            return known.get(name, known.get(f"r#{name}", ""))
        if _ITEM.match(text):
            return ""
    return ""
