"""Results of other tools, read from a SARIF 2.1.0 log.

The file may come from anywhere: what is not as the format has it is left out, and counted.
Sections are those of the OASIS standard.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types

from jarvis_ls.core.errors import SkippedFile, UsageError
from jarvis_ls.core.files import read_regular
from jarvis_ls.lsp.notes import WHOLE_LINE, Note

MAX_BYTES = 64 << 20
"""Larger logs are refused: GitHub takes 10 MB, compressed."""
MAX_RESULTS = 25_000
"""Results beyond these are counted: GitHub's limit of a run."""
_MAX_TEXT = 2_000
_MAX_NUMBER = 1 << 30
_LEVELS = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
    "none": types.DiagnosticSeverity.Hint,
}
_PLACEHOLDER = re.compile(r"\{(\d{1,3})\}")

Locate = Callable[[str], str | None]
"""Returns the key of a file of the workspace by its URI, absolute or relative to a folder; None for
any other."""


@dataclass(slots=True)
class Imported:
    """What a log has about files of the workspace."""

    tools: dict[str, dict[str, list[Note]]] = field(default_factory=dict)
    """By the name of the tool and the key of the file."""
    shown: int = 0
    """Results that are shown."""
    left_out: int = 0
    """Results without a place in a file of the workspace, suppressed there, or beyond the limit."""


def read_log(path: str, locate: Locate) -> Imported:
    """Return the results of a log. Raises `UsageError` when the file is no SARIF log."""
    try:
        log = json.loads(read_regular(Path(path), limit=MAX_BYTES))
    except SkippedFile as error:
        raise UsageError("{file}: {reason}", file=path, reason=error) from None
    except (ValueError, RecursionError):
        log = None
    if not isinstance(log, dict) or not isinstance(log.get("runs"), list):
        raise UsageError("{file} is not a SARIF log.", file=path)
    imported = Imported()
    for run in _records(log["runs"]):
        _read_run(run, locate, imported)
    return imported


def _read_run(run: dict[str, Any], locate: Locate, imported: Imported) -> None:
    driver = _record(_record(run.get("tool")).get("driver"))
    name = _text(driver.get("name"))[:60] or "SARIF"
    rules = list(_records(driver.get("rules")))
    reader = _RunReader(run, rules, locate)
    for result in _records(run.get("results")):
        found = reader.note(result) if imported.shown < MAX_RESULTS else None
        if found is None:
            imported.left_out += 1
            continue
        key, note = found
        imported.shown += 1
        imported.tools.setdefault(f"{name} (SARIF)", {}).setdefault(key, []).append(note)


class _RunReader:
    """Reads results of one run, which share rules, artifacts and base addresses."""

    def __init__(self, run: dict[str, Any], rules: list[dict[str, Any]], locate: Locate) -> None:
        self._rules = rules
        self._by_id = {_text(rule.get("id")): rule for rule in rules}
        self._artifacts = list(_records(run.get("artifacts")))
        self._bases = _record(run.get("originalUriBaseIds"))
        self._locate = locate

    def note(self, result: dict[str, Any]) -> tuple[str, Note] | None:
        """Return the file of a result and what is said there; None when it is not to be shown."""
        if result.get("kind", "fail") not in ("fail", "open", "review") or _is_suppressed(result):
            return None
        rule = self._rule(result)
        for location in _records(result.get("locations")):
            physical = _record(location.get("physicalLocation"))
            key = self._key(_record(physical.get("artifactLocation")))
            if key is not None:
                return key, self._note(result, rule, _record(physical.get("region")))
        return None

    def _note(self, result: dict[str, Any], rule: dict[str, Any], region: dict[str, Any]) -> Note:
        default = _record(rule.get("defaultConfiguration")).get("level", "warning")
        level = _LEVELS.get(str(result.get("level", default)), _LEVELS["warning"])
        code = _text(result.get("ruleId")) or _text(rule.get("id"))
        line = _number(region.get("startLine"), 1)
        end = max(line, _number(region.get("endLine"), line))
        start = _number(region.get("startColumn"), 1)
        last = _number(region.get("endColumn"), WHOLE_LINE + 1)
        return Note(
            line,
            _message(result, rule)[:_MAX_TEXT] or code,
            level,
            code,
            columns=(start - 1, max(last - 1, start) if end == line else last - 1),
            lines=end - line,
        )

    def _rule(self, result: dict[str, Any]) -> dict[str, Any]:
        """Return the description of the rule of a result: by its index, else its id (3.27.5)."""
        reference = _record(result.get("rule"))
        index = result.get("ruleIndex", reference.get("index"))
        if type(index) is int and 0 <= index < len(self._rules):
            return self._rules[index]
        return self._by_id.get(_text(result.get("ruleId")) or _text(reference.get("id")), {})

    def _key(self, place: dict[str, Any]) -> str | None:
        """Return the key of the file of an `artifactLocation` (3.4)."""
        index = place.get("index")
        if "uri" not in place and type(index) is int and 0 <= index < len(self._artifacts):
            place = _record(self._artifacts[index].get("location"))
        uri = _text(place.get("uri"))
        base = _text(_record(self._bases.get(_text(place.get("uriBaseId")))).get("uri"))
        for address in ([f"{base.rstrip('/')}/{uri}"] if base else []) + [uri]:
            key = self._locate(address) if uri else None
            if key is not None:
                return key
        return None


def _message(result: dict[str, Any], rule: dict[str, Any]) -> str:
    """Return the text of a result, with its arguments (3.11)."""
    message = _record(result.get("message"))
    strings = _record(rule.get("messageStrings"))
    text = _text(message.get("text")) or _text(
        _record(strings.get(_text(message.get("id")))).get("text")
    )
    if not text:
        text = _text(_record(rule.get("shortDescription")).get("text"))
    given = message.get("arguments")
    values = [str(value) for value in given] if isinstance(given, list) else []

    def value(match: re.Match[str]) -> str:
        at = int(match[1])
        return values[at] if at < len(values) else match[0]

    return _PLACEHOLDER.sub(value, text)


def _is_suppressed(result: dict[str, Any]) -> bool:
    """Return whether a result is suppressed: a suppression under review or rejected counts for
    nothing (3.35.3)."""
    suppressions = _records(result.get("suppressions"))
    return any(item.get("status", "accepted") == "accepted" for item in suppressions)


def _records(value: Any) -> Iterator[dict[str, Any]]:
    return (
        (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
    )


def _record(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _number(value: Any, default: int) -> int:
    return value if type(value) is int and 1 <= value <= _MAX_NUMBER else default
