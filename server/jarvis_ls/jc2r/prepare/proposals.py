"""Interfaces that follow from the C alone: slices of a pointer and a length, references of pointers
to one value, methods of the type that comes first, constructors and what frees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jarvis_ls.jc2r.prepare.c_types import CType, camel, is_length, prefixes, read_type
from jarvis_ls.jc2r.translate.names import rust_name

_MAKES = re.compile(r"(?:new|create|alloc|init|open|make|clone|dup|copy)(?:_|\Z)", re.IGNORECASE)
_FREES = re.compile(r"(?:free|destroy|delete|dispose|release|close)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Interface:
    """What one C function is to be in Rust."""

    id: int
    c_name: str
    c_file: str
    start_line: int
    end_line: int
    module: str
    """`src/NAME.rs`."""
    type: str
    """The Rust type it is a function of; empty when it is of none."""
    rust_signature: str
    """From `pub fn` on, without body; empty when the types of C stay."""
    skip_implementation: bool = False
    """Whether `Drop` does what it does."""
    notes: str = ""
    source: str = "rules"
    """`rules`, `llm` or `user`."""

    @property
    def rust_symbol(self) -> str:
        """Return its name in Rust."""
        found = re.search(r"\bfn\s+(\w+)", self.rust_signature)
        return found[1] if found is not None else self.c_name


@dataclass(frozen=True, slots=True)
class Group:
    """The functions of one type, or those of one file that are of none."""

    name: str
    """The Rust type; empty for a file."""
    module: str
    c_type: str
    """As C calls it."""
    definition: str
    """The type in Rust; empty for a file."""
    interfaces: tuple[Interface, ...] = field(default_factory=tuple)
    source: str = "rules"

    @property
    def key(self) -> str:
        """Return what names it in a plan."""
        return f"{self.module}:{self.name}"


def propose(records: Sequence[dict[str, Any]]) -> list[Group]:
    """Return the functions of a symbol table by types and files, each with an interface."""
    types = {
        str(record["name"])
        for record in records
        if record["category"] == "type" and record["kind"] in ("struct", "typedef")
    }
    groups: dict[tuple[str, str], list[Interface]] = {}
    c_types: dict[str, str] = {}
    homes: dict[str, str] = {}
    for record in records:
        if record["category"] != "function" or record["name"] == "main":
            continue
        module = _module(str(record["file"]))
        owner = _owner(record, types)
        name = camel(owner) if owner else ""
        if owner:
            c_types.setdefault(name, owner)
            module = homes.setdefault(name, module)
        made = _interface(record, module, owner, types)
        groups.setdefault((module, name), []).append(made)
    return [
        Group(
            name,
            module,
            c_types.get(name, ""),
            f"pub struct {name} {{}}" if name else "",
            tuple(_distinct(made)),
        )
        for (module, name), made in sorted(groups.items())
    ]


def _module(file: str) -> str:
    return f"src/{rust_name(Path(file).stem).removeprefix('r#').lower()}.rs"


def _owner(record: dict[str, Any], types: set[str]) -> str:
    """Return the C type that a function is of: that of its first parameter, or of what it makes."""
    params = record["params"]
    first = read_type(params[0]["type"]) if params else None
    if first is not None and first.stars == 1 and first.plain and first.base in types:
        return first.base
    made = read_type(record["return_type"])
    if made.stars == 1 and made.plain and made.base in types and _is_maker(record, made.base):
        return made.base
    return ""


def _is_maker(record: dict[str, Any], owner: str) -> bool:
    return _MAKES.search(_without_prefix(str(record["name"]), owner)) is not None


def _without_prefix(name: str, owner: str) -> str:
    for prefix in sorted(prefixes(owner), key=len, reverse=True):
        if name.startswith(prefix) and name[len(prefix) :].isidentifier():
            return name[len(prefix) :]
    return name


def _interface(record: dict[str, Any], module: str, owner: str, types: set[str]) -> Interface:
    name = str(record["name"])
    short = _without_prefix(name, owner) if owner else name
    base = Interface(
        int(record["id"]),
        name,
        str(record["file"]),
        int(record["start_line"]),
        int(record["end_line"]),
        module,
        camel(owner) if owner else "",
        "",
    )
    given = _parameters(record, owner, types)
    result = _result(record, owner)
    if given is None or result is None or record["variadic"]:
        return replace(base, notes="What its pointers are does not follow from its types.")
    text = f"pub fn {rust_name(short)}({', '.join(given)}){result}"
    frees = owner and len(record["params"]) == 1 and not result and _FREES.search(short)
    notes = f"`Drop` of `{camel(owner)}` may do this." if frees else ""
    return replace(base, rust_signature=text, notes=notes)


def _parameters(record: dict[str, Any], owner: str, types: set[str]) -> list[str] | None:
    params = record["params"]
    kinds = [read_type(parameter["type"]) for parameter in params]
    found: list[str] = []
    at = 0
    while at < len(params):
        kind = kinds[at]
        name = rust_name(params[at]["name"] or f"argument_{at}")
        counted = at + 1 < len(params) and is_length(params[at + 1]["name"], kinds[at + 1])
        if not kind.plain or kind.stars > 1:
            return None
        if at == 0 and kind.stars and kind.base == owner:
            found.append("&self" if kind.const else "&mut self")
        elif kind.stars == 0:
            if not kind.scalar:
                return None
            found.append(f"{name}: {kind.scalar}")
        elif counted and (kind.scalar or kind.base == "void"):
            change = "" if kind.const else "mut "
            found.append(f"{name}: &{change}[{kind.scalar or 'u8'}]")
            at += 1
        else:
            shown = _reference(kind, types)
            if not shown:
                return None
            found.append(f"{name}: {shown}")
        at += 1
    return found


def _reference(kind: CType, types: set[str]) -> str:
    if kind.base == "char":
        return "&core::ffi::CStr" if kind.const else ""
    target = kind.scalar or (f"crate::{camel(kind.base)}" if kind.base in types else "")
    if not target:
        return ""
    return f"&{target}" if kind.const else f"&mut {target}"


def _result(record: dict[str, Any], owner: str) -> str | None:
    kind = read_type(record["return_type"])
    if kind.stars == 0 and kind.base == "void":
        return ""
    if kind.stars == 0 and kind.plain and kind.scalar:
        return f" -> {kind.scalar}"
    if kind.stars == 1 and owner and kind.base == owner and _is_maker(record, owner):
        return " -> Option<Self>"
    return None


def _distinct(made: Sequence[Interface]) -> list[Interface]:
    """Return interfaces of which no two have one name: those keep the C's."""
    taken: dict[str, int] = {}
    for interface in made:
        taken[interface.rust_symbol] = taken.get(interface.rust_symbol, 0) + 1
    return [
        interface
        if taken[interface.rust_symbol] == 1 or not interface.rust_signature
        else replace(
            interface,
            rust_signature=interface.rust_signature.replace(
                f"fn {interface.rust_symbol}(", f"fn {rust_name(interface.c_name)}(", 1
            ),
        )
        for interface in made
    ]
