"""Pointers that are only looked through become references.

A parameter `p: *mut T` becomes `p: &mut T` when all that is done with it is `(*p).field`, `*p`, or
handing it to a parameter that is one too, and when it is looked through on every way through the
function: then it is never null, never moved along an array, and never kept. A reference is handed
over like a pointer, so callers in C need not know. Functions whose address is taken keep theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field as data_field

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.aliases import part
from jarvis_ls.jc2r.lift.program import Key, addresses, key_of, lent_from_c, module_of
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, name_of, rewritten

_SCALARS = frozenset({b"u8", b"i8", b"core::ffi::c_void"})
MACHINE = b"__block"
"""The state of a machine, which begins with 0."""
_LEAVING = frozenset({"return_expression", "break_expression", "continue_expression"})


@dataclass
class Known:
    """A function that may take references."""

    file: int
    node: Node
    parameters: list[str]
    """Names, in order; empty for patterns."""
    types: list[bytes]
    pointed: set[int] = data_field(default_factory=set)
    """Places of parameters that may become references."""


def references(sources: list[Source], excluded: set[str]) -> dict[int, bytes]:
    """New texts by the index of their file; functions whose names are `excluded` stay."""
    known = _candidates(sources, excluded)
    _settle(sources, known)
    chosen = {name: one for name, one in known.items() if one.pointed}
    made = {}
    for number, one in enumerate(sources):
        if chosen and (new := _text(one, chosen)) != one.data:
            made[number] = new
    return made


def _candidates(sources: list[Source], excluded: set[str]) -> dict[Key, Known]:
    known: dict[Key, Known] = {}
    for number, one in enumerate(sources):
        for node in one.functions:
            name = name_of(node)
            known[module_of(one), name] = _known(number, node, one, name in excluded)
    for key in addresses(sources):
        if key in known:
            known[key].pointed.clear()
    part(sources, known)
    return known


def _known(number: int, node: Node, one: Source, excluded: bool) -> Known:
    found = Known(number, node, [], [])
    parameters = field(node, "parameters")
    for place, parameter in enumerate(() if parameters is None else below(parameters, "parameter")):
        pattern, kind = field(parameter, "pattern"), field(parameter, "type")
        plain = pattern is not None and pattern.type == "identifier" and pattern.text is not None
        found.parameters.append(pattern.text.decode() if plain else "")  # type: ignore[union-attr]
        found.types.append(b"" if kind is None else one.text(kind))
        target = None if kind is None or kind.type != "pointer_type" else field(kind, "type")
        if target is None or not plain or one.text(target) in _SCALARS:
            continue  # bytes are walked over more often than not
        found.pointed.add(place)
    if excluded:
        found.pointed.clear()
    return found


def _settle(sources: list[Source], known: dict[Key, Known]) -> None:
    """Take away what cannot be, until nothing more goes."""
    changed = True
    while changed:
        changed = False
        for one in known.values():
            for place in sorted(one.pointed):
                if not _only_looked_through(one, place, sources[one.file], known):
                    one.pointed.discard(place)
                    changed = True


def _only_looked_through(function: Known, place: int, one: Source, known: dict[Key, Known]) -> bool:
    name = function.parameters[place].encode()
    body = field(function.node, "body")
    if body is None:
        return False
    for node in below(body, "identifier", "let_declaration"):
        if node.type == "let_declaration":
            pattern = field(node, "pattern")
            if pattern is not None and one.text(pattern) == name:
                return False  # another variable of that name
        elif one.text(node) == name and not _fits(node, one, known):
            return False
    return _certainly_used(body, name, one, known)


def _fits(node: Node, one: Source, known: dict[Key, Known]) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "unary_expression" and parent.children[0].type == "*":
        whole = parent
        while whole.parent is not None and whole.parent.type == "parenthesized_expression":
            whole = whole.parent
        return whole.parent is not None and whole.parent.type != "reference_expression"
    return _is_handed_on(node, one, known)


def _is_handed_on(node: Node, one: Source, known: dict[Key, Known]) -> bool:
    """Whether the name is an argument for a parameter that may be a reference."""
    whole = node
    while whole.parent is not None and whole.parent.type == "parenthesized_expression":
        whole = whole.parent
    arguments = whole.parent
    if arguments is None or arguments.type != "arguments" or arguments.parent is None:
        return False
    called = _called(arguments.parent, one, known)
    return called is not None and list(arguments.named_children).index(whole) in called.pointed


def _called(call: Node, one: Source, known: dict[Key, Known]) -> Known | None:
    function = field(call, "function")
    if function is None or function.type not in ("identifier", "scoped_identifier"):
        return None
    return known.get(key_of(one.text(function), one))


def _certainly_used(body: Node, name: bytes, one: Source, known: dict[Key, Known]) -> bool:
    """Whether every way through the body looks through it before it may leave."""
    for statement in body.named_children:
        inner = first(statement) if statement.type == "expression_statement" else statement
        if inner is None:
            continue
        if (begun := _first_state(inner, one)) is not None:
            return _certainly_used(begun, name, one, known)
        decided: Node | None = inner
        if inner.type in ("if_expression", "match_expression"):
            decided = field(inner, "condition") or field(inner, "value")
        elif inner.type in ("while_expression",):
            decided = field(inner, "condition")
        elif inner.type in ("loop_expression", "block", "unsafe_block"):
            nested = next((c for c in below(inner, "block")), None)
            return nested is not None and _certainly_used(nested, name, one, known)
        if decided is not None and any(
            one.text(node) == name and _at_once(node, decided)
            for node in below(decided, "identifier")
        ):
            return True
        if any(True for _ in below(inner, *_LEAVING)):
            return False
    return False


def _first_state(node: Node, one: Source) -> Node | None:
    """Where a state machine of the translator begins."""
    value = field(node, "value") if node.type == "match_expression" else None
    if value is None or one.text(value) != MACHINE:
        return None
    for arm in below(node, "match_arm"):
        pattern, block = field(arm, "pattern"), field(arm, "value")
        if pattern is not None and one.text(pattern) == b"0" and block is not None:
            return block if block.type == "block" else None
    return None


def _at_once(node: Node, within: Node) -> bool:
    """Whether what is inside `within` is reached whenever `within` is."""
    while node != within:
        parent = node.parent
        if parent is None:
            return False
        if parent.type in ("block", "match_arm", "closure_expression"):
            return False
        if parent.type == "binary_expression" and field(parent, "right") == node:
            sign = field(parent, "operator")
            if sign is not None and sign.type in ("&&", "||"):
                return False
        node = parent
    return True


def _text(one: Source, chosen: dict[Key, Known]) -> bytes:
    """The file with its functions and calls in the new form, also those that C would make."""
    text = one.with_functions(lambda _, function: _function(
        one, function, chosen.get((module_of(one), name_of(function))), chosen
    ))  # fmt: skip
    for (module, name), known in chosen.items():
        if module == module_of(one):
            lent = {place: b"&mut *" if known.types[place].startswith(b"*mut") else b"&*"
                    for place in known.pointed}  # fmt: skip
            text = lent_from_c(text, name, lent)
    return text


def _function(one: Source, function: Node, own: Known | None, chosen: dict[Key, Known]) -> bytes:
    references = set() if own is None else {own.parameters[place] for place in own.pointed}

    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "parameter" and own is not None and node.parent is not None and (
            node.parent.parent == function
        ):  # fmt: skip
            pattern, kind = field(node, "pattern"), field(node, "type")
            if pattern is None or kind is None or one.text(pattern).decode() not in references:
                return None
            target = field(kind, "type")
            changing = b"*mut" in one.text(kind)[:4]
            head = b"&mut " if changing else b"&"
            return one.text(pattern) + b": " + head + (b"" if target is None else one.text(target))
        if node.type == "call_expression":
            return _call(node, one, references, chosen, say)
        return None

    return rewritten(one.data, function, rule)


def _call(
    node: Node, one: Source, references: Iterable[str], chosen: dict[Key, Known], say: Say
) -> bytes | None:
    called = _called(node, one, chosen)
    arguments, function = field(node, "arguments"), field(node, "function")
    if called is None or arguments is None or function is None:
        return None
    said = []
    for place, argument in enumerate(arguments.named_children):
        text = say(argument)
        inner = bare(argument)
        if place in called.pointed and inner is not None:
            plain = one.text(inner).decode("utf-8", "replace")
            changing = called.types[place].startswith(b"*mut")
            if not (inner.type == "identifier" and plain in references):
                text = _borrowed(inner, text, one, changing)
        said.append(text)
    return say(function) + b"(" + b", ".join(said) + b")"


def _borrowed(argument: Node, text: bytes, one: Source, changing: bool) -> bytes:
    """A reference from what was a pointer."""
    head = b"&mut " if changing else b"&"
    taken = argument
    if taken.type == "type_cast_expression":
        taken = bare(field(taken, "value")) or taken
    if taken.type == "reference_expression" and (value := field(taken, "value")) is not None:
        return head + one.text(value)
    return head + b"*" + (text if argument.type in ("identifier", "field_expression") else
                          b"(" + text + b")")  # fmt: skip
