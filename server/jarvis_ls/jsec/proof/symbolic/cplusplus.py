"""What C++ adds to C, read into the same trees.

References are pointers, methods are functions that get the object first, and where a block is left
the destructors of its objects are called. `throw` ends a path. Not followed are code that catches,
lambdas, templates, calls that are dispatched while the program runs, and objects of classes that
need more than the constructor and destructor which the project itself defines for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from jarvis_ls.codeintel import clang
from jarvis_ls.jsec.proof.symbolic.declarations import (
    FUNCTIONS,
    REFERENCES,
    bases_of,
    begins_with,
    destructor_of,
    element,
    has_plain_parts,
    is_added,
    is_constructor,
    is_copied_as_bytes,
    is_ended_as_in_c,
    is_made_as_in_c,
    is_method,
    is_plain,
    overloads_new,
    symbol,
    values_of,
    words_of,
)
from jarvis_ls.jsec.proof.symbolic.syntax import (
    POINTER,
    THROW,
    VOID,
    CType,
    Kind,
    Made,
    Node,
    Unsupported,
    Variable,
)

_CASTS = frozenset(
    {
        "CXX_STATIC_CAST_EXPR",
        "CXX_REINTERPRET_CAST_EXPR",
        "CXX_CONST_CAST_EXPR",
        "CXX_FUNCTIONAL_CAST_EXPR",
    }
)
_OBJECTS = frozenset({Kind.VARIABLE, Kind.DEREF, Kind.INDEX, Kind.MEMBER, Kind.ARROW, Kind.STRING})
"""What names an object, in C++ as in C."""
_COPIED = frozenset({Kind.ASSIGN, Kind.UPDATE, Kind.STEP, Kind.CHOICE, Kind.CALL})
"""What names an object in C++, but a copy of it in C."""


class Trees(Protocol):
    """What makes trees of C; see `Reader`."""

    def type(self, type_: Any) -> CType:
        """Return a type as the machine lays it out."""

    def node(self, cursor: Any, kind: Kind, parts: Sequence[Node | None], value: object) -> Node:
        """Return a node for a cursor, with its type."""

    def expression(self, cursor: Any) -> Node:
        """Return the tree of an expression. Raises `Unsupported`."""

    def variable(self, cursor: Any) -> Variable:
        """Return the variable that a declaration makes or names."""

    @property
    def this(self) -> Variable | None:
        """Return the object of the method that is read; None in other functions."""

    @property
    def record(self) -> Any | None:
        """Return its class."""


# -- functions


def object_of(function: Any, file: str) -> Variable | None:
    """Return `this` of a function; None of one that has none."""
    if not is_method(function) or function.is_static_method():
        return None
    record = function.semantic_parent.type.get_canonical()
    step = max(1, record.get_size())
    type_ = CType(POINTER.form, 8, step=step, reference=True)
    return Variable(f"{file}:{symbol(function)}:this", "this", type_, is_global=False)


def parameters_of(trees: Trees, function: Any, file: str) -> tuple[Variable, ...]:
    """Return the parameters of a function, `this` first."""
    own = object_of(function, file)
    given = tuple(trees.variable(parameter) for parameter in function.get_arguments())
    return given if own is None else (own, *given)


def check_parameters(function: Any) -> None:
    """Raise `Unsupported` when an object is passed that ends with the call."""
    for parameter in function.get_arguments():
        type_ = parameter.type.get_canonical()
        is_object = type_.kind.name == "RECORD"
        if is_object and not is_ended_as_in_c(type_):
            raise Unsupported("an object that is passed by its value")


def initialisers(trees: Trees, constructor: Any) -> list[Node]:
    """Return what a constructor does before its body, in the order of the members. Raises
    `Unsupported`."""
    record = constructor.semantic_parent.type.get_canonical()
    if not has_plain_parts(record):
        raise Unsupported("members with constructors")
    found: list[tuple[int, Node]] = []
    member: Any = None
    for cursor in clang.children(constructor):
        name = cursor.kind.name
        if name == "MEMBER_REF":
            member = cursor.referenced
        elif name in ("TYPE_REF", "PARM_DECL", "COMPOUND_STMT") or cursor.kind.is_attribute():
            continue
        elif member is None or name == "INIT_LIST_EXPR":
            raise Unsupported("a base that is initialised")
        else:
            type_ = member.type.get_canonical()
            if type_.kind.name in ("RECORD", "CONSTANTARRAY"):
                raise Unsupported("a member that is initialised")
            bits = record.get_offset(member.spelling)
            if bits < 0 or member.is_bitfield() or type_.kind.name in REFERENCES:
                raise Unsupported("member")
            value = trees.expression(cursor)
            place = Node(
                Kind.ARROW,
                trees.type(member.type),
                (_this(trees, value),),
                bits // 8,
                value.file,
                value.line,
                value.last,
            )
            found.append((bits, _like(value, Kind.ASSIGN, place.type, (place, value), None)))
            member = None
    return [node for _, node in sorted(found, key=lambda item: item[0])]


def this_near(trees: Trees, cursor: Any) -> Node:
    """Return the object of the method, for a member that is named without it."""
    if trees.this is None or cursor.referenced.semantic_parent != trees.record:
        raise Unsupported("this")
    found = trees.node(cursor, Kind.VARIABLE, [], trees.this)
    return replace(found, type=trees.this.type)


def _this(trees: Trees, near: Node) -> Node:
    if trees.this is None:
        raise Unsupported("this")
    return _like(near, Kind.VARIABLE, trees.this.type, (), trees.this)


def _like(
    near: Node, kind: Kind, type_: CType, parts: tuple[Node | None, ...], value: object
) -> Node:
    """Return a node that stands where another one does."""
    return Node(kind, type_, parts, value, near.file, near.line, near.last)


def guards(trees: Trees, statement: Any) -> list[Node]:
    """Return the calls of the destructors of what a statement declares, in its order."""
    found = []
    for cursor in clang.children(statement) if statement.kind.name == "DECL_STMT" else ():
        if cursor.kind.name != "VAR_DECL" or cursor.storage_class.name in ("STATIC", "EXTERN"):
            continue
        type_ = element(cursor.type)
        destructor = destructor_of(type_) if type_.kind.name == "RECORD" else None
        if destructor is not None:
            if cursor.type.get_canonical().kind.name != "RECORD":
                raise Unsupported("an array of objects")
            name = trees.node(cursor, Kind.VARIABLE, [], trees.variable(cursor))
            found.append(_call(destructor, _reference_to(name), ()))
    return found


def _call(function: Any, place: Node, values: Sequence[Node]) -> Node:
    """Return the call of a constructor or destructor for an object at a place."""
    callee = _like(place, Kind.FUNCTION, CType(VOID.form), (), symbol(function))
    return _like(place, Kind.CALL, VOID, (callee, place, *values), None)


def declaration(trees: Trees, cursor: Any, variable: Variable) -> Node | None:
    """Return how an object of a class begins, or a reference; None where C says it."""
    type_ = cursor.type.get_canonical()
    value = clang.initializer(cursor)
    own = (variable, cursor)
    if type_.kind.name in REFERENCES:
        if value is None:
            raise Unsupported("a reference to nothing")
        begin = bind(trees, value, type_)
        return _like(begin, Kind.DECLARE, VOID, (begin,), own)
    if element(type_).kind.name != "RECORD":
        return None
    if type_.kind.name != "RECORD":
        if not is_plain(element(type_)):
            raise Unsupported("an array of objects")
        is_made = value is not None and value.kind.name == "CALL_EXPR"
        return trees.node(cursor, Kind.DECLARE, [None], own) if is_made else None
    if value is None or value.kind.name != "CALL_EXPR" or not is_constructor(value):
        return None
    made = value.referenced
    if _is_copy(value):
        return None
    if _is_default(value):
        zero = trees.expression(value) if _is_written(value) else None
        return trees.node(cursor, Kind.DECLARE, [zero], own)
    place = trees.node(cursor, Kind.VARIABLE, [], variable)
    return trees.node(
        cursor,
        Kind.BLOCK,
        [
            trees.node(cursor, Kind.DECLARE, [None], own),
            _call(made, _reference_to(place), _arguments(trees, value, made)),
        ],
        "open",
    )


def _is_copy(call: Any) -> bool:
    """Return whether a constructor copies the bytes of an object of the same class."""
    made, record = call.referenced, call.type.get_canonical()
    below = values_of(call)
    if len(below) != 1 or not (made.is_copy_constructor() or made.is_move_constructor()):
        return False
    if not is_copied_as_bytes(record):
        raise Unsupported("a copy")
    return True


def _is_default(call: Any) -> bool:
    """Return whether an object is made as a structure of C is."""
    record = element(call.type)
    if not is_made_as_in_c(call):
        return False
    if not has_plain_parts(record):
        raise Unsupported("a constructor")
    return True


def _is_written(call: Any) -> bool:
    """Return whether an object is made by `T()`, which sets all of it to zero."""
    return any(cursor.kind.is_reference() for cursor in clang.children(call))


def _arguments(trees: Trees, call: Any, function: Any) -> list[Node]:
    """Return what is passed to a constructor of the project."""
    record = call.type.get_canonical()
    if not has_plain_parts(record) or clang.in_system_header(function):
        raise Unsupported("a constructor")
    return arguments_of(trees, values_of(call), function)


# -- expressions


def arguments_of(trees: Trees, cursors: Sequence[Any], function: Any) -> list[Node]:
    """Return the arguments of a call; those for references are addresses."""
    types = [type_.get_canonical() for type_ in function.type.get_canonical().argument_types()]
    return [
        bind(trees, cursor, types[number])
        if number < len(types) and types[number].kind.name in REFERENCES
        else trees.expression(cursor)
        for number, cursor in enumerate(cursors)
    ]


def bind(trees: Trees, cursor: Any, reference: Any | None) -> Node:
    """Return the address that a reference of a type gets: that of the object, or of a new one that
    has the value; without a type, of an object alone. Raises `Unsupported`."""
    node = trees.expression(cursor)
    inner = node
    while inner.kind is Kind.CONVERT and not inner.value and inner.type == inner.part(0).type:
        inner = inner.part(0)
    if inner.kind in _OBJECTS:
        if not is_place(inner):
            raise Unsupported("a reference to a copy")
        return _reference_to(inner)
    if inner.kind in _COPIED and inner.kind is not Kind.CALL:
        raise Unsupported("a reference to a copy")
    if reference is None:
        raise Unsupported("a reference to a temporary object")
    type_ = trees.type(reference.get_pointee())
    if type_.form is not node.type.form or element(reference.get_pointee()).kind.name == "RECORD":
        raise Unsupported("a reference to a temporary object")
    made = _like(node, Kind.LITERAL, type_, (node,), None)
    return _reference_to(made)


def is_place(node: Node) -> bool:
    """Return whether an expression names an object in C as it does in C++."""
    while node.kind in (Kind.MEMBER, Kind.CONVERT):
        node = node.part(0)
    return node.kind not in _COPIED


def _reference_to(node: Node) -> Node:
    type_ = CType(POINTER.form, 8, step=max(1, node.type.size), reference=True)
    return _like(node, Kind.ADDRESS, type_, (node,), True)


def dereference(node: Node, type_: CType) -> Node:
    """Return what a reference refers to, of a type."""
    return _like(node, Kind.DEREF, type_, (node,), None)


def expression(trees: Trees, cursor: Any, below: Sequence[Any]) -> Node | None:
    """Return the tree of an expression of C++; None when it is one of C. Raises `Unsupported`."""
    match cursor.kind.name:
        case "CXX_THIS_EXPR":
            if trees.this is None:
                raise Unsupported("this")
            return trees.node(cursor, Kind.VARIABLE, [], trees.this)
        case "CXX_NULL_PTR_LITERAL_EXPR" | "GNU_NULL_EXPR":
            return trees.node(cursor, Kind.NUMBER, [], 0)
        case "CXX_THROW_EXPR":
            callee = trees.node(cursor, Kind.FUNCTION, [], THROW)
            return trees.node(cursor, Kind.CALL, [callee], None)
        case "CXX_NEW_EXPR":
            return _new(trees, cursor, below)
        case "CXX_DELETE_EXPR":
            return _delete(trees, cursor, below)
        case "CALL_EXPR":
            return _call_of(trees, cursor)
        case "UNEXPOSED_EXPR" | "CSTYLE_CAST_EXPR":
            if len(below) == 1:
                _check_cast(below[0].type, cursor.type)
            return None
        case name if name in _CASTS:
            if len(below) != 1:
                raise Unsupported("cast")
            if cursor.type.get_canonical().kind.name in REFERENCES:
                raise Unsupported("cast")
            _check_cast(below[0].type, cursor.type)
            return trees.node(cursor, Kind.CONVERT, [trees.expression(below[0])], True)
    return None


def _check_cast(before: Any, after: Any) -> None:
    """Raise `Unsupported` where a class becomes another one at another address."""
    first, second = before.get_canonical(), after.get_canonical()
    if first.kind.name == "POINTER" and second.kind.name == "POINTER":
        first, second = first.get_pointee().get_canonical(), second.get_pointee().get_canonical()
    if first.kind.name != "RECORD" or second.kind.name != "RECORD":
        return
    left, right = first.get_declaration(), second.get_declaration()
    is_same = left == right or begins_with(left, right) or begins_with(right, left)
    if not is_same and (bases_of(left) or bases_of(right)):
        raise Unsupported("a base elsewhere")


def _new(trees: Trees, cursor: Any, below: Sequence[Any]) -> Node:
    words = [word for word in words_of(cursor) if word != "::"]
    if not words and cursor.extent.start.file is None and _is_single(below):
        words = ["new"]  # libclang does not know where `new struct T` is written
    if words[:1] != ["new"]:
        raise Unsupported("new in a macro")
    rest = words[1:]
    may_fail = False
    if rest[:1] == ["("]:
        end = rest.index(")")
        if "nothrow" not in rest[:end]:
            raise Unsupported("new at a place")
        may_fail, rest = True, rest[end + 1 :]
        below = [c for c in below if c.spelling != "nothrow"]
    opened = next((word for word in rest if word in ("[", "(", "{", "<")), "")
    if opened == "<":
        raise Unsupported("new of a template")
    pointee = cursor.type.get_canonical().get_pointee().get_canonical()
    if pointee.kind.name == "RECORD" and overloads_new(pointee):
        raise Unsupported("an allocator of a class")
    if pointee.kind.name in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
        raise Unsupported("new of arrays")
    is_zero = opened == "{" or "()" in "".join(rest[-2:])
    element = trees.type(pointee)
    if opened == "[":
        count = trees.expression(below[0])
        if len(below) > 2 or (len(below) == 2 and not _is_left_alone(below[1], is_zero)):
            raise Unsupported("new with values")
        return trees.node(cursor, Kind.NEW, [count, None], Made(element, True, may_fail, is_zero))
    made = Made(element, False, may_fail, is_zero)
    if not below:
        return trees.node(cursor, Kind.NEW, [None, None], made)
    if len(below) != 1:
        raise Unsupported("new with values")
    value = below[0]
    if value.kind.name == "CALL_EXPR" and is_constructor(value):
        if _is_default(value):
            return trees.node(cursor, Kind.NEW, [None, None], made)
        if not _is_copy(value):
            return _make_object(trees, cursor, value, made)
    return trees.node(cursor, Kind.NEW, [None, trees.expression(value)], made)


def _is_single(below: Sequence[Any]) -> bool:
    """Return whether `new` surely makes an object as a structure of C is made."""
    return len(below) == 1 and below[0].kind.name == "CALL_EXPR" and is_made_as_in_c(below[0])


def _is_left_alone(value: Any, is_zero: bool) -> bool:
    """Return whether the elements of a new array have no values of their own."""
    if value.kind.name != "CALL_EXPR":
        return is_zero
    return is_constructor(value) and _is_default(value)


def _make_object(trees: Trees, cursor: Any, call: Any, made: Made) -> Node:
    """Return `new` of an object whose constructor is then called."""
    if made.may_fail:
        raise Unsupported("new of an object that may fail")
    new = trees.node(cursor, Kind.NEW, [None, None], made)
    name = f"{new.file}:{cursor.location.line}:{cursor.location.column}:new"
    variable = Variable(name, "new", new.type, is_global=False)
    place = _like(new, Kind.VARIABLE, new.type, (), variable)
    target = dereference(place, made.element)
    constructor = call.referenced
    call_ = _call(constructor, _reference_to(target), _arguments(trees, call, constructor))
    begin = _like(new, Kind.DECLARE, VOID, (new,), (variable, cursor))
    return _like(new, Kind.BLOCK, new.type, (begin, call_, place), None)


def _delete(trees: Trees, cursor: Any, below: Sequence[Any]) -> Node:
    words = [word for word in words_of(cursor) if word != "::"]
    if words[:1] != ["delete"] or len(below) != 1:
        raise Unsupported("delete in a macro")
    is_array = words[1:3] == ["[", "]"]
    pointer = trees.expression(below[0])
    pointee = below[0].type.get_canonical().get_pointee().get_canonical()
    destructor = None
    if pointee.kind.name == "RECORD":
        if overloads_new(pointee):
            raise Unsupported("an allocator of a class")
        destructor = destructor_of(pointee)
        if destructor is not None and (is_array or destructor.is_virtual_method()):
            raise Unsupported("a destructor")
    if destructor is None:
        return trees.node(cursor, Kind.DELETE, [pointer], is_array)
    name = f"{pointer.file}:{cursor.location.line}:{cursor.location.column}:delete"
    variable = Variable(name, "delete", pointer.type, is_global=False)
    place = _like(pointer, Kind.VARIABLE, pointer.type, (), variable)
    ended = _call(destructor, _reference_to(dereference(place, trees.type(pointee))), ())
    statements = (
        _like(pointer, Kind.DECLARE, VOID, (pointer,), (variable, cursor)),
        _like(pointer, Kind.IF, VOID, (place, ended, None), None),
        _like(pointer, Kind.DELETE, VOID, (place,), False),
    )
    return _like(pointer, Kind.BLOCK, VOID, statements, None)


def _call_of(trees: Trees, cursor: Any) -> Node | None:
    """Return the tree of a call; None of one that C has as well."""
    function = cursor.referenced
    if function is None:
        raise Unsupported("call")
    kind = function.kind.name
    if kind not in FUNCTIONS:
        if cursor.type.get_canonical().kind.name == "RECORD":
            raise Unsupported("call")
        return None
    if kind == "CONSTRUCTOR":
        if _is_copy(cursor):
            return trees.expression(values_of(cursor)[0])
        if _is_default(cursor):
            return trees.node(cursor, Kind.LIST, [], None)
        raise Unsupported("a temporary object")
    below = clang.children(cursor)
    result = function.result_type.get_canonical()
    if result.kind.name == "RECORD" and not is_ended_as_in_c(result):
        raise Unsupported("an object that is returned")
    if kind == "FUNCTION_DECL" or function.is_static_method():
        callee, values = _operands(below, function)
        parts = [trees.node(callee, Kind.FUNCTION, [], symbol(function))]
    elif below and below[0].kind.name == "MEMBER_REF_EXPR":
        member, *values = below
        named = trees.node(member, Kind.FUNCTION, [], symbol(function))
        parts = [named, _object(trees, member, function, named)]
    else:
        callee, values = _operands(below, function)
        if not values:
            raise Unsupported("an operator")
        if function.spelling == "operator=" and is_added(function):
            return _assign(trees, cursor, values, function)
        named = trees.node(callee, Kind.FUNCTION, [], symbol(function))
        parts = [named, _place_of(trees, values.pop(0), function)]
    nodes = [*parts, *arguments_of(trees, values, function)]
    if result.kind.name in REFERENCES:
        call = trees.node(cursor, Kind.CALL, nodes, None)
        call = _like(call, Kind.CALL, trees.type(result), call.parts, None)
        return dereference(call, trees.type(result.get_pointee()))
    return trees.node(cursor, Kind.CALL, nodes, None)


def _operands(below: Sequence[Any], function: Any) -> tuple[Any, list[Any]]:
    """Return what names the function that is called, and what it is given: that of an operator
    stands between its operands."""
    for number, child in enumerate(below):
        callee = _skip_casts(child)
        if callee.kind.name == "DECL_REF_EXPR" and callee.referenced == function:
            return callee, [*below[:number], *below[number + 1 :]]
    raise Unsupported("an operator")


def _assign(trees: Trees, cursor: Any, values: Sequence[Any], function: Any) -> Node:
    """Return an assignment that the compiler adds to a class: it copies all bytes."""
    record = function.semantic_parent.type.get_canonical()
    if len(values) != 2 or not is_copied_as_bytes(record):
        raise Unsupported("an assignment")
    place, value = map(trees.expression, values)
    if values[0].type.get_canonical().get_declaration() != record.get_declaration():
        raise Unsupported("an assignment to a base")
    if not is_place(place):
        raise Unsupported("a change of a result")
    return trees.node(cursor, Kind.ASSIGN, [place, value], None)


def _skip_casts(cursor: Any) -> Any:
    while cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR"):
        below = [child for child in clang.children(cursor) if not child.kind.is_reference()]
        if len(below) != 1:
            break
        cursor = below[0]
    return cursor


def _object(trees: Trees, member: Any, function: Any, near: Node) -> Node:
    """Return the address of the object that a method is called for."""
    below = [child for child in clang.children(member) if not child.kind.is_reference()]
    if not below:
        if function.is_virtual_method() or function.semantic_parent != trees.record:
            raise Unsupported("a virtual method, or one of a base")
        return _this(trees, near)
    if below[0].type.get_canonical().kind.name == "POINTER":
        if function.is_virtual_method():
            raise Unsupported("a virtual method")
        record = below[0].type.get_canonical().get_pointee()
        return _reference_to(dereference(trees.expression(below[0]), trees.type(record)))
    return _place_of(trees, below[0], function)


def _place_of(trees: Trees, cursor: Any, function: Any) -> Node:
    """Return the address of an object that a method is called for, by an expression for it."""
    inner = trees.expression(cursor)
    while inner.kind is Kind.CONVERT:
        inner = inner.part(0)
    if inner.kind not in _OBJECTS or not is_place(inner):
        raise Unsupported("a method of a temporary object")
    if function.is_virtual_method() and not _is_exactly(cursor, function.semantic_parent):
        raise Unsupported("a virtual method")
    return _reference_to(inner)


def _is_exactly(cursor: Any, record: Any) -> bool:
    """Return whether an expression names a variable that is an object of a class, and of no class
    that is derived from it."""
    named = _skip_casts(cursor)
    if named.kind.name != "DECL_REF_EXPR":
        return False
    type_ = named.referenced.type.get_canonical()
    return bool(type_.kind.name == "RECORD" and type_.get_declaration() == record)
