"""Which expressions do something besides being worth something."""

from __future__ import annotations

from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.ast import (
    STEPS,
    BinaryOperator,
    UnaryOperator,
    inside,
    named_declaration,
    only,
)

PURE = frozenset(
    "strlen strcmp strncmp memcmp strchr strrchr strstr abs labs fabs sqrt sin cos tan "
    "pow exp log floor ceil isdigit isalpha isspace isalnum isupper islower toupper "
    "tolower atoi atol atof __ctype_b_loc __errno_location strcasecmp strspn strcspn fmod "
    "round".split()
)
"""Functions of the C library whose calls may come in any order."""


class Effects:
    """What the order of evaluation depends on."""

    _pointed: frozenset[int] | None = None
    """Variables of the function whose address is taken, by hash."""
    body: Any
    """The function's block; None outside of functions."""

    def has_effects(self, cursor: Any) -> bool:
        """Return whether an expression calls, assigns or counts."""
        kinds = clang.cindex().CursorKind
        wanted = frozenset(
            {
                kinds.CALL_EXPR.value,
                kinds.COMPOUND_ASSIGNMENT_OPERATOR.value,
                kinds.BINARY_OPERATOR.value,
                kinds.UNARY_OPERATOR.value,
            }
        )
        return any(self.acts(node) for node in [cursor, *clang.descendants(cursor, wanted)])

    def assigns(self, cursor: Any) -> bool:
        """Return whether an expression assigns or counts itself, not in what it calls."""
        kinds = clang.cindex().CursorKind
        wanted = frozenset(
            {
                kinds.COMPOUND_ASSIGNMENT_OPERATOR.value,
                kinds.BINARY_OPERATOR.value,
                kinds.UNARY_OPERATOR.value,
            }
        )
        return any(
            self.acts(node)
            for node in [cursor, *clang.descendants(cursor, wanted)]
            if node.kind.name != "CALL_EXPR"
        )

    def is_private(self, cursor: Any) -> bool:
        """Return whether an expression is a variable of the function that nothing else can
        reach.
        """
        declared = named_declaration(cursor)
        if declared is None or declared.kind.name not in ("VAR_DECL", "PARM_DECL"):
            return False
        if declared.kind.name == "VAR_DECL" and (
            declared.semantic_parent.kind.name != "FUNCTION_DECL"
            or declared.storage_class.name in ("STATIC", "EXTERN")
        ):
            return False
        if self._pointed is None:
            self._pointed = _pointed_to(self.body)
        return declared.hash not in self._pointed

    def acts(self, cursor: Any) -> bool:
        """Return whether a node itself calls, assigns or counts."""
        name = cursor.kind.name
        if name == "CALL_EXPR":
            children = clang.children(cursor)
            declared = named_declaration(children[0]) if children else None
            return declared is None or declared.spelling not in PURE
        if name == "COMPOUND_ASSIGNMENT_OPERATOR":
            return True
        if name == "BINARY_OPERATOR":
            return clang.binary_operator(cursor) == BinaryOperator.ASSIGN
        return name == "UNARY_OPERATOR" and clang.unary_operator(cursor) in STEPS


def _pointed_to(body: Any) -> frozenset[int]:
    if body is None:
        return frozenset()
    kinds = clang.cindex().CursorKind
    found = set()
    for descendant in clang.descendants(body, frozenset({kinds.UNARY_OPERATOR.value})):
        if clang.unary_operator(descendant) != UnaryOperator.ADDRESS:
            continue
        inner = inside(only(descendant))
        while inner.kind.name in ("MEMBER_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR"):
            below = clang.children(inner)
            if not below:
                break
            inner = inside(below[0])
        if inner.kind.name == "DECL_REF_EXPR":
            found.add(inner.referenced.hash)
    return frozenset(found)
