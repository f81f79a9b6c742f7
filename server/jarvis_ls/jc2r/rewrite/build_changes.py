"""How a crate is built, compared: dependencies, lints, scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_ls.jc2r.rewrite.rules import Rule, Violation
from jarvis_ls.runtime.base.toml_files import parse_toml

_MANIFEST = "Cargo.toml"
_TABLES = ("dependencies", "build-dependencies")
_LEVELS = ("allow", "warn", "deny", "forbid")


def find_build_changes(
    before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> Iterator[Violation]:
    """Yield what is different in the files that say how a crate is built, by path."""
    for path in sorted({*before, *after} - {_MANIFEST}):
        if before.get(path) != after.get(path):
            yield Violation(Rule.BUILD, path, 0, path)
    old, new = _manifest(before), _manifest(after)
    if new is None or old is None:
        if before.get(_MANIFEST) != after.get(_MANIFEST):
            yield Violation(Rule.BUILD, _MANIFEST, 0, _MANIFEST)
        return
    known = _dependencies(old)
    for name, wanted in _dependencies(new).items():
        if known.get(name) != wanted:
            yield Violation(Rule.DEPENDENCY, _MANIFEST, 0, name)
    lints = _lints(new)
    for lint, level in _lints(old).items():
        if lints.get(lint, 0) < level:
            yield Violation(Rule.ALLOWED_LINT, _MANIFEST, 0, lint)
    for lint, level in lints.items():
        if level == 0 and lint not in _lints(old):
            yield Violation(Rule.ALLOWED_LINT, _MANIFEST, 0, lint)


def _manifest(files: Mapping[str, bytes]) -> dict[str, Any] | None:
    try:
        data = parse_toml(files.get(_MANIFEST, b""))
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _dependencies(manifest: Mapping[str, Any]) -> dict[str, Any]:
    targets = manifest.get("target")
    places = [manifest, *(targets.values() if isinstance(targets, dict) else ())]
    found: dict[str, Any] = {}
    for place in places:
        for table in _TABLES:
            values = place.get(table) if isinstance(place, dict) else None
            found.update(values if isinstance(values, dict) else {})
    patch = manifest.get("patch")
    return {**found, **({"patch": patch} if patch else {})}


def _lints(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return the level of each lint: 0 allows it."""
    found = {}
    tables = manifest.get("lints")
    for tool, lints in tables.items() if isinstance(tables, dict) else ():
        for name, value in lints.items() if isinstance(lints, dict) else ():
            level = value.get("level") if isinstance(value, dict) else value
            if level in _LEVELS:
                found[f"{tool}::{name}"] = _LEVELS.index(level)
    return found
