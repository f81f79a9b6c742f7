"""What rustc and clippy suggest of a crate, applied as far as it builds.

Suggestions the compiler is sure of are taken, and a few more that a build proves: casts to the same
type, texts that end with a zero, labels, values that are never read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.crate.cargo import program
from jarvis_ls.jc2r.lift.compiler import (
    Change,
    Message,
    check,
    errors_of,
    functions_with,
    with_changes,
)
from jarvis_ls.jc2r.lift.crate_copy import CrateCopy
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first

ROUNDS = 12
"""Times that a change may open the way for another one."""
_LINTS = (
    "unused_mut",
    "unused_parens",
    "unused_unsafe",
    "unused_braces",
    "unused_labels",
    "unused_imports",
    "unused_variables",
    "unused_assignments",
)
"""Lints of rustc that are enabled, whatever the crate allows."""
_CASTS = ("clippy::ptr_as_ptr", "clippy::ptr_cast_constness")
"""Lints of clippy that are: what a cast may change is in the name of the method."""
_LAST = "unused_assignments"
"""What is changed when nothing else is to be: whether a variable needs a value, the build tells."""
_LEFT = frozenset(
    {
        "clippy::missing_safety_doc",
        "clippy::ptr_arg",
        "clippy::not_unsafe_ptr_arg_deref",
        "clippy::ptr_offset_with_cast",  # a negative distance may be in an unsigned number
        "clippy::manual_is_multiple_of",  # Rust 1.90
    }
)
"""Lints whose changes say more than the code did, or need a newer compiler."""
_NAMED = re.compile(r"`(\w+)`")
_PURE = re.compile(rb"\b(?:null|null_mut|zeroed|wrapping_\w+|offset|cast|cast_mut|cast_const)\Z")
"""Functions that only give a value."""
_DOES = (
    "assignment_expression",
    "compound_assignment_expr",
    "macro_invocation",
    "index_expression",
    "block",
    "unsafe_block",
    "return_expression",
    "try_expression",
)
"""Expressions that may do more than that."""
_Key = tuple[str, Path, int, str]
"""Lint, file, number of the function and text of a message: no place, since these move."""


def apply_suggestions(crate: CrateCopy) -> set[tuple[Path, int]]:
    """Change the files of a crate as the compiler suggests. Return the functions, by file and
    number, in which some change did not build."""
    refused: set[_Key] = set()
    for _ in range(ROUNDS):
        found = [(key, message) for key, message in _suggestions(crate) if key not in refused]
        first = min((_turn(key[0]) for key, _ in found), default=0)
        wanted = [(key, message) for key, message in found if _turn(key[0]) == first]
        start = crate.texts()
        _change(crate, [message for _, message in wanted])
        if crate.texts() == start:
            break
        errors = errors_of(check(crate.path))
        if errors:
            keys = {key for key, _ in wanted}
            blamed = _to_blame(crate, errors, keys)
            crate.restore(start)
            refused |= blamed or {key for key in keys if key[2] < 0} or keys
    return {(path, number) for _, path, number, _ in refused if number >= 0}


def _turn(lint: str) -> int:
    """Return when the changes of a lint are made: those of casts would hide texts of C from another
    lint, so they come behind it."""
    return 2 if lint == _LAST else int(lint in _CASTS)


def _to_blame(crate: CrateCopy, errors: list[Message], wanted: set[_Key]) -> set[_Key]:
    """Return the changes in functions that do not build, of variables without a value only
    those."""
    found: set[_Key] = set()
    sources = crate.sources()
    for error in errors:
        named = set(_NAMED.findall(error.text))
        for place in functions_with([error], sources):
            mine = {key for key in wanted if key[1:3] == place}
            same = {key for key in mine if named & set(_NAMED.findall(key[3]))}
            found |= same if error.code == "E0381" and same else mine
    return found


def _suggestions(crate: CrateCopy) -> Iterator[tuple[_Key, Message]]:
    by_path = {source.path: source for source in crate.sources()}
    clippy = program("cargo-clippy") is not None
    lints = (*_LINTS, *_CASTS) if clippy else _LINTS
    for message in check(crate.path, *lints, command="clippy" if clippy else "check"):
        source = by_path.get(message.path)
        if source is None or message.level != "warning" or message.code in _LEFT:
            continue
        changes = _coercion(source, message) or message.changes or _own_changes(source, message)
        if changes:
            places = functions_with([message], [source])
            number = next((number for _, number in places), -1)
            text = f"{message.text} {message.start if number < 0 else ''}"
            record = Message(
                message.path,
                message.code,
                message.level,
                message.text,
                message.start,
                message.end,
                tuple(changes),
            )
            yield (message.code, message.path, number, text), record


def _own_changes(source: Source, message: Message) -> list[Change]:
    """Return what is to be changed where the compiler only complains."""
    node = source.root.descendant_for_byte_range(message.start, message.end)
    if node is None:
        return []
    if message.code == "unused_labels":
        data, end = source.data, message.end
        while data[end : end + 1] in (b":", b" "):
            end += 1
        return [Change(message.start, end, "")]
    if message.code == "unused_unsafe":
        block = node.parent if node.type == "unsafe" else node
        body = None if block is None or block.type != "unsafe_block" else first(block)
        inner = None if body is None or body.named_child_count != 1 else first(body)
        if block is None or inner is None or not inner.type.endswith(("_expression", "_literal")):
            return []
        return [Change(block.start_byte, block.end_byte, source.text(inner).decode())]
    if message.code == "unused_assignments":
        if (statement := _assignment_of(node)) is not None:
            change = first(statement)
            value = None if change is None else field(change, "right")
            if value is None or _does_something(source, value):
                return []
            return [Change(_reason_of(source, statement).start_byte, statement.end_byte, "")]
        around = node
        while around.parent is not None and around.type != "let_declaration":
            if around.end_byte > message.end:
                return []  # what is assigned later
            around = around.parent
        kind, value = field(around, "type"), field(around, "value")
        if around.type != "let_declaration" or kind is None or value is None:
            return []
        if not _does_something(source, value):
            return [Change(kind.end_byte, value.end_byte, "")]
    return []


def _coercion(source: Source, message: Message) -> list[Change]:
    """Return the change of a cast that a pointer needs no cast for: one to change through, where
    one to read through is wanted."""
    if message.code not in _CASTS or not message.changes:
        return []
    change = message.changes[0]
    node = source.root.descendant_for_byte_range(change.start, change.end)
    value = None if node is None else field(node, "value")
    if node is None or value is None or node.type != "type_cast_expression":
        return []
    around = node.parent
    if not change.text.endswith(".cast_const()") or around is None:
        return []
    call = around.parent if around.type == "arguments" else None
    called = None if call is None else field(call, "function")
    wanted = called is not None and called.type in ("identifier", "scoped_identifier")
    if not wanted or (called is not None and source.text(called) == b"Some"):
        return []
    inner = bare(value)
    plain = inner is not None and inner.type in ("identifier", "field_expression")
    said = source.text(inner if plain and inner is not None else value)
    return [Change(change.start, change.end, said.decode())]


def _assignment_of(name: Node) -> Node | None:
    """Return the statement `name = value;` of the variable on its left side."""
    change = name if name.type == "assignment_expression" else name.parent
    if change is None or change.type != "assignment_expression":
        return None
    left, statement = field(change, "left"), change.parent
    if left is None or left.type != "identifier" or left.start_byte != name.start_byte:
        return None
    block = statement if statement is not None and statement.type == "block" else change.parent
    if block is not None and block.type == "expression_statement":
        block = block.parent
    unsafe = None if block is None or block.named_child_count != 1 else block.parent
    if unsafe is not None and unsafe.type == "unsafe_block":
        statement = unsafe.parent
    is_alone = statement is not None and statement.type == "expression_statement"
    return statement if is_alone else None


def _reason_of(source: Source, statement: Node) -> Node:
    """Return the first line of the comment that says why a statement is sound, else it."""
    before = statement.prev_named_sibling
    while before is not None and before.type == "line_comment":
        if source.text(before).startswith(b"// SAFETY"):
            return before
        before = before.prev_named_sibling
    return statement


def _does_something(source: Source, value: Node) -> bool:
    """Return whether a value may do more than to be there: call, write, or panic."""
    called = (field(call, "function") for call in below(value, "call_expression"))
    if not all(name is not None and _PURE.search(source.text(name)) for name in called):
        return True
    return next(below(value, *_DOES), None) is not None


def _change(crate: CrateCopy, warnings: Sequence[Message]) -> None:
    for path in {warning.path for warning in warnings}:
        mine = [warning for warning in warnings if warning.path == path]
        crate.write(path, with_changes(path.read_bytes(), mine))
