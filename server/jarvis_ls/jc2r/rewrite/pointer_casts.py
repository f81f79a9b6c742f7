"""Whether the operand of a cast is surely a pointer, by syntax alone.

`x as *const T` makes a pointer of an integer when `x` is one, and syntax does not know types. What
is accepted is what cannot be an integer: a reference, a pointer with its type declared, a method
that only pointers or slices have. A local that is declared with a pointer type passes the compiler
only when it is one.
"""

from __future__ import annotations

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, variable_of

_GIVES_POINTER = frozenset({"as_ptr", "as_mut_ptr", "into_raw", "cast_mut", "cast_const"})
_KEEPS_POINTER = frozenset({"cast", "add", "sub", "offset", "wrapping_offset"})
_MAKES_POINTER = frozenset({"null", "null_mut", "from_ref", "from_mut", "into_raw"})
_POINTERS = frozenset({"pointer_type", "reference_type", "function_type"})
_BINDING = ("closure_parameters", "match_pattern", "for_expression", "let_condition")
_DEEPEST = 40


class PointerCasts:
    """Answers for the expressions of one text."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._scopes: dict[int, dict[bytes, list[Node | None]]] = {}

    def is_of_pointer(self, value: Node, depth: int = 0) -> bool:
        """Return whether an expression is surely a pointer, a reference or a function."""
        inner = bare(value)
        if inner is None or depth > _DEEPEST:
            return False
        if inner.type in ("reference_expression", "string_literal", "raw_string_literal", "self"):
            return True
        if inner.type == "type_cast_expression":
            kind = field(inner, "type")
            return kind is not None and kind.type in _POINTERS
        if inner.type == "call_expression":
            return self._is_call_of_pointer(inner, depth)
        if inner.type == "macro_invocation":
            return self._text(field(inner, "macro")).rpartition("::")[2].startswith("addr_of")
        return inner.type == "identifier" and self._is_declared_pointer(inner, depth)

    def _is_call_of_pointer(self, call: Node, depth: int) -> bool:
        function = field(call, "function")
        if function is not None and function.type == "generic_function":
            function = field(function, "function")
        if function is None:
            return False
        if function.type == "field_expression":
            name = self._text(field(function, "field"))
            receiver = field(function, "value")
            if name in _KEEPS_POINTER:
                return receiver is not None and self.is_of_pointer(receiver, depth + 1)
            return name in _GIVES_POINTER
        path = self._text(function).split("::")
        return len(path) > 1 and path[-1] in _MAKES_POINTER

    def _is_declared_pointer(self, name: Node, depth: int) -> bool:
        """Return whether every declaration of a name in its function is that of a pointer."""
        scope: Node | None = name
        while scope is not None and scope.type != "function_item":
            scope = scope.parent
        if scope is None:
            return False
        declared = self._declarations(scope).get(self._source.text(name), [])
        return bool(declared) and all(self._declares_pointer(node, depth) for node in declared)

    def _declares_pointer(self, declared: Node | None, depth: int) -> bool:
        if declared is None:
            return False
        kind, value = field(declared, "type"), field(declared, "value")
        if kind is not None:
            return kind.type in _POINTERS
        return value is not None and self.is_of_pointer(value, depth + 1)

    def _declarations(self, scope: Node) -> dict[bytes, list[Node | None]]:
        """Return what declares each name; None where a pattern binds it, of whatever type."""
        if (known := self._scopes.get(scope.id)) is not None:
            return known
        found: dict[bytes, list[Node | None]] = {}
        for node in below(scope, "parameter", "let_declaration", *_BINDING):
            pattern = field(node, "pattern")
            if node.type in ("parameter", "let_declaration"):
                name = variable_of(self._source, node)
                if name.decode("utf-8", "replace").isidentifier():
                    found.setdefault(name, []).append(node)
                    continue
            for bound in below(pattern or node, "identifier"):
                found.setdefault(self._source.text(bound), []).append(None)
        self._scopes[scope.id] = found
        return found

    def _text(self, node: Node | None) -> str:
        return "" if node is None else self._source.text(node).decode("utf-8", "replace")
