"""Writes the TypeScript of the wire: ``client-vscode/src/protocol.ts`` from
:mod:`jarvis_ls.lsp.protocol.extensions` and :mod:`jarvis_ls.lsp.protocol.migration`, and
``client-vscode/src/panel-protocol.ts`` from :mod:`jarvis_ls.lsp.protocol.panel`,
:mod:`jarvis_ls.lsp.protocol.panel_host` and the events of the runtime.

Run ``python -m jarvis_ls.lsp.protocol.typescript`` in a checkout; with ``--check`` nothing is
written and the status is 1 when a file is out of date.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
from lsprotocol.types import ProgressToken

from jarvis_ls.lsp.protocol import apply_code, extensions, migration, model_setup, panel, panel_host
from jarvis_ls.runtime.base import events, messages

FOLDER = Path(__file__).resolve().parents[4] / "client-vscode" / "src"
IMPORTED = ("Range", "WorkspaceEdit")
SOURCES = (extensions, migration)
ALIASES = {
    name: value
    for module in SOURCES
    for name, value in vars(module).items()
    if typing.get_origin(value) is Literal
}
PANEL_ALIASES = {
    name: value
    for module in (events, panel, panel_host)
    for name, value in vars(module).items()
    if typing.get_origin(value) is Literal
}
"""Names of values, such as `NodeState`."""
PANEL_UNIONS = {
    "Entry": events.Entry,
    "Event": events.Event,
    "Ask": panel.Ask,
    "HostAsk": panel_host.HostAsk,
    "HostTell": panel_host.HostTell,
    "PageAsk": panel_host.PageAsk,
}
"""Names of unions whose members their `kind` tells apart."""
WIDTH = 100
"""Of a line, for the formatter."""
PRIMITIVES = {str: "string", int: "number", float: "number", bool: "boolean"}


def main(argv: list[str] | None = None) -> int:
    """Write the file, or compare it with ``--check``; return the exit status."""
    parser = argparse.ArgumentParser(description="Generate client-vscode/src/protocol.ts")
    parser.add_argument("--check", action="store_true", help="only compare")
    check = parser.parse_args(argv).check
    outdated = [name for name, text in generate_files().items() if _read(name) != text]
    if not check:
        for name in outdated:
            (FOLDER / name).write_text(generate_files()[name], encoding="utf-8", newline="\n")
        return 0
    for name in outdated:
        print(f"client-vscode/src/{name} is out of date: run", file=sys.stderr)
        print("  python -m jarvis_ls.lsp.protocol.typescript", file=sys.stderr)
    return 1 if outdated else 0


def generate_files() -> dict[str, str]:
    """Return the files by name."""
    return {"protocol.ts": generate(), "panel-protocol.ts": generate_panel()}


def _read(name: str) -> str | None:
    file = FOLDER / name
    return file.read_text(encoding="utf-8") if file.is_file() else None


def generate() -> str:
    """Return the TypeScript text, already in the layout of the formatter."""
    parts = [
        *_head("extensions.py"),
        "import type { ProgressToken, Range, WorkspaceEdit } from 'vscode-languageclient/node';",
        "import type { PanelEvents } from './panel-protocol';",
        "",
    ]
    for module in SOURCES:
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, str):
                parts.append(f"export const {name} = '{value}';")
    parts.append("")
    parts += [_alias(name, _values(kind)) for name, kind in ALIASES.items()]
    for cls in _classes():
        parts += ["", *_interface(cls)]
    parts += ["", *_defaults()]
    parts += ["", "/** Requests from client to server. */", "export interface Requests {"]
    for method, (params, result) in extensions.REQUESTS.items():
        pair = f"params: {_type(params)}; result: {_type(result)}"
        parts.append(f"  '{method}': {{ {pair} }};")
    parts += [
        "}",
        "",
        "/** Requests from server to client. */",
        "export interface ClientRequests {",
    ]
    for method, (params, result) in extensions.CLIENT_REQUESTS.items():
        parts.append(f"  '{method}': {{ params: {_type(params)}; result: {_type(result)} }};")
    parts += ["}", "", "/** Notifications from server to client. */"]
    parts.append("export interface Notifications {")
    parts += [f"  '{method}': {_type(cls)};" for method, cls in extensions.NOTIFICATIONS.items()]
    parts.append(f"  '{extensions.PANEL_EVENTS}': PanelEvents;")
    return "\n".join([*parts, "}", ""])


def generate_panel() -> str:
    """Return what only the panel says: the runtime's records, asks and answers."""
    parts = _head("panel.py")
    parts += [_alias(name, _values(kind)) for name, kind in PANEL_ALIASES.items()]
    for cls in _records():
        parts += ["", *_record(cls)]
    for name, union in PANEL_UNIONS.items():
        parts += ["", _alias(name, [member.__name__ for member in typing.get_args(union)])]
    answers = {**panel.ANSWERS, **panel_host.HOST_ANSWERS}
    parts += ["", "/** What each ask is answered with, by its `kind`. */"]
    parts.append("export interface AskAnswers {")
    parts += [f"  {_kind(ask)}: {answer.__name__};" for ask, answer in answers.items()]
    return "\n".join([*parts, "}", ""])


def _head(source: str) -> list[str]:
    return [
        f"// Generated from server/jarvis_ls/lsp/protocol/{source}; do not edit.",
        "// Regenerate it with `python -m jarvis_ls.lsp.protocol.typescript`.",
        "",
    ]


def _records() -> list[type]:
    """Return the panel's records, what they are made of first; messages of models are not among
    them.
    """
    used = (messages.Image, messages.Usage)
    return [
        *used,
        *(
            value
            for module in (events, panel, panel_host, model_setup, apply_code)
            for value in vars(module).values()
            if inspect.isclass(value)
            and dataclasses.is_dataclass(value)
            and value.__module__ == module.__name__
            and not value.__name__.startswith("_")
        ),
    ]


def _record(cls: Any) -> list[str]:
    lines = [f"/** {inspect.getdoc(cls)} */"]
    fields = dataclasses.fields(cls)
    if not fields:
        return [*lines, f"export type {cls.__name__} = Record<string, never>;"]
    lines.append(f"export interface {cls.__name__} {{")
    hints, documents = typing.get_type_hints(cls), _field_documents(cls)
    for field in fields:
        hint, optional = _without_none(hints[field.name])
        mark = "?" if optional or (_is_sent(cls) and _may_be_left_out(field)) else ""
        if field.name in documents:
            lines.append(f"  /** {documents[field.name]} */")
        lines.append(f"  {extensions.camel_case(field.name)}{mark}: {_type(hint)};")
    return [*lines, "}"]


def _is_sent(cls: type) -> bool:
    """Return whether it is the page that makes such a record, which may leave defaults out."""
    asks = (*panel.ANSWERS, *panel_host.HOST_ANSWERS)
    return cls in asks or cls is panel.Attachment


def _may_be_left_out(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    has_default = field.default is not missing or field.default_factory is not missing
    return has_default and field.name != "kind"


def _kind(ask: Any) -> str:
    return str(next(field.default for field in dataclasses.fields(ask) if field.name == "kind"))


def _alias(name: str, members: Sequence[str]) -> str:
    """Return a name for one of `members`, broken where the formatter would."""
    line = f"export type {name} = {' | '.join(members)};"
    if len(line) <= WIDTH:
        return line
    return f"export type {name} =\n  | " + "\n  | ".join(members) + ";"


def _values(kind: object) -> list[str]:
    return [f"'{value}'" for value in typing.get_args(kind)]


def _classes() -> list[type[attrs.AttrsInstance]]:
    return [
        value
        for module in SOURCES
        for value in vars(module).values()
        if inspect.isclass(value) and attrs.has(value) and value.__module__ == module.__name__
    ]


def _interface(cls: type[attrs.AttrsInstance]) -> list[str]:
    base = cls.__bases__[0]
    extends = f" extends {base.__name__}" if attrs.has(base) else ""
    own = [field for field in attrs.fields(cls) if not field.inherited]
    lines = [f"/** {inspect.getdoc(cls)} */"]
    if not own:
        return [*lines, f"export type {cls.__name__} = Record<string, never>;"]
    lines.append(f"export interface {cls.__name__}{extends} {{")
    hints = typing.get_type_hints(cls)
    documents = _field_documents(cls)
    for field in own:
        hint, optional = _without_none(hints[field.name])
        mark = "?" if optional else ""
        lines.append(f"  /** {documents[field.name]} */")
        lines.append(f"  {extensions.camel_case(field.name)}{mark}: {_type(hint)};")
    return [*lines, "}"]


def _field_documents(cls: type) -> dict[str, str]:
    """Return the string below each field: attrs keeps none, so the source is read."""
    definition = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(definition, ast.ClassDef)
    documents: dict[str, str] = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            documents[field.target.id] = inspect.cleandoc(str(below.value.value))
    return documents


def _defaults() -> list[str]:
    lines = [
        "/** What the server assumes for a setting that is not sent. */",
        "export const DEFAULT_SETTINGS: Settings = {",
    ]
    for field in attrs.fields(extensions.Settings):
        default = getattr(extensions.Settings(), field.name)
        text = str(default).lower() if isinstance(default, bool) else repr(default)
        lines.append(f"  {extensions.camel_case(field.name)}: {text.removesuffix('.0')},")
    return [*lines, "};"]


def _without_none(hint: object) -> tuple[object, bool]:
    if hint == ProgressToken | None:
        return ProgressToken, True
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        if len(members) == 1:
            return members[0], True
    return hint, False


def _type(hint: object) -> str:
    if isinstance(hint, type) and hint in PRIMITIVES:
        return PRIMITIVES[hint]
    if hint == ProgressToken:
        return "ProgressToken"
    for name, kind in [*ALIASES.items(), *PANEL_ALIASES.items(), *PANEL_UNIONS.items()]:
        if hint == kind:
            return name
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return "unknown"
    if origin is Literal:
        return " | ".join(_values(hint))
    if origin is list or (origin is tuple and args[1:] == (...,)):
        return f"{_type(args[0])}[]"
    if origin is dict:
        return f"Record<{_type(args[0])}, {_type(args[1])}>"
    if isinstance(hint, type) and (
        attrs.has(hint) or dataclasses.is_dataclass(hint) or hint.__name__ in IMPORTED
    ):
        return hint.__name__
    raise TypeError(f"no TypeScript form for {hint!r}")


if __name__ == "__main__":
    sys.exit(main())
