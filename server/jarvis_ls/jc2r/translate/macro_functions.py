"""Macros with parameters as functions of Rust.

A macro becomes a function when all its uses in a unit come to the same function, and calling that
is no different from what C does: what is given is worked out once, whatever the macro does with it,
and before all else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.ast import UnaryOperator, bare, inside, named_declaration
from jarvis_ls.jc2r.translate.body import Body, Surroundings
from jarvis_ls.jc2r.translate.c_types import (
    WORDS,
    is_array,
    is_atomic,
    is_const,
    is_function_pointer,
    is_open,
    is_pointer,
    is_volatile,
    kind,
    plain,
)
from jarvis_ls.jc2r.translate.macro_uses import (
    Argument,
    Function,
    Use,
    argument_values,
    strip_parentheses,
)
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.operators import is_asking

_EXPRESSIONS = (
    "DECL_REF_EXPR",
    "MEMBER_REF_EXPR",
    "ARRAY_SUBSCRIPT_EXPR",
    "UNARY_OPERATOR",
    "BINARY_OPERATOR",
    "COMPOUND_ASSIGNMENT_OPERATOR",
    "CALL_EXPR",
    "StmtExpr",
)
_DIVIDING = (4, 5)


class Functions:
    """Macros of one unit that are functions."""

    def __init__(self, same: Callable[[str], str]) -> None:
        self._same = same
        """Code with names that mean the same written the same."""
        self.made: dict[str, Function] = {}
        self.refused: set[str] = set()
        """Those that mean several things, or that a function cannot represent."""

    def called(self, use: Use, body: Body, module: Surroundings) -> Function | None:
        """Return the function for a use; None when it stays as C has it."""
        name = use.definition.name
        if name in self.refused:
            return None
        try:
            made = _Made(use, body, module).function()
        except Unsupported:
            self.refused.add(name)
            return None
        known = self.made.setdefault(name, made)
        if self._key(known) != self._key(made):
            self.refused.add(name)
            return None
        return known

    @property
    def kept(self) -> list[Function]:
        """The functions that there are in the end."""
        return [function for name, function in self.made.items() if name not in self.refused]

    def _key(self, function: Function) -> tuple[Any, ...]:
        return function.parameters, function.result, self._same(function.code)


class _Made(Body):
    """What a macro represents, with the parameters in place of what is given for them."""

    def __init__(self, use: Use, outer: Body, module: Surroundings) -> None:
        super().__init__(use.root, module)
        self._use, self._outer = use, outer
        self._given: dict[int, tuple[str, Any]] = {}
        self._asked: set[str] = set()
        for name, argument in zip(use.definition.parameters, use.arguments, strict=True):
            rust = self.names.give(name)
            for place in argument_values(argument):
                self._given[place.hash] = (rust, place)

    def function(self) -> Function:
        """Return the function that a use comes to. Raises `Unsupported` when it may differ from
        C.
        """
        root, use = self._use.root, self._use
        _check(use, self._outer)
        parameters = []
        for argument in use.arguments:
            places = argument_values(argument)
            name, _ = self._given[places[0].hash]
            types = {self._scalar_type(place.type) for place in places}
            if len(types) > 1:
                raise Unsupported("an argument of several types")
            parameters.append((name, types.pop()))
        if is_asking(root):
            result, code = "bool", self.condition(root)
        elif kind(root.type) == "VOID":
            result, code = "", self.effect(root)
        else:
            result, code = self._scalar_type(root.type), self.value(root)
        if self.before or self._asked != {name for name, _ in parameters}:
            raise Unsupported("a macro that a function cannot replace")
        return Function(use.definition, tuple(parameters), result, strip_parentheses(code))

    def _scalar_type(self, type_: Any) -> str:
        if (
            kind(type_) in WORDS
            or kind(type_) == "ENUM"
            or (
                is_pointer(type_)
                and not is_function_pointer(type_)
                and not is_open(plain(type_).get_pointee())
            )
        ):
            return self.types.of(type_)
        raise Unsupported("an argument that is neither a number nor a pointer")

    # -- where an argument is

    def value(self, cursor: Any) -> str:
        """See `Expressions`."""
        return self._parameter(cursor) or super().value(cursor)

    def condition(self, cursor: Any) -> str:
        """See `Operators`."""
        if name := self._parameter(cursor):
            return self.truth(name, cursor.type)
        return super().condition(cursor)

    def place(self, cursor: Any) -> str:
        """See `LvalueTranslation`."""
        if self._parameter(cursor):
            raise Unsupported("an argument that is an lvalue")
        return super().place(cursor)

    def convert(self, inner: Any, target: Any) -> str:
        """See `LvalueTranslation`."""
        if name := self._parameter(inner):
            return self.cast(name, inner.type, target)
        return super().convert(inner, target)

    def _convert_operand(self, inner: Any, target: Any) -> str:
        if name := self._parameter(inner):
            return self.cast(name, inner.type, target)
        return super()._convert_operand(inner, target)

    def _parameter(self, cursor: Any) -> str:
        name, _ = self._given.get(cursor.hash, ("", None))
        if name:
            self._asked.add(name)
        return name

    # -- what a function of its own has not

    def name_of(self, declared: Any) -> str:
        """See `Initials`."""
        if declared.kind.name in ("VAR_DECL", "PARM_DECL") and (
            declared.semantic_parent.kind.name == "FUNCTION_DECL"
            or declared.linkage.name == "NO_LINKAGE"
        ):
            raise Unsupported("a local variable in a macro")
        return super().name_of(declared)

    def temporary(self, rust: str, value: str) -> str:
        """See `Initials`."""
        raise Unsupported("a compound literal in a macro")

    def allocate_stack(self, count: str) -> str:
        """See `Calls`."""
        raise Unsupported("alloca in a macro")

    def variadic_arguments(self, list_type: Any) -> str:
        """See `Calls`."""
        raise Unsupported("va_start in a macro")

    def statement(self, cursor: Any) -> list[str]:
        """See `Initials`."""
        raise Unsupported("statements in a macro")


def _check(use: Use, body: Body) -> None:
    """Raise `Unsupported` unless what is given may be worked out once, before all else."""
    acting = [other for other in use.others if body.acts(other)]
    called = bare(use.root)
    while called.kind.name in ("CSTYLE_CAST_EXPR", "PAREN_EXPR", "UNEXPOSED_EXPR"):
        called = clang.children(called)[-1]
    at_the_end = acting == [] or (
        len(acting) == 1 and acting[0] == called and called.kind.name == "CALL_EXPR"
    )
    busy = [argument for argument in use.arguments if _is_busy(argument.places[0][0], body)]
    for argument in use.arguments:
        node = argument.places[0][0]
        if argument in busy:
            if len(busy) > 1 or argument.always != 1 or len(argument.places) != 1 or not at_the_end:
                raise Unsupported("an argument with side effects")
            _check_alone(use, argument, body)
        elif not argument.always and _may_fail(node):
            raise Unsupported("an argument that is not always evaluated")
        elif not at_the_end and not _is_inert(node, body):
            raise Unsupported("an argument that the macro may change")


def _check_alone(use: Use, argument: Argument, body: Body) -> None:
    """Raise `Unsupported` when what an argument does may change what else the macro examines."""
    node = argument.places[0][0]
    others = [other.places[0][0] for other in use.arguments if other is not argument]
    assigns = body.assigns(node)
    if any(not _is_inert(other, body) or (assigns and not _is_constant(other)) for other in others):
        raise Unsupported("an argument that may change another")
    for expression in use.others:
        if _looks(expression) and not _holds(expression, node):
            raise Unsupported("an argument that may change what the macro reads")


def _is_busy(node: Any, body: Body) -> bool:
    """Return whether working out an argument does something, or is seen outside."""
    return any(
        body.acts(child)
        or child.kind.name == "StmtExpr"
        or is_volatile(child.type)
        or is_atomic(child.type)
        for child in _all(node)
    )


def _may_fail(node: Any) -> bool:
    """Return whether working out an argument may end the program."""
    for child in _all(node):
        name = child.kind.name
        if (
            name in ("CALL_EXPR", "ARRAY_SUBSCRIPT_EXPR")
            or (name == "BINARY_OPERATOR" and clang.binary_operator(child) in _DIVIDING)
            or (name == "UNARY_OPERATOR" and clang.unary_operator(child) == UnaryOperator.THROUGH)
            or (name == "MEMBER_REF_EXPR" and _is_through_pointer(child))
        ):
            return True
    return False


def _looks(node: Any) -> bool:
    """Return whether a node reads memory that something else may change."""
    name = node.kind.name
    if name == "DECL_REF_EXPR":
        declared = node.referenced
        return declared.kind.name in ("VAR_DECL", "PARM_DECL") and not (
            is_const(declared.type) or is_array(declared.type)
        )
    return (
        name == "ARRAY_SUBSCRIPT_EXPR"
        or name == "MEMBER_REF_EXPR"
        or (name == "UNARY_OPERATOR" and clang.unary_operator(node) == UnaryOperator.THROUGH)
    )


def _is_inert(node: Any, body: Body) -> bool:
    """Return whether nothing but an assignment changes what an argument is worth."""
    variables = [
        child
        for child in _all(node)
        if child.kind.name == "DECL_REF_EXPR"
        and child.referenced.kind.name in ("VAR_DECL", "PARM_DECL")
    ]
    return all(map(body.is_private, variables)) and not _may_fail(node)


def _is_constant(node: Any) -> bool:
    return isinstance(clang.constant(node), int | float)


def _is_through_pointer(member: Any) -> bool:
    base = clang.children(member)
    return not base or is_pointer(base[0].type) or named_declaration(inside(base[0])) is None


def _holds(node: Any, wanted: Any) -> bool:
    return any(child == wanted for child in _all(node))


def _all(node: Any) -> list[Any]:
    return [node, *clang.descendants(node, _kinds())]


@cache
def _kinds() -> frozenset[int]:
    kinds = clang.cindex().CursorKind.get_all_kinds()
    return frozenset(expression.value for expression in kinds if expression.name in _EXPRESSIONS)
