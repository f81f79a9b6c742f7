"""Write the JSON schemas of `.jarvis/jsec.toml` and of the user's `config.toml`.

    python scripts/settings_schema.py            write them
    python scripts/settings_schema.py --check    fail when they are not up to date

The second is in `user_schema.py`. The keys of the first are those that the reader takes, with what
each is checked by; a check without a schema here is an error. `jsec init` lays the schema beside
the settings.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, get_args

from schema_text import Schema, sentence_under, whole
from user_schema import user_schema

from jarvis_ls.assembly.settings_file import SCHEMA as USER_SCHEMA
from jarvis_ls.cli.init_project import SCHEMA
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.core.finding import SEVERITIES
from jarvis_ls.jsec.flow.library import user_models
from jarvis_ls.jsec.rules.registry import all_rules
from jarvis_ls.jsec.settings import settings, value_reader

TABLES: dict[str, tuple[type, dict[str, str]]] = {
    "": (settings.Settings, {"rules": "rules", "pattern": "patterns"}),
    "paths": (settings.PathRules, {}),
    "pattern": (settings.Pattern, {}),
    "source": (user_models.OwnFunction, {"returns": "gives"}),
    "sink": (user_models.OwnFunction, {"kind": "danger"}),
    "sanitizer": (user_models.OwnFunction, {}),
}
"""The record behind each table, and the fields whose keys have other names."""


def levels() -> Schema:
    """Return the schema of a table of rules: their names are completed, patterns are allowed."""
    level = {"enum": list(get_args(value_reader.Level))}
    named = {rule.id: {**level, "description": rule.title} for rule in all_rules().values()}
    return {"type": "object", "properties": named, "additionalProperties": level}


CHECKS: dict[Callable[[Any], Any], Callable[[], Schema]] = {
    value_reader.text: lambda: {"type": "string"},
    value_reader.flag: lambda: {"type": "boolean"},
    value_reader.texts: lambda: {"type": "array", "items": {"type": "string"}},
    value_reader.share: lambda: {"type": "number", "minimum": 0, "maximum": 1},
    value_reader.size: lambda: {"type": "integer", "minimum": 1, "maximum": 1 << 30},
    value_reader.levels: lambda: {"$ref": "#/definitions/rules"},
    value_reader.severity: lambda: {"enum": list(SEVERITIES)},
    value_reader.languages: lambda: {
        "type": "array",
        "minItems": 1,
        "items": {"enum": list(get_args(LanguageName))},
    },
    value_reader.numbers: lambda: {
        "anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "array", "items": {"type": "integer", "minimum": 1}},
        ]
    },
    value_reader.position: lambda: {"type": "integer", "minimum": 1, "maximum": 99},
    value_reader.name: lambda: {"type": "string", "pattern": r"^[^\s.:]+$"},
    value_reader.identifier: lambda: {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,80}$"},
    value_reader.regex: lambda: {"type": "string"},
}


class Recorder:
    """Notes what is taken from a table instead of reading one."""

    def __init__(self, table: str, present: bool) -> None:
        """`present` says whether optional arguments are there: some keys depend on them."""
        self._table = table
        self._present = present
        self.schema: Schema = {"type": "object", "properties": {}, "additionalProperties": False}

    def take(self, key: str, check: Callable[[Any], Any], default: Any) -> Any:
        """Note a key."""
        schema = _of_check(check)
        if text := _description(self._table, key):
            schema["description"] = text
        self.schema["properties"][key] = schema
        return 1 if self._present and check is value_reader.position else default

    def need(self, key: str, check: Callable[[Any], Any]) -> Any:
        """Note a key that must be there."""
        self.take(key, check, None)
        required = self.schema.setdefault("required", [])
        if key not in required:
            required.append(key)
        return "x"

    def tables(self, key: str, make: Callable[[str, Any], Any]) -> tuple[()]:
        """Note tables with names of the user's."""
        inner = self._inside(key, lambda recorder: make("x", recorder))
        self._note(key, {"type": "object", "additionalProperties": inner})
        return ()

    def list_of_tables(self, key: str, make: Callable[[Any], Any]) -> tuple[()]:
        """Note a list of tables."""
        self._note(key, {"type": "array", "items": self._inside(key, make)})
        return ()

    def finish(self) -> None:
        """Leave what was not taken: there is nothing."""

    def _note(self, key: str, schema: Schema) -> None:
        text = _description("", key)
        self.schema["properties"][key] = {**schema, **({"description": text} if text else {})}

    def _inside(self, table: str, make: Callable[[Any], Any]) -> Schema:
        schema: Schema = {}
        for present in (False, True):
            recorder = Recorder(table, present)
            make(recorder)
            if schema:
                schema["properties"].update(recorder.schema["properties"])
            else:
                schema = recorder.schema
        return schema


def _of_check(check: Callable[[Any], Any]) -> Schema:
    if check in CHECKS:
        return CHECKS[check]()
    allowed = inspect.getclosurevars(check).nonlocals.get("allowed")
    if allowed is None:
        raise KeyError(f"no schema is known for {check.__name__}")
    return {"enum": list(allowed)}


def _description(table: str, key: str) -> str:
    """Return the sentence under the field that a key fills."""
    record, renamed = TABLES[table]
    return sentence_under(record, renamed.get(key, key))


def schema() -> str:
    """Return the schema as JSON."""
    recorder = Recorder("", False)
    value_reader.Reader = lambda *_: recorder  # type: ignore[assignment,misc]
    settings.settings_from({}, "")
    return whole(
        "Settings of jsec",
        "What a project wants of jsec: .jarvis/jsec.toml",
        {"definitions": {"rules": levels()}, **recorder.schema},
    )


def main() -> int:
    """Write or check the schemas; the status is 1 when a check finds a difference."""
    status = 0
    for file, wanted in ((USER_SCHEMA, user_schema()), (SCHEMA, schema())):
        if "--check" not in sys.argv:
            file.write_text(wanted, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != wanted:
            print(f"{file.name} is out of date; run python scripts/settings_schema.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
