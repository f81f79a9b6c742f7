"""What declarations of C++ say: names of functions, what may call them without being seen, and how
objects of classes begin, are copied and end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.jsec.proof.symbolic.syntax import Unsupported

FUNCTIONS = frozenset(
    {"FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "CONVERSION_FUNCTION"}
)
REFERENCES = frozenset({"LVALUEREFERENCE", "RVALUEREFERENCE"})
INTERNAL = frozenset({"INTERNAL", "UNIQUE_EXTERNAL"})
_METHODS = FUNCTIONS - {"FUNCTION_DECL"}
_SCOPES = frozenset({"NAMESPACE", "LINKAGE_SPEC", "CLASS_DECL", "STRUCT_DECL", "UNION_DECL"})
_PLAIN = frozenset(
    {
        *("FIELD_DECL", "CXX_ACCESS_SPEC_DECL", "TYPEDEF_DECL", "TYPE_ALIAS_DECL", "ENUM_DECL"),
        *("VAR_DECL", "PARM_DECL", "USING_DECLARATION", "USING_DIRECTIVE", "STATIC_ASSERT"),
    }
)
"""Declarations that call nothing themselves; initialisers of variables are examined apart."""


def is_cplusplus(cursor: Any) -> bool:
    """Return whether a cursor is in a file that is C++."""
    return language_of(cursor.translation_unit.spelling) == "cpp"


def symbol(function: Any) -> str:
    """Return the name of a function, in C++ with what tells it from others of the name."""
    if not is_cplusplus(function):
        return str(function.spelling)
    mangled = function.mangled_name
    if function.kind.name == "FUNCTION_DECL" and not mangled.startswith("_Z"):
        return str(function.spelling)
    return "::".join([*_scopes(function), function.displayname])


def full_name(declaration: Any) -> str:
    """Return a name with the namespaces and classes around it."""
    return "::".join([*_scopes(declaration), declaration.spelling])


def _scopes(declaration: Any) -> list[str]:
    found: list[str] = []
    around = declaration.semantic_parent
    while around is not None and around.kind.name in _SCOPES:
        if around.kind.name != "LINKAGE_SPEC":
            found.append(around.spelling)
        around = around.semantic_parent
    return found[::-1]


def declarations(scope: Any) -> Iterator[Any]:
    """Yield the declarations of a file, those in namespaces and classes of the project too."""
    for cursor in clang.children(scope):
        name = cursor.kind.name
        is_open = name == "LINKAGE_SPEC" or not clang.in_system_header(cursor)
        if name in _SCOPES and is_open:
            yield from declarations(cursor)
        yield cursor


def is_at_file_scope(variable: Any) -> bool:
    """Return whether a variable is declared outside of functions, in C++ also in namespaces and
    classes."""
    around = variable.semantic_parent
    return around is not None and (
        around.kind.name == "TRANSLATION_UNIT" or around.kind.name in _SCOPES
    )


def names_in_others(declaration: Any) -> set[str]:
    """Return the names in a declaration that is not followed, such as a template or a friend: what
    has one of them may be called from there."""
    if declaration.kind.name in FUNCTIONS | _SCOPES | _PLAIN:
        return set()
    return names_below(declaration)


def is_method(function: Any) -> bool:
    """Return whether a function belongs to a class."""
    return function.kind.name in _METHODS


def is_called_unseen(function: Any) -> bool:
    """Return whether a function may be called without its name: a destructor, a conversion, an
    operator, or a method that is looked up while the program runs."""
    name = function.kind.name
    return name in ("DESTRUCTOR", "CONVERSION_FUNCTION") or (
        name in _METHODS
        and (bool(function.is_virtual_method()) or function.spelling.startswith("operator"))
    )


def has_class_templates(scope: Any) -> bool:
    """Return whether headers of the system bring class templates, which may call methods of the
    classes that they are used with."""
    for cursor in clang.children(scope):
        name = cursor.kind.name
        if name == "CLASS_TEMPLATE" and clang.in_system_header(cursor):
            return True
        if name in ("NAMESPACE", "LINKAGE_SPEC") and has_class_templates(cursor):
            return True
    return False


def names_below(cursor: Any) -> set[str]:
    """Return all names in a cursor and below it."""
    return {str(found.spelling) for found in _all_below(cursor) if found.spelling}


def is_without_code(declaration: Any) -> bool:
    """Return whether a declaration in a function, which is not one of a variable, does nothing: a
    class there may have methods, and what is declared together is initialised."""
    is_known = declaration.kind.name in FUNCTIONS | _SCOPES | _PLAIN
    return is_known and not any(
        cursor.kind.name == "COMPOUND_STMT" for cursor in _all_below(declaration)
    )


def begins_with_statement(choice: Any, body: Any) -> bool:
    """Return whether there is a statement before the condition of an `if`."""
    start = body.extent.start.offset
    for token in choice.get_tokens():
        if token.extent.start.offset >= start:
            return False
        if token.spelling == ";":
            return True
    return True


def is_named(call: Any) -> bool:
    """Return whether a call names a method, a constructor, or an operator."""
    function = call.referenced
    return function is not None and function.kind.name in _METHODS


def is_static(variable: Any) -> bool:
    """Return whether a variable is there as long as the program runs."""
    return is_at_file_scope(variable) or variable.storage_class.name == "STATIC"


def is_dynamic(variable: Any) -> bool:
    """Return whether code runs before a variable of static storage has its value."""
    if not is_cplusplus(variable):
        return False
    type_ = element(variable.type)
    if type_.kind.name == "RECORD" and not is_plain(type_):
        return True
    value = clang.initializer(variable)
    if value is None or (value.kind.name == "CALL_EXPR" and is_made_as_in_c(value)):
        return False
    return type_.kind.name in REFERENCES or _runs(value)


def _runs(value: Any) -> bool:
    """Return whether an initialiser calls something, or reads a variable that may change."""
    name = value.kind.name
    if name in ("CALL_EXPR", "CXX_NEW_EXPR", "CXX_DELETE_EXPR", "LAMBDA_EXPR"):
        return True
    if name == "DECL_REF_EXPR" and value.referenced.kind.name == "VAR_DECL":
        type_ = value.type.get_canonical()
        return type_.kind.name != "CONSTANTARRAY" and not type_.is_const_qualified()
    below = clang.children(value)
    is_address = name == "UNARY_OPERATOR" and value.type.get_canonical().kind.name == "POINTER"
    if is_address and below[0].kind.name == "DECL_REF_EXPR":
        return False
    return any(map(_runs, below))


def _all_below(cursor: Any) -> Iterator[Any]:
    waiting = [cursor]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += clang.children(found)


# -- classes


def element(type_: Any) -> Any:
    """Return a type, or that of the elements of an array."""
    found = type_.get_canonical()
    while found.kind.name in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
        found = found.element_type.get_canonical()
    return found


def is_plain(record: Any) -> bool:
    """Return whether objects of a class are made, copied and ended as structures of C are."""
    return has_plain_parts(record) and not any(
        cursor.kind.name == "DESTRUCTOR"
        or (cursor.kind.name == "CONSTRUCTOR" and not cursor.is_default_method())
        or cursor.spelling == "operator="
        for cursor in clang.children(record.get_declaration())
    )


def has_plain_parts(record: Any) -> bool:
    """Return whether bases and members of a class have no constructors, destructors and
    initialisers of their own."""
    declaration = record.get_declaration()
    for cursor in clang.children(declaration):
        name = cursor.kind.name
        if name == "CXX_BASE_SPECIFIER":
            base = cursor.type.get_canonical()
            if "virtual" in words_of(cursor) or not is_plain(base):
                return False
        elif name == "FIELD_DECL":
            if not {"=", "{"}.isdisjoint(words_of(cursor)):
                return False
            type_ = element(cursor.type)
            if type_.kind.name in REFERENCES:
                return False
            if type_.kind.name == "RECORD" and not is_plain(type_):
                return False
    return declaration.is_definition() or declaration.get_definition() is not None


def destructor_of(record: Any) -> Any | None:
    """Return the destructor of a class; None when objects end as in C. Raises `Unsupported` of one
    that does more than its body."""
    declaration = record.get_declaration().get_definition()
    if declaration is None:
        raise Unsupported("a class that is not defined")
    own = (c for c in clang.children(declaration) if c.kind.name == "DESTRUCTOR")
    found = next(own, None)
    if not has_plain_parts(record) or (found is not None and clang.in_system_header(found)):
        raise Unsupported("a destructor")
    return found


def is_copied_as_bytes(record: Any) -> bool:
    """Return whether a copy of an object has its bytes, and nothing else happens."""
    if not has_plain_parts(record):
        return False
    own = clang.children(record.get_declaration().get_definition())
    return not any(
        cursor.spelling == "operator="
        or (
            cursor.kind.name == "CONSTRUCTOR"
            and (cursor.is_copy_constructor() or cursor.is_move_constructor())
        )
        for cursor in own
    )


def words_of(cursor: Any) -> list[str]:
    """Return the words of a piece of code."""
    return [token.spelling for token in cursor.get_tokens()]


def is_constructor(call: Any) -> bool:
    """Return whether a call is one of a constructor."""
    made = call.referenced
    return made is not None and made.kind.name == "CONSTRUCTOR"


def is_made_as_in_c(call: Any) -> bool:
    """Return whether a constructor is called that the compiler adds, for no values."""
    return is_constructor(call) and not values_of(call) and is_added(call.referenced)


def is_added(method: Any) -> bool:
    """Return whether the compiler adds a method to a class by itself."""
    around = method.semantic_parent
    own = clang.children(around.get_definition() or around)
    return not any(cursor == method for cursor in own)


def values_of(call: Any) -> list[Any]:
    """Return what a call of a constructor is given."""
    return [cursor for cursor in clang.children(call) if not cursor.kind.is_reference()]


def bases_of(record: Any) -> list[Any]:
    """Return the bases of a class."""
    found = record.get_definition()
    below = clang.children(found) if found is not None else []
    return [cursor for cursor in below if cursor.kind.name == "CXX_BASE_SPECIFIER"]


def begins_with(record: Any, base: Any) -> bool:
    """Return whether objects of a class begin with those of its only base."""
    bases = bases_of(record)
    if len(bases) != 1 or "virtual" in words_of(bases[0]) or _has_virtual(record):
        return False
    inner = bases[0].type.get_canonical().get_declaration()
    return bool(inner == base) or begins_with(inner, base)


def _has_virtual(record: Any) -> bool:
    found = record.get_definition()
    below = clang.children(found) if found is not None else []
    return any(
        cursor.kind.name in ("CXX_METHOD", "DESTRUCTOR") and cursor.is_virtual_method()
        for cursor in below
    )


def is_allocator(function: Any) -> bool:
    """Return whether a function is what `new` or `delete` calls."""
    return bool(function.spelling.startswith(("operator new", "operator delete")))


def overloads_new(record: Any) -> bool:
    """Return whether a class, or a base of it, has an allocator of its own. Raises
    `Unsupported`."""
    declaration = record.get_declaration().get_definition()
    if declaration is None:
        raise Unsupported("a class that is not defined")
    return any(map(is_allocator, clang.children(declaration))) or any(
        overloads_new(base.type.get_canonical()) for base in bases_of(declaration)
    )


def is_ended_as_in_c(record: Any) -> bool:
    """Return whether objects of a class may be passed about as structures of C."""
    return is_copied_as_bytes(record) and destructor_of(record) is None
