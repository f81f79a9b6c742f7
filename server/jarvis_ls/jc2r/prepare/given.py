"""Interfaces that the user gives: Rust files with functions that are not implemented."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jarvis_ls.core.errors import UsageError
from jarvis_ls.jc2r.lift.rust import Source, below, field, name_of, parse_source
from jarvis_ls.jc2r.prepare.c_types import prefixes
from jarvis_ls.jc2r.prepare.proposals import Group

_LARGEST = 4_000_000


@dataclass(frozen=True, slots=True)
class _Given:
    module: str
    type: str
    name: str
    signature: str


def take_given(groups: Sequence[Group], folder: Path) -> list[Group]:
    """Return a plan in which functions have the interfaces of the Rust files below `folder`: those
    of the C name, of its spelling in small letters, or methods whose type begins the C name. Raises
    `UsageError` when there is no Rust."""
    given = [
        interface for path in sorted(folder.rglob("*.rs")) for interface in _functions(path, folder)
    ]
    if not given:
        raise UsageError("{path}: there are no functions in Rust.", path=folder)
    return [
        replace(
            group,
            interfaces=tuple(
                interface
                if (found := _find(interface.c_name, given)) is None
                else replace(
                    interface,
                    module=found.module,
                    type=found.type,
                    rust_signature=found.signature,
                    source="user",
                )
                for interface in group.interfaces
            ),
        )
        for group in groups
    ]


def _find(c_name: str, given: Sequence[_Given]) -> _Given | None:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", c_name).lower()
    for wanted in (c_name, snake):
        for interface in given:
            if interface.name == wanted:
                return interface
    for interface in given:
        if interface.type and any(
            f"{prefix}{interface.name}" in (c_name, snake) for prefix in prefixes(interface.type)
        ):
            return interface
    return None


def _functions(path: Path, folder: Path) -> Iterator[_Given]:
    if path.stat().st_size > _LARGEST:
        raise UsageError("{path}: the file is too large.", path=path)
    source = parse_source(path, path.read_bytes())
    module = f"src/{path.relative_to(folder).as_posix()}"
    for function in below(source.root, "function_item", "function_signature_item"):
        body = field(function, "body")
        end = function.end_byte if body is None else body.start_byte
        text = source.data[function.start_byte : end].decode("utf-8", "replace").strip()
        yield _Given(module, _type_of(source, function), name_of(function), text.rstrip(";"))


def _type_of(source: Source, function: object) -> str:
    node = getattr(function, "parent", None)
    while node is not None and node.type != "impl_item":
        node = node.parent
    kind = None if node is None else field(node, "type")
    return "" if kind is None else source.text(kind).decode("utf-8", "replace").partition("<")[0]
