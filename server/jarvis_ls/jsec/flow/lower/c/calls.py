"""Calls, `new` and `delete`."""

from __future__ import annotations

import re
from typing import Final

from jarvis_ls.codeintel.nodes import operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes, overloads
from jarvis_ls.jsec.flow.ir.c_types import (
    ANY,
    CHAR,
    CONTAINERS,
    INT,
    LONG,
    PTR,
    STRINGS,
    ULONG,
    VOID,
    pointee,
)
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, CallMethod, Delete, Eval, New, SetTemp
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Container,
    Float,
    FunctionType,
    Integer,
    Pointer,
    Record,
    Reference,
    Type,
    container_of,
    pointer_to,
    record_type,
    reference_to,
)
from jarvis_ls.jsec.flow.library.c_functions import TABLE, macro_for
from jarvis_ls.jsec.flow.library.signatures import FEWEST, RESULTS
from jarvis_ls.jsec.flow.lower.c.context import CallLowering, ExpressionBuilder, Typed

_CASTS: Final = frozenset({"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"})
_SKIPPED: Final = frozenset({"comment"})
_CALL: Final = re.compile(r"[\s(]*(?!(?:do|if|while|for|sizeof)\b)[A-Za-z_]\w*\s*\(")
"""What the body of a macro begins with that represents a call."""
_ASSERTION: Final = re.compile(r"(?<!static_)assert\d?$", re.IGNORECASE)
_OF_A_PLACE: Final = re.compile(
    r"offset|size_?of|type_?of|count_?of|array_?(?:size|len)|n_?elem", re.I
)
"""Names of macros that ask for the place or size of what they are given, without reading it."""
_MEMORY: Final = frozenset(
    name
    for name, effects in TABLE.items()
    if effects and effects[0][0] in ("alloc", "free", "realloc", "duplicate")
)
"""Functions that hand out or take back memory."""
_HOOK: Final = re.compile(r"[\s(*]*([A-Za-z_]\w*(?:(?:->|\.)\w+)*)[\s)]*\(")
_EXPECT: Final = "__builtin_expect"
_TYPE_OF: Final = frozenset({"typeof", "__typeof__", "__typeof", "typeof_unqual", "decltype"})
"""What is given to them is not evaluated."""
_WIDE: Final = {"INT64_C": LONG, "UINT64_C": ULONG, "INTMAX_C": LONG, "UINTMAX_C": ULONG}
"""Macros of `<stdint.h>` around numbers."""
_LOOKED_AT: Final = frozenset(
    {
        "unary_expression",
        "binary_expression",
        "init_declarator",
        "assignment_expression",
        "return_statement",
        "condition_clause",
        "if_statement",
        "while_statement",
        "for_statement",
    }
)
"""Where the value of a call decides something."""


class Calls(CallLowering):
    """Lowers what is called; part of `Expressions`."""

    def __init__(self, expressions: ExpressionBuilder) -> None:
        self.of = expressions

    def value(self, node: Node) -> Typed:
        """Return the result of a call."""
        callee = node.child_by_field_name("function")
        bare = callee
        while callee is not None and callee.type == "parenthesized_expression":
            callee = callee.named_children[0] if callee.named_child_count else None
        if callee is None:
            return self.of.unknown()
        kind = callee.type
        if kind == "identifier" and callee is not bare:  # `(uint)(x)` reads like a call
            cast = self._cast_to(text(callee))
            if cast is not None:
                return self._functional_cast(node, cast)
        if self.of.lambdas is not None and (kind == "lambda_expression" or self.of.lambdas.known):
            known = callee if kind == "lambda_expression" else self.of.lambdas.by_name(text(callee))
            if known is not None:
                return self.of.lambdas.call(known, node)
        if kind == "field_expression":
            return self._through_member(node, callee)
        if kind in ("template_function", "template_method"):
            return self._template(node, callee)
        if kind in ("identifier", "qualified_identifier"):
            return self._call_by_name(node, callee)
        if kind == "primitive_type":
            return self._functional_cast(node, self.of.types.words(text(callee)))
        return self._indirect(node, callee)

    def _cast_to(self, name: str) -> Type | None:
        """Return the type of a name that is in parentheses before others; None for a
        function's.

        What nothing here knows is a type of some header: `(free)(p)` is written of functions that
        are known, if at all.
        """
        of = self.of
        facts = of.types.facts
        if of.scopes.find(name) is not None or name in of.outer.functions or name in TABLE:
            return None
        if name in facts.functions or name in facts.macros or name in of.outer.globals:
            return None
        known = name in facts.function_macros or name in facts.variables
        return None if known else of.types.by_name(name)

    def arguments(self, node: Node) -> list[Node]:
        """Return the nodes of the arguments."""
        listed = node.child_by_field_name("arguments")
        return (
            [] if listed is None else [c for c in listed.named_children if c.type not in _SKIPPED]
        )

    def written_arguments(self, node: Node) -> list[str]:
        """Return the arguments of a macro as text: `struct item` is one, which reads like two."""
        listed = node.child_by_field_name("arguments")
        if listed is None:
            return []
        if not listed.has_error:
            return [text(argument) for argument in self.arguments(node)]
        parts: list[list[str]] = [[]]
        for child in listed.children[1:-1]:
            if child.type == ",":
                parts.append([])
            elif child.type not in _SKIPPED:
                parts[-1].append(text(child))
        return [" ".join(part) for part in parts]

    def expected_condition(self, node: Node) -> Node | None:
        """Return the condition that a call returns as it is: that of `__builtin_expect`,
        `unlikely` and the like, such as `BE (p == NULL, 0)` of a header that is not seen, and of
        an `assert` of the program's own whose value is examined.
        """
        callee = node.child_by_field_name("function")
        name = text(callee) if callee is not None and callee.type == "identifier" else ""
        if name == "assert":
            around = node.parent
            while around is not None and around.type == "parenthesized_expression":
                around = around.parent
            if around is None or around.type not in _LOOKED_AT:
                return None
        elif not name or name in self.of.outer.functions:
            return None
        arguments = self.arguments(node)
        if len(arguments) == 2:
            expects = name == _EXPECT or (
                text(arguments[1]) in ("0", "1")
                and name.isupper()
                and name not in self.of.types.facts.function_macros
            )
            return arguments[0] if expects else None
        likely = name == "assert" or name.lower().endswith("likely")
        return arguments[0] if likely and len(arguments) == 1 else None

    def is_function(self, name: str) -> bool:
        """Return whether a name is that of a function of the program; a macro of that name is for
        builds without it, unless it calls another function instead.
        """
        if name in self.of.outer.functions:
            return True
        if self._is_library_hook(name):
            return True
        facts = self.of.types.facts
        macro = facts.function_macros.get(name)
        return name in facts.functions and (macro is None or _CALL.match(macro.body) is None)

    def _is_library_hook(self, name: str) -> bool:
        """Return whether a macro that is called like a function which hands out or takes back
        memory calls what a variable or member leads to: it does what it is called."""
        if name not in _MEMORY:
            return False
        facts = self.of.types.facts
        macro = facts.function_macros.get(name)
        match = _HOOK.match(macro.body) if macro is not None else None
        if match is None:
            return False
        through = match[1]
        is_member = not through.isidentifier()
        return is_member or through in facts.variables or through in self.of.outer.globals

    def is_assertion(self, name: str, arguments: list[Node]) -> bool:
        """Return whether a macro of the program or of a header that is not there asserts its
        argument, by its name: what a build without does with it does not say that it may be false.
        """
        known = name in self.of.types.facts.function_macros or (
            name.isupper() and self.of.scopes.find(name) is None
        )
        return (
            known
            and not self.is_function(name)
            and len(arguments) == 1
            and _ASSERTION.search(name) is not None
        )

    def expansion(self, node: Node) -> Node | None:
        """Return the expression that a call of a macro of the program represents; None for any
        other call. The macro is to be left afterwards.
        """
        of = self.of
        callee = node.child_by_field_name("function")
        name = text(callee) if callee is not None and callee.type == "identifier" else ""
        if name not in of.types.facts.function_macros or self.is_function(name):
            return None
        if self.expected_condition(node) is not None:
            return None
        found = of.outer.macros.call(name, self.written_arguments(node))
        if found is not None and found.type.endswith("statement"):
            of.outer.macros.leave()
            return None
        return found

    def _call_by_name(self, node: Node, callee: Node) -> Typed:
        of = self.of
        said = self.expected_condition(node)
        if said is not None:
            return of.value(said)
        name = text(callee)
        short = name.rpartition("::")[2]
        arguments = self.arguments(node)
        if short in _TYPE_OF:
            return of.unknown()
        if short in _WIDE and len(arguments) == 1:
            return of.as_type(of.value(arguments[0]), _WIDE[short], of.span(node)), _WIDE[short]
        if short == "assert" or self.is_assertion(short, arguments):
            # stays what it is called, however some build defines it
            return self._assertion(node, arguments)
        facts = of.types.facts
        declared = short in of.outer.functions or short in facts.functions
        declared = declared or self._is_library_hook(short)
        slot = of.scopes.find(name)
        if short in facts.function_macros and (not declared or slot is not None):
            expanded = of.outer.macros.call(short, self.written_arguments(node))
            if expanded is not None:  # also where a variable has the name of the macro
                found = of.expand(expanded, of.span(node))
                # a function that a build without some feature replaces by NULL
                return of.unknown(found[1]) if _is_null(found[0]) else found
            if _OF_A_PLACE.search(short) is not None:
                return of.unknown(ULONG)
            if short not in TABLE and not (slot is not None and self._is_callable(slot)):
                return self._direct(node, nodes.MACRO + short, short, arguments)
        if slot is not None or (short in of.outer.globals and short not in of.outer.functions):
            return self._indirect(node, callee)
        if short in facts.macros and short not in of.outer.functions:
            alias, _ = facts.alias_of(short)
            written = facts.macros[short].startswith("(") and alias == short
            expanded = of.outer.macros.expression(short) if written else None
            if expanded is not None:  # such as `(*(note(__LINE__), stop))`
                span = of.span(node)
                return of.within(lambda callee: self._indirect(node, callee), expanded, span)
            name = short = alias if alias.isidentifier() else short
        if short in facts.function_macros and not self.is_function(short):
            expanded = of.outer.macros.call(short, self.written_arguments(node))
            if expanded is not None:
                return of.expand(expanded, of.span(node))
        if short == "getline" and not declared:
            line = of.streams.line(arguments, of.span(node))
            if line is not None:
                return line
        record = of.types.records.get(of.record)
        own = (
            short in record.methods
            if record is not None
            else (bool(of.record) and short in facts.fields and short not in of.outer.functions)
        )
        if own and "::" not in name:
            this = of.scopes.find("this")
            if this is not None:
                address = nodes.Load(nodes.Local(this), PTR, of.span(node))
                return self.method(address, of.record, short, arguments, node)
        if short.isupper() and not declared and name == short:
            name = short = macro_for(short)
        if of.types.is_class(short) and short not in of.outer.functions and "::" not in name:
            return self._temporary(node, short, arguments)
        cpp = of.types.unit.language == "cpp"
        if cpp and len(arguments) == 1 and not declared and short not in TABLE:
            type_ = of.types.by_name(short)  # `Type(value)`
            if isinstance(type_, (Integer, Float)):
                return of.as_type(of.value(arguments[0]), type_, of.span(node)), type_
        if short in of.types.erased or (short in CONTAINERS and short not in of.outer.functions):
            return of.unknown()
        return self._direct(node, name, short, arguments)

    def _assertion(self, node: Node, arguments: list[Node]) -> Typed:
        of = self.of
        condition = arguments[0] if len(arguments) == 1 else None
        operator = None if condition is None else condition.child_by_field_name("operator")
        if operator is None or text(operator) not in ("&&", "||"):
            return self._direct(node, "assert", "assert", arguments)
        holds, fails = of.blocks.label(), of.blocks.label()
        of.branch(condition, holds, fails)
        of.blocks.start(fails)
        of.blocks.add(CallFunction(of.blocks.temp(), "abort", (), VOID, of.span(node), ()))
        of.blocks.start(holds)
        return of.unknown(VOID)

    def _is_callable(self, slot: int) -> bool:
        """Return whether a local variable leads to a function."""
        type_ = self.of.scopes.slots[slot][1] if slot >= 0 else ANY
        return bool(
            isinstance(type_, FunctionType)
            or (isinstance(type_, Pointer) and isinstance(type_.inner, FunctionType))
        )

    def _direct(self, node: Node, name: str, short: str, arguments: list[Node]) -> Typed:
        of = self.of
        owner = name.rpartition("::")[0].rpartition("::")[2]
        if len(arguments) < FEWEST.get(short, 0):
            return of.unknown()  # a method or function of the program that is named alike
        signature = of.types.methods.get((owner, short)) if owner else None
        owner = owner if signature is not None else ""
        if signature is None:
            signature = of.signature(short)
        if signature is None and name == short and short not in RESULTS and short not in TABLE:
            signature = of.installed_function(short)
        implicit = INT if of.types.unit.language == "c" else ANY
        result = signature.result if signature is not None else RESULTS.get(short, implicit)
        if short in RESULTS and signature is not None and signature.result is ANY:
            result = RESULTS[short]
        name = name.removeprefix("::").removeprefix("std::")
        values, types, signature = self._resolve_overload(arguments, (owner, short), signature)
        if signature is not None and signature.result is not ANY:
            result = signature.result
        temp = of.blocks.temp()
        of.calls.add(short)
        span = of.span(node)
        of.blocks.add(CallFunction(temp, name, values, result, span, types))
        return nodes.Temp(temp), result

    def _values(
        self, arguments: list[Node], signature: FunctionType | None
    ) -> tuple[tuple[Expr, ...], tuple[Type, ...]]:
        """Values and types of the arguments; what is passed by reference as an address."""
        wanted = (signature.parameters or ()) if signature is not None else ()
        const = signature.const if signature is not None else ()
        values, types = [], []
        for index, argument in enumerate(arguments):
            to = wanted[index] if index < len(wanted) else ANY
            if argument.type == "initializer_list" and to != ANY:
                value, type_ = self._brace_list(
                    argument, to.inner if isinstance(to, Reference) else to
                )
                values.append(
                    value.address
                    if isinstance(to, Reference) and isinstance(value, nodes.Load)
                    else value
                )
                types.append(reference_to(type_) if isinstance(to, Reference) else type_)
                continue
            if isinstance(to, Reference):
                address, type_ = self.of.through_reference(
                    *self.of.address(argument), self.of.span(argument)
                )
                address, type_ = self._converting_constructor(address, type_, to.inner, argument)
                values.append(address)
                read = index < len(const) and const[index]
                types.append(reference_to(type_, const=True) if read else reference_to(type_))
                continue
            value, type_ = self.of.value(argument)
            if isinstance(type_, Container) and isinstance(value, nodes.Load):
                value = value.address  # containers and strings are passed by their place
            values.append(value)
            if isinstance(type_, Pointer) and index < len(const) and const[index]:
                type_ = pointer_to(type_.inner, const=True)
            types.append(type_)
        return tuple(values), tuple(types)

    def _resolve_overload(
        self, arguments: list[Node], name: tuple[str, str], signature: FunctionType | None
    ) -> tuple[tuple[Expr, ...], tuple[Type, ...], FunctionType | None]:
        """Return the arguments of a call, for the one of several functions they fit to."""
        known = self.of.types.overloads.get(name, ())
        if len(known) < 2:
            return (*self._values(arguments, signature), signature)
        values, types = self._values(arguments, None)
        found = overloads.signature(known, types) or signature
        wanted = (found.parameters or ()) if found is not None else ()
        const = found.const if found is not None else ()
        places, kinds = list(values), list(types)
        for index, to in enumerate(wanted[: len(values)]):
            value = values[index]
            if isinstance(to, Reference) and isinstance(value, nodes.Load):
                read = index < len(const) and const[index]
                places[index] = value.address
                kinds[index] = reference_to(types[index], const=read)
        return tuple(places), tuple(kinds), found

    def _indirect(self, node: Node, callee: Node) -> Typed:
        of = self.of
        target, type_ = of.value(callee)
        while isinstance(type_, Pointer):
            type_ = type_.inner
        result = type_.result if isinstance(type_, FunctionType) else ANY
        if isinstance(target, nodes.Load) and isinstance(target.type, FunctionType):
            target = target.address
        values, types = self._values(
            self.arguments(node), type_ if isinstance(type_, FunctionType) else None
        )
        temp = of.blocks.temp()
        of.blocks.add(CallFunction(temp, target, values, result, of.span(node), types))
        return nodes.Temp(temp), result

    def _through_member(self, node: Node, callee: Node) -> Typed:
        of = self.of
        argument = callee.child_by_field_name("argument")
        arrow = operator_of(callee) == "->"
        field = callee.child_by_field_name("field")
        name = text(field)
        if field is not None and field.type == "template_method":
            name = text(field.child_by_field_name("name"))
        name = name.rpartition("::")[2]
        stream = None if arrow else of.streams.stream(argument)
        type_: Type
        if stream is not None:
            base, type_ = stream[0], container_of(stream[1], CHAR)
        elif arrow:
            base, type_ = of.value(argument)
            type_ = pointee(type_) if not isinstance(type_, Container) else type_
        else:
            base, type_ = of.through_reference(*of.address(argument), of.span(callee))
        record = of.types.records.get(type_.name) if isinstance(type_, Record) else None
        is_field = record is not None and name in record.fields
        if of.types.unit.language == "c" or is_field:
            return self._indirect(node, callee)
        owner = (
            type_.name
            if isinstance(type_, Record)
            else "@" + type_.kind
            if isinstance(type_, Container)
            else ""
        )
        return self.method(base, owner, name, self.arguments(node), node, type_)

    def method(
        self,
        base: Expr,
        owner: str,
        name: str,
        arguments: list[Node],
        node: Node,
        type_: Type = ANY,
    ) -> Typed:
        """Return a call of a member function on the object at `base`."""
        of = self.of
        signature = of.types.methods.get((owner, name))
        values, types, signature = self._resolve_overload(arguments, (owner, name), signature)
        result = signature.result if signature is not None else ANY
        if owner[:1] == "@" and signature is None:
            result = self._of_container(type_, name)
        temp = of.blocks.temp()
        of.calls.add(name)
        span = of.span(node)
        of.blocks.add(CallMethod(temp, base, owner, name, values, result, span, types))
        if owner[:1] == "@" and name in ("back", "front", "at", "top"):
            return of.load(nodes.Temp(temp), _held(type_), span)
        return nodes.Temp(temp), result

    @staticmethod
    def _of_container(type_: Type, name: str) -> Type:
        if name in ("size", "length", "find", "capacity"):
            return ULONG
        if name == "str":
            return container_of("string", CHAR)
        if name in ("c_str", "data", "get", "release", "begin", "end"):
            return pointer_to(_held(type_))
        return pointer_to(_held(type_)) if name in ("back", "front", "at", "top") else ANY

    def element(self, base: Expr, type_: Container, index: Typed, span: Span) -> Typed:
        """Return the place that `[]` of a container gives."""
        if isinstance(base, nodes.Load):
            base = base.address
        element = type_.element
        if isinstance(element, Container) or type_.kind in STRINGS:
            return nodes.Field(base, 0, element), element
        temp = self.of.blocks.temp()
        values, types = (index[0],), (index[1],)
        self.of.blocks.add(
            CallMethod(temp, base, "@" + type_.kind, "[]", values, pointer_to(element), span, types)
        )
        return nodes.Temp(temp), element

    def _template(self, node: Node, callee: Node) -> Typed:
        name = text(callee.child_by_field_name("name"))
        arguments = self.arguments(node)
        if name in _CASTS and arguments:
            listed = callee.child_by_field_name("arguments")
            kinds = (
                [c for c in listed.named_children if c.type == "type_descriptor"]
                if listed is not None
                else []
            )
            to = self.of.types.of(kinds[0]) if kinds else ANY
            if name == "dynamic_cast" and isinstance(to, Pointer):
                return self._dynamic_cast(node, arguments[0], to)
            return self._functional_cast(node, to)
        return self._direct(node, name, name, arguments)

    def _dynamic_cast(self, node: Node, argument: Node, to: Type) -> Typed:
        """Lower `dynamic_cast` of a pointer: null when what it leads to is no such object."""
        of = self.of
        value, type_ = of.value(argument)
        temp = of.blocks.temp()
        of.blocks.add(CallFunction(temp, "dynamic_cast", (value,), to, of.span(node), (type_,)))
        return nodes.Temp(temp), to

    def _functional_cast(self, node: Node, type_: Type) -> Typed:
        arguments = self.arguments(node)
        if len(arguments) != 1:
            return self.of.unknown(type_)
        if isinstance(type_, Reference):
            span = self.of.span(node)
            return self.of.through_reference(*self.of.address(arguments[0]), span)[0], type_
        value = self.of.value(arguments[0])
        return self.of.as_type(value, type_, self.of.span(node), explicit=True), type_

    def _converting_constructor(self, address: Expr, type_: Type, to: Type, node: Node) -> Typed:
        """Return the object of a class that is made of what is passed for a reference to
        one.
        """
        if (
            not isinstance(to, Record)
            or not isinstance(type_, (Pointer, Array, Integer, Float))
            or not self.of.types.is_class(to.name)
        ):
            return address, type_
        of, span = self.of, self.of.span(node)
        value, kind = of.load(address, type_, span)
        place = nodes.Local(of.scopes.declare("", to))
        of.calls.add(to.name)
        of.blocks.add(
            CallMethod(of.blocks.temp(), place, to.name, to.name, (value,), ANY, span, (kind,))
        )
        return place, to

    def _brace_list(self, node: Node, type_: Type) -> Typed:
        """Return the value of a braced list that a function is given."""
        parts = [child for child in node.named_children if child.type != "comment"]
        if isinstance(type_, Record) and self.of.types.is_class(type_.name):
            return self._temporary(node, type_.name, parts)
        for part in parts:
            self.of.value(part)
        return self.of.unknown(type_)

    def _temporary(self, node: Node, record: str, arguments: list[Node]) -> Typed:
        type_ = record_type(record)
        slot = self.of.scopes.declare("", type_)
        self.construct(nodes.Local(slot), record, arguments, node)
        return self.of.load(nodes.Local(slot), type_, self.of.span(node))

    def assign(self, place: Expr, record: str, value: Typed, node: Node) -> Typed:
        """Run the assignment operator of a class."""
        of, (given, type_), span = self.of, value, self.of.span(node)
        name = (record, "operator=")
        known = of.types.overloads.get(name) or [of.types.methods[name]]
        found = overloads.signature(known, (type_,))
        if (
            found is not None
            and found.parameters
            and isinstance(found.parameters[0], Reference)
            and isinstance(given, nodes.Load)
        ):
            given, type_ = given.address, reference_to(type_)
        temp = of.blocks.temp()
        of.calls.add("operator=")
        of.blocks.add(CallMethod(temp, place, record, "operator=", (given,), ANY, span, (type_,)))
        return nodes.Temp(temp), ANY

    def construct(self, place: Expr, record: str, arguments: list[Node], node: Node) -> None:
        """Run the constructor of a class."""
        self.method(place, record, record, arguments, node)

    def new(self, node: Node) -> Typed:
        """Lower `new T`, `new T[n]` and `new T(arguments)`. Arguments come first: where one throws,
        nothing is allocated that someone has to free. An object of a class that is not known may
        give itself to others while it is constructed."""
        of = self.of
        kind = node.child_by_field_name("type")
        type_ = ANY if kind is None else of.types.of(kind)
        declarator = node.child_by_field_name("declarator")
        count: Expr | None = None
        while declarator is not None:
            if declarator.type == "new_declarator":
                length = declarator.child_by_field_name("length")
                count = of.value(length)[0]
                break
            type_ = pointer_to(type_)
            declarator = declarator.child_by_field_name("declarator") or next(
                (c for c in declarator.named_children if "declarator" in c.type), None
            )
        placed = node.child_by_field_name("placement")
        arguments = self.arguments(node)
        span = of.span(node)
        if placed is None and count is None and arguments and type_ == ANY:
            values, types = self._values(arguments, None)
            temp = of.blocks.temp()
            of.blocks.add(CallFunction(temp, text(kind), values, pointer_to(ANY), span, types))
            return nodes.Temp(temp), pointer_to(ANY)
        owner = type_.name if count is None and isinstance(type_, Record) else ""
        values, types = (), ()
        if owner:
            signature = of.types.methods.get((owner, owner))
            values, types, _ = self._resolve_overload(arguments, (owner, owner), signature)
        temp = of.blocks.temp()
        if placed is not None and "nothrow" not in text(placed):
            if placed.named_child_count != 1:
                return of.unknown(pointer_to(type_))
            there = of.as_type(of.value(placed.named_children[0]), pointer_to(type_), span)
            of.blocks.add(SetTemp(temp, there))
        else:
            fails = placed is not None
            zeroed = not arguments and node.child_by_field_name("arguments") is not None
            of.blocks.add(New(temp, type_, count, of.types.size(type_), span, fails, zeroed))
        place = nodes.Temp(temp)
        if owner:
            of.calls.add(owner)
            of.blocks.add(
                CallMethod(of.blocks.temp(), place, owner, owner, values, ANY, span, types)
            )
        elif count is None and len(arguments) == 1:
            value = of.as_type(of.value(arguments[0]), type_, span)
            of.blocks.add(Eval(nodes.Store(place, value, type_, span)))
        return place, pointer_to(type_)

    def delete(self, node: Node) -> Typed:
        """Lower `delete p` and `delete [] p`."""
        of = self.of
        operand = node.named_children[-1] if node.named_child_count else None
        expr, type_ = of.value(operand)
        many = any(c.type == "[" for c in node.children)
        inner = pointee(type_)
        span = of.span(node)
        if not many and isinstance(inner, Record):
            temp = of.blocks.temp()
            of.blocks.add(SetTemp(temp, expr))
            expr = nodes.Temp(temp)
            name = "~" + inner.name
            of.calls.add(name)
            of.blocks.add(CallMethod(of.blocks.temp(), expr, inner.name, name, (), VOID, span, ()))
        of.blocks.add(Delete(expr, many, inner, span))
        return of.unknown(VOID)


def _is_null(expr: Expr) -> bool:
    """Return whether an expression is a null pointer, cast to some type perhaps."""
    while isinstance(expr, nodes.Cast) and isinstance(expr.type, Pointer):
        expr = expr.value
        if isinstance(expr, nodes.Const):
            return bool(expr.value == 0)
    return bool(isinstance(expr, nodes.Null))


def _held(type_: Type) -> Type:
    """Return the type of the elements of a container."""
    return type_.element if isinstance(type_, Container) else ANY
