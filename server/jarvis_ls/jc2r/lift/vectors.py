"""Memory that one local variable owns becomes a `Vec`, or a `Box` when it is one value.

That is a pointer which gets the result of one `malloc` or `calloc`, is freed in the same function,
and is else only looked through, asked whether it is null, or handed to functions of the system that
neither keep nor free it. The memory then begins with zeros, it goes back where it was freed or the
variable ends, and elements have Rust's bounds checks. What other functions keep, free or make
larger stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import (
    LITERAL,
    arguments_of,
    element_of,
    is_looked_through,
    is_named_anew,
    outermost,
    places,
)
from jarvis_ls.jc2r.lift.rust import (
    Say,
    Source,
    bare,
    below,
    field,
    first,
    rewritten,
    variable_of,
)

HELPER = b"""
/// So many elements of C's plain data, all zero; none when there is no memory.
#[inline]
pub unsafe fn zeroed<T: Copy>(count: u64) -> Vec<T> {
    let mut made = Vec::new();
    let count = usize::max(count as usize, 1);
    if made.try_reserve_exact(count).is_ok() {
        made.resize(count, core::mem::zeroed());
    } else {
        extern "C" {
            fn malloc(size: usize) -> *mut core::ffi::c_void;
        }
        core::hint::black_box(malloc(usize::MAX)); // sets errno, as it would in C
    }
    made
}
"""
"""Goes into `sys.rs` when something needs it."""
_SIZES = {b"8": 1, b"16": 2, b"32": 4, b"64": 8, b"size": 8}
_PLAIN = re.compile(rb"(?:[iuf](8|16|32|64|size)|(bool)|(\*(?:mut|const) .+))\Z")
_BORROWING = frozenset(
    b"""
memset memcpy memmove memcmp memchr strlen strnlen strcmp strncmp strcpy strncpy strcat strncat
strtol strtoul strtod atoi atol sprintf snprintf sscanf printf fprintf fputs puts fread fwrite fgets
read write qsort bsearch
""".split()
)
"""Functions of the system that neither keep nor free what they are handed."""
_POINTING = frozenset(b"memset memcpy memmove memchr strcpy strncpy strcat strncat fgets".split())
"""Of these, those that hand a pointer back: their result must not be kept."""


@dataclass(frozen=True, slots=True)
class _Owned:
    """One variable that owns its memory."""

    name: bytes
    element: bytes
    """Type of an element."""
    count: bytes
    """How many, as C works it out."""
    made: Node
    """The assignment, or the declaration."""


def vectors(source: Source, function: Node) -> bytes:
    """Return a function with its memory in `Vec` and `Box`."""
    body = field(function, "body")
    found = (
        {}
        if body is None
        else {
            owned.name: owned
            for node in below(body, "let_declaration")
            if (owned := _allocation_of(source, body, node)) is not None
        }
    )
    if not found or body is None:
        return source.text(function)
    boxes = {name for name, owned in found.items() if _is_box(source, body, owned)}

    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "let_declaration":
            owned = found.get(variable_of(source, node))
            return (
                None
                if owned is None
                else _declaration(owned, owned.name in boxes, owned.made == node)
            )
        for owned in found.values():
            said = _replacement(source, node, owned, owned.name in boxes, say)
            if said is not None:
                return said
        return None

    return rewritten(source.data, function, rule)


def _allocation_of(source: Source, body: Node, declared: Node) -> _Owned | None:
    """Return the allocation that a declared pointer owns."""
    name, kind = variable_of(source, declared), field(declared, "type")
    if kind is None or not source.text(kind).startswith(b"*mut ") or not name:
        return None
    element = source.text(kind)[5:]
    if element.endswith(b"c_void") or _count_of(source, body, name) != 1:
        return None
    freed = makes = 0
    made: tuple[Node, bytes] | None = None
    value = field(declared, "value")
    if value is not None and (count := _element_count(source, value, element)):
        makes, made = 1, (declared, count)
    elif value is not None and not _is_null(source, value):
        return None
    for node in places(source, body, name):
        if node.parent == declared:
            continue
        change = node.parent
        if (
            change is not None
            and change.type == "assignment_expression"
            and (field(change, "left") == node)
        ):
            right = field(change, "right")
            count = b"" if right is None else _element_count(source, right, element)
            if count:
                makes, made = makes + 1, (change, count)
            elif right is None or not _is_null(source, right):
                return None
        elif _is_freed(source, node):
            freed += 1
        elif not (_is_used(source, node) or _is_asked(source, node) or _is_lent(source, node)):
            return None
    if makes != 1 or not freed or made is None:
        return None
    return _Owned(name, element, made[1], made[0])


def _element_count(source: Source, value: Node, element: bytes) -> bytes:
    """Return how many elements an expression allocates; empty when it allocates none of this
    type.
    """
    inner = bare(value)
    while inner is not None and inner.type == "type_cast_expression":
        inner = bare(field(inner, "value"))
    if inner is None or inner.type != "call_expression":
        return b""
    called, arguments = field(inner, "function"), arguments_of(inner)
    name = b"" if called is None else source.text(called)
    size = _size(element)
    if name == b"sys::malloc" and len(arguments) == 1:
        whole = bare(arguments[0])
        number = None if whole is None else LITERAL.match(source.text(whole))
        if number is not None and size and int(number[1]) % size == 0:
            return b"%d" % (int(number[1]) // size)
        if number is not None and not size:
            return b"size " + number[1]
        return b"" if whole is None else _product(source, whole, size)
    if name == b"sys::calloc" and len(arguments) == 2:
        for count, each in (arguments, arguments[::-1]):
            number = LITERAL.match(source.text(bare(each) or each))
            if number is not None and size and int(number[1]) == size:
                return source.text(count)
    return b""


def _product(source: Source, whole: Node, size: int) -> bytes:
    """Return the count of `count * size`."""
    if size == 1:
        return source.text(whole)
    method = field(whole, "function") if whole.type == "call_expression" else None
    name = None if method is None else field(method, "field")
    if method is None or name is None or source.text(name) != b"wrapping_mul" or not size:
        return b""
    left, right = field(method, "value"), arguments_of(whole)[0]
    for count, each in ((left, right), (right, left)):
        number = None if each is None else LITERAL.match(source.text(bare(each) or each))
        if number is not None and int(number[1]) == size and count is not None:
            return source.text(count)
    return b""


def _size(element: bytes) -> int:
    """Bytes of a plain type; 0 of a structure."""
    match = _PLAIN.match(element)
    if match is None:
        return 0
    return _SIZES[match[1]] if match[1] else 1 if match[2] else 8


def _is_box(source: Source, body: Node, owned: _Owned) -> bool:
    """Return whether it is one value whose presence no one asks for."""
    return (owned.count == b"1" or owned.count.startswith(b"size ")) and not any(
        _is_asked(source, node) or _is_lent(source, node) or element_of(source, node) is not None
        for node in places(source, body, owned.name)
        if not _is_freed(source, node)
    )


def _declaration(owned: _Owned, box: bool, made: bool) -> bytes:
    kind = b"Box<" if box else b"Vec<"
    text = b"let mut " + owned.name + b": " + kind + owned.element + b">"
    if made:
        return text + b" = " + _new(owned, box) + b";"
    return text + (b";" if box else b" = Vec::new();")


def _new(owned: _Owned, box: bool) -> bytes:
    """Return the expression that allocates."""
    size = owned.count.removeprefix(b"size ")
    sure = b"const { assert!(core::mem::size_of::<" + owned.element + b">() == " + size + b") }; "
    sure = sure if owned.count.startswith(b"size ") else b""
    if box:
        value = b"Box::new(unsafe { core::mem::zeroed::<" + owned.element + b">() })"
        return b"{ " + sure + value + b" }" if sure else value
    count = b"1" if sure else owned.count
    value = b"sys::zeroed::<" + owned.element + b">(" + count + b")"
    return b"{ " + sure + value + b" }" if sure else value


def _replacement(source: Source, node: Node, owned: _Owned, box: bool, say: Say) -> bytes | None:
    """Return the replacement for a node that is about the variable; None for every other."""
    name = owned.name
    if node.type == "assignment_expression":
        left = field(node, "left")
        if left is None or source.text(left) != name:
            return None
        empty = name + b" = Vec::new()" if not box else b"()"
        return name + b" = " + _new(owned, box) if node == owned.made else empty
    if node.type == "call_expression":
        inner = next((at for at in below(node, "identifier") if source.text(at) == name), None)
        if inner is None:
            return None
        if _is_freed(source, inner) and _around(inner) == node:
            return b"core::mem::drop(" + name + b")" if box else name + b" = Vec::new()"
        if _is_asked(source, inner) and inner.parent is not None and inner.parent.parent == node:
            return name + b".is_empty()"
    if node.type == "identifier" and source.text(node) == name and _is_lent(source, node):
        return name + b".as_mut_ptr()"
    if node.type in ("unary_expression", "parenthesized_expression") and not box:
        star = bare(node)
        if star is None or star.type != "unary_expression" or star.children[0].type != "*":
            return None
        pointer = bare(first(star))
        if pointer is not None and source.text(pointer) == name:
            return name + b"[0]"
        method = None if pointer is None else field(pointer, "function")
        base = None if method is None else bare(field(method, "value"))
        if base is None or source.text(base) != name:
            return None
        index = element_of(source, base)
        return None if index is None else name + b"[" + _place(source, index, say) + b"]"
    return None


def _place(source: Source, index: Node, say: Say) -> bytes:
    """Return an index as Rust wants it."""
    inner = bare(index) or index
    if inner.type == "integer_literal" and (number := LITERAL.match(source.text(inner))):
        return number[1]
    if inner.type in ("identifier", "field_expression", "call_expression"):
        return say(inner) + b" as usize"
    return b"(" + say(inner) + b") as usize"


def _is_used(source: Source, node: Node) -> bool:
    return is_looked_through(node) or element_of(source, node) is not None


def _is_asked(source: Source, node: Node) -> bool:
    method = node.parent
    name = None if method is None or method.type != "field_expression" else field(method, "field")
    return name is not None and source.text(name) == b"is_null"


def _around(node: Node) -> Node | None:
    """Return the call that a name, perhaps with another type, is an argument of."""
    whole = outermost(node)
    while whole.parent is not None and whole.parent.type == "type_cast_expression":
        whole = outermost(whole.parent)
    arguments = whole.parent
    return None if arguments is None or arguments.type != "arguments" else arguments.parent


def _is_freed(source: Source, node: Node) -> bool:
    call = _around(node)
    function = None if call is None else field(call, "function")
    return function is not None and source.text(function) == b"sys::free"


def _is_lent(source: Source, node: Node) -> bool:
    """Return whether it is handed to a function that returns it when it returns."""
    call = _around(node)
    function = None if call is None else field(call, "function")
    if call is None or function is None or not source.text(function).startswith(b"sys::"):
        return False
    name = source.text(function)[5:]
    kept = outermost(call).parent
    idle = kept is not None and kept.type == "expression_statement"
    return name in _BORROWING and (name not in _POINTING or idle)


def _is_null(source: Source, value: Node) -> bool:
    inner = bare(value)
    while inner is not None and inner.type == "type_cast_expression":
        inner = bare(field(inner, "value"))
    return inner is not None and source.text(inner).startswith((b"core::ptr::null", b"0"))


def _count_of(source: Source, body: Node, name: bytes) -> int:
    """Return how many variables have the name."""
    again = is_named_anew(source, body, name)
    return (
        sum(variable_of(source, node) == name for node in below(body, "let_declaration"))
        if again
        else 1
    )
