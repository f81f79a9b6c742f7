"""Pointers that are only looked through become references.

A parameter `p: *mut T` becomes `p: &mut T` when all that is done with it is `(*p).field`, `*p`, or
handing it to a parameter that is one too, and when it is looked through on every way through the
function: then it is never null, never moved along an array, and never kept. A reference is handed
over like a pointer, so callers in C need not know. Functions whose address is taken keep theirs.
"""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.aliases import ReferenceCandidate, part
from jarvis_ls.jc2r.lift.certain_uses import is_certainly_used
from jarvis_ls.jc2r.lift.program import Key, addresses, is_exported, key_of, lent_from_c, module_of
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, name_of, rewritten

_SCALARS = frozenset({b"u8", b"i8", b"core::ffi::c_void"})


def references(sources: list[Source], excluded: set[str]) -> dict[int, bytes]:
    """Return new texts by the index of their file; functions whose names are `excluded` stay."""
    known = _candidates(sources, excluded)
    _settle(sources, known)
    chosen = {name: function for name, function in known.items() if function.pointed}
    made = {}
    for number, source in enumerate(sources):
        if chosen and (new := _text(source, chosen)) != source.data:
            made[number] = new
    return made


def _candidates(sources: list[Source], excluded: set[str]) -> dict[Key, ReferenceCandidate]:
    known: dict[Key, ReferenceCandidate] = {}
    for number, source in enumerate(sources):
        for node in source.functions:
            name = name_of(node)
            # C may call it with a null pointer, or twice the same
            stays = name in excluded or is_exported(source, node)
            known[module_of(source), name] = _describe(number, node, source, stays)
    for key in addresses(sources):
        if key in known:
            known[key].pointed.clear()
    part(sources, known)
    return known


def _describe(number: int, node: Node, source: Source, excluded: bool) -> ReferenceCandidate:
    found = ReferenceCandidate(number, node, [], [])
    parameters = field(node, "parameters")
    for place, parameter in enumerate(() if parameters is None else below(parameters, "parameter")):
        pattern, kind = field(parameter, "pattern"), field(parameter, "type")
        plain = pattern is not None and pattern.type == "identifier" and pattern.text is not None
        found.parameters.append(pattern.text.decode() if plain else "")  # type: ignore[union-attr]
        found.types.append(b"" if kind is None else source.text(kind))
        target = None if kind is None or kind.type != "pointer_type" else field(kind, "type")
        if target is None or not plain or source.text(target) in _SCALARS:
            continue  # bytes are walked over more often than not
        found.pointed.add(place)
    if excluded:
        found.pointed.clear()
    return found


def _settle(sources: list[Source], known: dict[Key, ReferenceCandidate]) -> None:
    """Take away what cannot be, until nothing more goes."""
    changed = True
    while changed:
        changed = False
        for function in known.values():
            for place in sorted(function.pointed):
                if not _only_looked_through(function, place, sources[function.file], known):
                    function.pointed.discard(place)
                    changed = True


def _only_looked_through(
    function: ReferenceCandidate, place: int, source: Source, known: dict[Key, ReferenceCandidate]
) -> bool:
    name = function.parameters[place].encode()
    body = field(function.node, "body")
    if body is None:
        return False
    for node in below(body, "identifier", "let_declaration"):
        if node.type == "let_declaration":
            pattern = field(node, "pattern")
            if pattern is not None and source.text(pattern) == name:
                return False  # another variable of that name
        elif source.text(node) == name and not _fits(node, source, known):
            return False
    return is_certainly_used(source, body, lambda node: source.text(node) == name)


def _fits(node: Node, source: Source, known: dict[Key, ReferenceCandidate]) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "unary_expression" and parent.children[0].type == "*":
        whole = parent
        while whole.parent is not None and whole.parent.type == "parenthesized_expression":
            whole = whole.parent
        return whole.parent is not None and whole.parent.type != "reference_expression"
    return _is_handed_on(node, source, known)


def _is_handed_on(node: Node, source: Source, known: dict[Key, ReferenceCandidate]) -> bool:
    """Return whether the name is an argument for a parameter that may be a reference."""
    whole = node
    while whole.parent is not None and whole.parent.type == "parenthesized_expression":
        whole = whole.parent
    arguments = whole.parent
    if arguments is None or arguments.type != "arguments" or arguments.parent is None:
        return False
    called = _callee(arguments.parent, source, known)
    return called is not None and list(arguments.named_children).index(whole) in called.pointed


def _callee(
    call: Node, source: Source, known: dict[Key, ReferenceCandidate]
) -> ReferenceCandidate | None:
    function = field(call, "function")
    if function is None or function.type not in ("identifier", "scoped_identifier"):
        return None
    return known.get(key_of(source.text(function), source))


def _text(source: Source, chosen: dict[Key, ReferenceCandidate]) -> bytes:
    """Return the file with its functions and calls in the new form, also those that C would
    make.
    """
    text = source.with_functions(
        lambda _, function: _function(
            source, function, chosen.get((module_of(source), name_of(function))), chosen
        )
    )
    for (module, name), known in chosen.items():
        if module == module_of(source):
            lent = {
                place: b"&mut *" if known.types[place].startswith(b"*mut") else b"&*"
                for place in known.pointed
            }
            text = lent_from_c(text, name, lent)
    return text


def _function(
    source: Source,
    function: Node,
    own: ReferenceCandidate | None,
    chosen: dict[Key, ReferenceCandidate],
) -> bytes:
    references = set() if own is None else {own.parameters[place] for place in own.pointed}

    def rule(node: Node, say: Say) -> bytes | None:
        if (
            node.type == "parameter"
            and own is not None
            and node.parent is not None
            and (node.parent.parent == function)
        ):
            pattern, kind = field(node, "pattern"), field(node, "type")
            if pattern is None or kind is None or source.text(pattern).decode() not in references:
                return None
            target = field(kind, "type")
            changing = b"*mut" in source.text(kind)[:4]
            head = b"&mut " if changing else b"&"
            return (
                source.text(pattern)
                + b": "
                + head
                + (b"" if target is None else source.text(target))
            )
        if node.type == "call_expression":
            return _call(node, source, references, chosen, say)
        return None

    return rewritten(source.data, function, rule)


def _call(
    node: Node,
    source: Source,
    references: Iterable[str],
    chosen: dict[Key, ReferenceCandidate],
    say: Say,
) -> bytes | None:
    called = _callee(node, source, chosen)
    arguments, function = field(node, "arguments"), field(node, "function")
    if called is None or arguments is None or function is None:
        return None
    said = []
    for place, argument in enumerate(arguments.named_children):
        text = say(argument)
        inner = bare(argument)
        if place in called.pointed and inner is not None:
            plain = source.text(inner).decode("utf-8", "replace")
            changing = called.types[place].startswith(b"*mut")
            if not (inner.type == "identifier" and plain in references):
                text = _borrow(inner, text, source, changing)
        said.append(text)
    return say(function) + b"(" + b", ".join(said) + b")"


def _borrow(argument: Node, text: bytes, source: Source, changing: bool) -> bytes:
    """Return a reference from what was a pointer."""
    head = b"&mut " if changing else b"&"
    taken = argument
    if taken.type == "type_cast_expression":
        taken = bare(field(taken, "value")) or taken
    if taken.type == "reference_expression" and (value := field(taken, "value")) is not None:
        return head + source.text(value)
    return (
        head
        + b"*"
        + (text if argument.type in ("identifier", "field_expression") else b"(" + text + b")")
    )
