"""Comments on what is unsafe: what makes it sound, or what callers have to keep."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import arguments_of
from jarvis_ls.jc2r.lift.rust import Source, below, field, name_of, variable_of
from jarvis_ls.jc2r.lift.soundness import parameter_names
from jarvis_ls.jc2r.lift.unsafe_operations import (
    Kind,
    Operation,
    base_of,
    declaration_of,
    flat,
    root_of,
)

MOST = 5
"""Things of one kind that are named."""
WIDTH = 96
_SHORT = 56
"""Characters of what is named whole."""
_ALLOCATING = frozenset({"malloc", "calloc", "realloc", "strdup", "strndup", "reallocarray"})
_SLICES = frozenset({"from_raw_parts", "from_raw_parts_mut"})
_ELEMENTS = frozenset({"elements", "elements_mut", "cells", "write_all"})
_REFERENCES = frozenset({"as_ref", "as_mut"})
_UNKNOWN = "The arguments are such that the function is defined for them in C."


def reason(proofs: Iterable[str]) -> bytes:
    """Return the comment on a block that is sound for every caller: what makes it so."""
    return _comment("// ", f"SAFETY: {'; '.join(dict.fromkeys(proofs))}.")


def reason_of_caller(source: Source, function: Node, operations: Iterable[Operation]) -> bytes:
    """Return the comment on a block in an unsafe function: of what its caller has to keep."""
    found = dict.fromkeys(
        subject
        for operation in operations
        for subject in _Demands(source, function).subjects(operation)
    )
    about = f" for {_enumerate_words(_first_of(list(found)))}" if found else ""
    return _comment("// ", f"SAFETY: the caller keeps what `# Safety` demands{about}.")


def demand(source: Source, function: Node, operations: Sequence[Operation]) -> bytes:
    """Return the section `# Safety` of a function: each precondition that its operations have."""
    demands = _Demands(source, function)
    for operation in operations:
        demands.add(operation)
    lines = demands.lines()
    head = b"/// # Safety\n///\n"
    if not lines:
        return head + _comment("/// ", _UNKNOWN)
    return head + b"".join(_comment("/// ", f"- {line}", "  ") for line in lines)


class _Demands:
    """Collects the preconditions of one function."""

    def __init__(self, source: Source, function: Node) -> None:
        self._source = source
        self._function = function
        self._parameters = set(parameter_names(source, function))
        self._numbers = _number_parameters(source, function)
        self._variables = {
            name_of(item).encode() for item in source.root.children if item.type == "static_item"
        }
        self._pointers: dict[str, dict[str, None]] = {}
        """What must point to something, with the elements that it must have."""
        self._lent: dict[str, str] = {}
        """What references and slices are made of, with what has to be there."""
        self._made: dict[str, None] = {}
        """Functions that must not return null."""
        self._statics: dict[str, None] = {}
        self._members: dict[str, None] = {}
        self._called: dict[str, None] = {}
        self._others: dict[str, None] = {}

    def add(self, operation: Operation) -> None:
        """Note what one operation depends on."""
        lent = self._pointer_of(operation)
        if operation.kind in (Kind.DEREFERENCE, Kind.OFFSET):
            base, moved = base_of(self._source, operation.node)
            for name in self._origins(base):
                self._pointers.setdefault(name, {}).update(dict.fromkeys(moved))
        elif lent is not None:
            for name in self._origins(base_of(self._source, lent)[0]):
                self._lent[name] = self._memory_of(operation)
        elif operation.kind is Kind.STATIC:
            self._statics[_short(flat(self._source.text(operation.node)))] = None
        elif operation.kind is Kind.UNION:
            self._members[_short(flat(self._source.text(operation.node)))] = None
        elif operation.kind is Kind.CALL:
            self._add_call(operation)
        else:
            self._others["what the assembly in it does is allowed here"] = None

    def subjects(self, operation: Operation) -> list[str]:
        """Return what the preconditions of one operation are about."""
        text = flat(self._source.text(operation.node))
        if operation.kind in (Kind.DEREFERENCE, Kind.OFFSET):
            origins = self._origins(base_of(self._source, operation.node)[0])
            return [f"`{name}`" for name in origins or self._made]
        if (lent := self._pointer_of(operation)) is not None:
            return [f"`{name}`" for name in self._origins(base_of(self._source, lent)[0])]
        if operation.kind is Kind.CALL and operation.name:
            return [f"`{operation.name}`"]
        return [f"`{_short(text)}`"]

    def lines(self) -> list[str]:
        """Return the preconditions, in sentences."""
        found = []
        for name, moved in self._pointers.items():
            elements = [f"`{_short(by)}`" for by in moved if by not in ("0", "0isize")]
            behind = f", also at offset {_enumerate_words(_first_of(elements))}" if elements else ""
            found.append(f"`{name}` points to valid memory{behind}.")
        found += [
            f"`{name}` points to valid memory{behind}."
            for name, behind in self._lent.items()
            if name not in self._pointers
        ]
        if self._made:
            names = _enumerate_words([f"`{name}`" for name in self._made])
            found.append(f"There is memory left: {names} must not return null.")
        if self._statics:
            names = _enumerate_words(_first_of([f"`{name}`" for name in self._statics]))
            found.append(f"No other thread uses {names} meanwhile.")
        if self._members:
            names = _enumerate_words(_first_of([f"`{name}`" for name in self._members]))
            found.append(f"{names}: the member of the union that was stored last.")
        if self._called:
            names = _enumerate_words(_first_of([f"`{name}`" for name in self._called]))
            found.append(f"The preconditions of {names} hold.")
        return found + [f"{text[0].upper()}{text[1:]}." for text in self._others]

    def _pointer_of(self, operation: Operation) -> Node | None:
        """Return the pointer that a call makes a reference or slice of."""
        function = field(operation.node, "function")
        if operation.kind is not Kind.CALL or function is None:
            return None
        if operation.name in _REFERENCES and function.type == "field_expression":
            return field(function, "value")
        if operation.name in _ELEMENTS:
            return next(iter(arguments_of(operation.node)), None)
        return None

    def _memory_of(self, operation: Operation) -> str:
        """Return how much memory a reference or slice needs, as the end of a sentence."""
        if operation.name == "write_all":
            return " for all that the function writes"
        if operation.name in _ELEMENTS:
            count = flat(self._source.text(arguments_of(operation.node)[1]))
            count = count.removesuffix(" as i64").removeprefix("(").removesuffix(")")
            return f" with `{_short(count)}` elements, or is null"
        around = operation.node.parent
        method = None if around is None else field(around, "field")
        needed = method is not None and self._source.text(method) == b"expect"
        return "" if needed else ", or is null"

    def _add_call(self, operation: Operation) -> None:
        function = field(operation.node, "function")
        value = None
        if function is not None and function.type == "field_expression":
            value = field(function, "value")
        if operation.name in ("unwrap_unchecked", "unreachable_unchecked"):
            about = "" if value is None else f"`{_short(flat(self._source.text(value)))}` is set"
            self._others[about or "the place that C calls unreachable is never reached"] = None
        elif operation.name in _SLICES:
            self._others["each pointer has as many elements behind it as its length says"] = None
        elif operation.name:
            self._called[operation.name] = None
        else:
            text = "a function pointer" if function is None else flat(self._source.text(function))
            self._called[_short(text)] = None

    def _origins(self, base: Node) -> list[str]:
        """Return the parameters and static variables that a pointer comes from, each as far as it
        is known by its name; the pointer itself when it comes from elsewhere."""
        root = root_of(base)
        name = self._source.text(root)
        if name in self._parameters or root.type != "identifier":
            if root.type == "call_expression" and (made := _callee(self._source, root)):
                if made in _ALLOCATING:
                    self._made[made] = None
                    return []
                return [_short(flat(self._source.text(base)))]
            return [_short(_plain(flat(self._source.text(base))))]
        if declaration_of(self._source, root) is None:
            return [_short(_plain(flat(self._source.text(base))))]
        found: dict[str, None] = {}
        self._trace(name, found, {name})
        pointers = [made for made in found if made.encode() not in self._numbers]
        if pointers or not found:
            return pointers or [_short(_plain(flat(self._source.text(base))))]
        return [] if self._made else list(found)  # a size, or an address as a number

    def _trace(self, name: bytes, found: dict[str, None], seen: set[bytes]) -> None:
        """Collect what the values of a local variable are made of."""
        for value in self._values(name):
            for call in below(value, "call_expression"):
                if (made := _callee(self._source, call)) in _ALLOCATING:
                    self._made[made] = None
            for inner in below(value, "identifier"):
                text = self._source.text(inner)
                if text in seen:
                    continue
                seen.add(text)
                if text in self._parameters:
                    found[text.decode()] = None
                elif declaration_of(self._source, inner) is not None:
                    self._trace(text, found, seen)
                elif text in self._variables:
                    found[text.decode()] = None

    def _values(self, name: bytes) -> Iterable[Node]:
        body = field(self._function, "body")
        if body is None:
            return
        for node in below(body, "let_declaration", "assignment_expression"):
            let = node.type == "let_declaration"
            place = field(node, "pattern" if let else "left")
            value = field(node, "value" if let else "right")
            if place is not None and value is not None and name in self._source.text(place).split():
                yield value


def _number_parameters(source: Source, function: Node) -> set[bytes]:
    """Return the parameters that are numbers: what is computed with them does not point to them."""
    parameters = field(function, "parameters")
    return {
        variable_of(source, parameter)
        for parameter in (() if parameters is None else below(parameters, "parameter"))
        if (kind := field(parameter, "type")) is not None and kind.type == "primitive_type"
    }


def _callee(source: Source, call: Node) -> str:
    function = field(call, "function")
    return "" if function is None else flat(source.text(function)).rsplit("::", 1)[-1]


def _plain(text: str) -> str:
    """Return a place without what only the compiler needs: `(*s).a` as `s.a`."""
    return text.replace("(*", "").replace(")", "") if text.count("(") == text.count("(*") else text


def _first_of(names: list[str]) -> list[str]:
    return [*names[:MOST], *([f"{len(names) - MOST} more"] if len(names) > MOST else [])]


def _enumerate_words(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _short(name: str) -> str:
    return name if len(name) <= _SHORT else f"{name[:_SHORT].rstrip()}…"


def _comment(mark: str, text: str, later: str = "") -> bytes:
    lines = textwrap.wrap(
        text, WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent=later
    )
    return "".join(f"{mark}{line}\n" for line in lines).encode()
