"""`unsafe fn` becomes `fn` where everything unsafe in it is sound whoever calls it.

All functions are tried as safe ones at once; the compiler then names what is unsafe in each. A
function with something that `soundness` has no proof for stays unsafe, and with it those that call
it, until nothing changes any more. In the end single statements are in `unsafe`: those of safe
functions with what makes them sound, those of unsafe ones with what the caller has to keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift import safety
from jarvis_ls.jc2r.lift.compiler import (
    UNSAFE,
    UNSAFE_INSIDE,
    Message,
    check,
    errors_of,
    functions_with,
)
from jarvis_ls.jc2r.lift.crate_copy import CrateCopy
from jarvis_ls.jc2r.lift.program import key_of, module_of
from jarvis_ls.jc2r.lift.rust import Source, below, field, name_of
from jarvis_ls.jc2r.lift.safety_comments import reason, reason_of_caller
from jarvis_ls.jc2r.lift.soundness import Types, has_sound_blocks, proof_of, types_of
from jarvis_ls.jc2r.lift.unsafe_operations import Operation, operation_of

ROUNDS = 40
"""How often functions may be found that have to stay unsafe before all of them do."""


def make_safe(crate: CrateCopy, spared: Set[str], unsound: Set[str]) -> set[tuple[Path, str]]:
    """Make functions of a crate safe and say why; those `spared`, by name, stay as they are, those
    that are `unsound` become unsafe with those that call them. Return the functions that did not
    compile, by file and name."""
    back = unsound | _callers(crate.sources(), unsound)
    for source in crate.sources():
        crate.write(source.path, safety.with_unsafe(source, back))
    start = crate.texts()
    types = types_of(crate.sources(), crate.left_in_c())
    kept = spared | back | _bound_to_stay(crate.sources(), types)
    refused: set[tuple[Path, str]] = set()
    for _ in range(ROUNDS):
        crate.restore(start)
        kept |= _callers(crate.sources(), kept)
        for source in crate.sources():
            crate.write(source.path, safety.without_unsafe(source, kept))
        messages = errors_of(check(crate.path))
        unsafe = [message for message in messages if message.code == UNSAFE]
        unproven = _without_proof(crate.sources(), unsafe, types) - kept
        if unproven:
            kept |= unproven
            continue
        _narrow_safe(crate, unsafe, types)
        left = errors_of(check(crate.path))
        if not left:
            _narrow_unsafe(crate)
            return refused
        found = _names(crate.sources(), functions_with(left, crate.sources()))
        if not {name for _, name in found} - kept:
            break
        refused |= found
        kept |= {name for _, name in found}
    crate.restore(start)
    return refused


def unsafe_functions(crate: CrateCopy, spared: Set[str]) -> set[str]:
    """Return the functions of a crate that `make_safe` would leave unsafe; the crate stays as it
    is."""
    start = crate.texts()
    types = types_of(crate.sources(), crate.left_in_c())
    kept = {*spared, *_bound_to_stay(crate.sources(), types)}
    while True:
        crate.restore(start)
        kept |= _callers(crate.sources(), kept)
        for source in crate.sources():
            crate.write(source.path, safety.without_unsafe(source, kept))
        unsafe = [message for message in check(crate.path) if message.code == UNSAFE]
        new = _without_proof(crate.sources(), unsafe, types) - kept
        if not new:
            crate.restore(start)
            return kept
        kept |= new


def _bound_to_stay(sources: list[Source], types: Types) -> set[str]:
    """Return the unsafe functions that have type parameters, so that what they do is up to who
    calls them, and those with `unsafe` blocks of their own that nothing proves."""
    return {
        name_of(function)
        for source in sources
        for function in source.functions
        if (field(function, "type_parameters") and safety.unsafe_word(function)) is not None
        or not has_sound_blocks(source, function, types)
    }


def _callers(sources: list[Source], kept: Set[str]) -> set[str]:
    """Return the functions from which calls lead to those in `kept`."""
    called: dict[str, set[str]] = {}
    known = {
        (module_of(source), name_of(function))
        for source in sources
        for function in source.functions
    }
    for source in sources:
        for function in source.functions:
            for call in below(function, "call_expression"):
                callee = field(call, "function")
                if callee is not None and (key := key_of(source.text(callee), source)) in known:
                    called.setdefault(key[1], set()).add(name_of(function))
    found: set[str] = set()
    waiting = list(kept)
    while waiting:
        new = called.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found - {"main"}  # which C calls, and cannot be unsafe


def _without_proof(sources: list[Source], messages: list[Message], types: Types) -> set[str]:
    """Return the functions in which something is unsafe that nothing proves to be sound."""
    by_path = {source.path: source for source in sources}
    unproven = [
        message
        for message in messages
        if (source := by_path.get(message.path)) is None
        or not proof_of(source, operation_of(source, message), types)
    ]
    return {name for _, name in _names(sources, functions_with(unproven, sources))}


def _narrow_safe(crate: CrateCopy, unsafe: list[Message], types: Types) -> None:
    for _ in range(2):  # the second time for what the first hid
        for source in crate.sources():
            mine = [message for message in unsafe if message.path == source.path]
            if not mine:
                continue

            def explain(operations: list[Operation], source: Source = source) -> bytes:
                proofs = [proof_of(source, operation, types) for operation in operations]
                return reason([proof for proof in proofs if proof])

            crate.write(source.path, safety.narrow_unsafe(source, mine, explain))
        unsafe = [message for message in check(crate.path) if message.code == UNSAFE]
        if not unsafe or _without_proof(crate.sources(), unsafe, types):
            break  # what is left does not compile, and its function stays unsafe
    for source in crate.sources():
        crate.write(source.path, safety.explain_unsafe(source, types))


def _narrow_unsafe(crate: CrateCopy) -> None:
    """Say above each unsafe function what its callers have to keep, and put what is unsafe in it
    into blocks of their own, unless it does not compile so."""
    operations: dict[tuple[Path, str], list[Operation]] = {}
    for source, function, message in _inside(crate):
        found = operations.setdefault((source.path, name_of(function)), [])
        found.append(operation_of(source, message))
    for source in crate.sources():
        mine = {name: made for (path, name), made in operations.items() if path == source.path}
        crate.write(source.path, safety.demanding(source, mine))
    start = crate.texts()
    whole: set[tuple[Path, str]] = set()
    for _ in range(ROUNDS):
        for _ in range(2):  # the second time for what the first hid
            _narrow_once(crate, whole)
        left = errors_of(check(crate.path))
        if not left:
            return
        crate.restore(start)
        found_in = _names(crate.sources(), functions_with(left, crate.sources()))
        if not found_in - whole:
            return
        whole |= found_in


def _narrow_once(crate: CrateCopy, whole: Set[tuple[Path, str]]) -> None:
    by_file: dict[Path, list[Message]] = {}
    for source, function, message in _inside(crate):
        if (source.path, name_of(function)) not in whole:
            by_file.setdefault(source.path, []).append(message)
    for source in crate.sources():
        if source.path not in by_file:
            continue

        def explain(operations: list[Operation], source: Source = source) -> bytes:
            node: Node | None = operations[0].node
            while node is not None and node.type != "function_item":
                node = node.parent
            return b"" if node is None else reason_of_caller(source, node, operations)

        text = safety.narrow_unsafe(source, by_file[source.path], explain)
        crate.write(source.path, text)


def _inside(crate: CrateCopy) -> Iterator[tuple[Source, Node, Message]]:
    """Yield what is unsafe in unsafe functions outside of `unsafe` blocks, with its function."""
    messages = [message for message in check(crate.path, UNSAFE_INSIDE) if message.code == UNSAFE]
    for source in crate.sources():
        mine = [message for message in messages if message.path == source.path]
        for function in source.functions:
            for message in mine:
                if function.start_byte <= message.start < function.end_byte:
                    yield source, function, message


def _names(sources: list[Source], found: set[tuple[Path, int]]) -> set[tuple[Path, str]]:
    by_path = {source.path: source for source in sources}
    return {(path, name_of(by_path[path].functions[number])) for path, number in found}
