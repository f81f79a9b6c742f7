"""Which unsafe operations are sound whoever calls the function around them, and why.

Only what is recognised here may be in a safe function: everything else rests on what callers hand
over, on public fields, on other threads or on how C was called, and its function stays `unsafe`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as field_of

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.expression_types import Declared, declarations_of
from jarvis_ls.jc2r.lift.format_proofs import (
    proof_of_printing,
    proof_of_reading,
    text_of,
)
from jarvis_ls.jc2r.lift.program import arguments_of
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first, name_of, variable_of
from jarvis_ls.jc2r.lift.standard_streams import kept_streams
from jarvis_ls.jc2r.lift.unsafe_operations import Kind, Operation, declaration_of, flat

_ZEROED = re.compile(rb"(?:core::)?(?:sys|mem)::zeroed::<(.+)>\Z", re.DOTALL)
_SIGNED = re.compile(rb"core::mem::transmute::<\[u8; (\w+)\], \[i8; (\w+)\]>\Z")
"""Letters of C in an array of their own."""
_NUMBER = re.compile(rb"(?:[iu](?:8|16|32|64|128|size)|f32|f64)\Z")
_SOLID = re.compile(
    rb"\[*(?:[iu](?:8|16|32|64|128|size)|f32|f64|\*(?:mut|const) [\w: ]+)(?:; ?\w+\])*\Z"
)
"""Types without padding: numbers, raw pointers, and arrays of these."""
_TOTAL = frozenset(
    """
abs labs llabs toupper tolower towupper towlower rand random clock getpid getppid getuid geteuid
sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10
log1p pow sqrt cbrt hypot ceil floor trunc round rint nearbyint lround llround lrint llrint fabs
fmod fmin fmax fdim fma ldexp scalbn copysign remainder erf erfc tgamma
sinf cosf tanf asinf acosf atanf atan2f expf logf log2f log10f powf sqrtf ceilf floorf truncf roundf
fabsf fmodf fminf fmaxf ldexpf
malloc calloc abort htons htonl ntohs ntohl __errno_location __ctype_b_loc
__ctype_tolower_loc __ctype_toupper_loc
""".split()
)
"""Functions of the C library that are defined for all arguments and take no pointer."""
_UNTRUSTED = ("reference_type", "never_type", "dynamic_type", "abstract_type")
_GENERIC = frozenset(b"Option PhantomData MaybeUninit UnsafeCell Cell".split())


@dataclass(frozen=True, slots=True)
class Types:
    """What is known of the types of a crate."""

    nonzero: frozenset[bytes]
    """Types of which zero bytes need not be a value."""
    unions: dict[bytes, dict[bytes, bytes]]
    """Members of each union, with their types."""
    packed: bool
    """Whether some type has fields that are not aligned."""
    streams: frozenset[str] = frozenset()
    """The standard streams that stay what and where they are."""
    declared: Declared = field_of(default_factory=Declared)
    """What items are."""


def types_of(sources: Sequence[Source], left: Iterable[bytes] = ()) -> Types:
    """Return what is known of the types that the files define; `left` are the texts of the C that
    stays."""
    items = [
        (source, item)
        for source in sources
        for item in below(source.root, "struct_item", "union_item", "enum_item", "type_item")
    ]
    unions = {
        name_of(item).encode(): {
            source.text(name): source.text(kind)
            for member in below(item, "field_declaration")
            if (name := field(member, "name")) and (kind := field(member, "type"))
        }
        for source, item in items
        if item.type == "union_item"
    }
    nonzero = {
        name_of(item).encode()
        for source, item in items
        if item.type == "enum_item" or not _may_be_zero(source, item)
    }
    more = True
    while more:
        more = False
        for source, item in items:
            made = name_of(item).encode()
            if made not in nonzero and any(
                source.text(used) in nonzero for used in below(item, "type_identifier")
            ):
                nonzero.add(made)
                more = True
    packed = any(b"packed" in source.text(node) for source, node in _attributes(sources))
    return Types(
        frozenset(nonzero), unions, packed, kept_streams(sources, left), declarations_of(sources)
    )


def proof_of(source: Source, operation: Operation, types: Types) -> str:
    """Return what makes an operation sound for every caller, as words of a comment; empty when
    nothing that is known here does."""
    if operation.kind is Kind.CALL:
        return _of_call(source, operation, types)
    if operation.kind is Kind.UNION:
        return _of_member(source, operation.node, types)
    if operation.kind is Kind.DEREFERENCE:
        return _of_address(source, operation.node, types)
    if operation.kind is Kind.STATIC:
        name = flat(source.text(operation.node))
        return f"nothing gives `{name}` another value" if name in types.streams else ""
    return ""


def proof_of_block(source: Source, block: Node, types: Types) -> str:
    """Return what makes an `unsafe` block sound that was there before, as `proof_of` does."""
    body = first(block)
    inner = None if body is None or body.named_child_count != 1 else bare(first(body))
    if inner is None or inner.type != "call_expression":
        return ""
    function = field(inner, "function")
    name = "" if function is None else flat(source.text(function))
    given = field(inner, "arguments")
    if given is None or any(
        node.type == "call_expression"
        or (value := first(node)) is None
        # what `*b"…"` looks through is no raw pointer
        or value.type != "string_literal"
        for node in below(given, "call_expression", "unary_expression")
    ):
        return ""  # something unsafe may be inside
    return _of_call(
        source, Operation(Kind.CALL, inner, name.split("::<")[0].split("::")[-1]), types
    )


def _of_call(source: Source, operation: Operation, types: Types) -> str:
    function = field(operation.node, "function")
    callee = b"" if function is None else b"".join(source.text(function).split(b"\n"))
    if (made := _ZEROED.match(callee)) is not None and operation.name == "zeroed":
        kind = flat(made[1])
        words = set(re.findall(rb"\w+", made[1]))
        if b"<" in made[1] and not made[1].startswith(b"Option<"):
            return ""
        if words & types.nonzero or b"&" in made[1] or (b"fn" in words and b"Option" not in words):
            return ""
        plain = _NUMBER.match(made[1]) is not None
        return (
            f"zero is a value of `{kind}`"
            if plain
            else f"`{kind}` has only numbers, raw pointers and optional functions in it, for all of"
            " which zero bytes are a value"
        )
    if (signed := _SIGNED.match(callee)) is not None and signed[1] == signed[2]:
        return "both arrays have the same length, and every byte is a value of `i8`"
    if callee == b"sys::__assert_fail" and all(
        _is_text(source, argument) for argument in arguments_of(operation.node)
    ):
        return "`__assert_fail` reads texts that end with a zero, and ends the process"
    if operation.name in _TOTAL and callee == b"sys::" + operation.name.encode():
        return f"`{operation.name}` takes numbers only and is defined for all of them"
    if callee == b"sys::" + operation.name.encode() and (
        read := proof_of_reading(source, operation.node, operation.name, types.declared)
    ):
        return read
    if callee == b"sys::" + operation.name.encode():
        return proof_of_printing(
            source, operation.node, operation.name, types.declared, types.streams
        )
    return ""


def _is_text(source: Source, argument: Node) -> bool:
    """Return whether an argument is a number, or the address of a text that ends with a zero."""
    node = bare(argument)
    while node is not None and node.type == "type_cast_expression":
        node = bare(field(node, "value"))
    if node is not None and node.type == "integer_literal":
        return True
    return text_of(source, argument) is not None


def _of_member(source: Source, node: Node, types: Types) -> str:
    """Return why a member of a union may be read: a local variable that began as zeros, of which
    only members without padding are there to be stored, so that all its bytes stay set; and the
    member is a number."""
    member, whole = field(node, "field"), bare(field(node, "value"))
    if node.type != "field_expression" or member is None or whole is None:
        return ""
    declared = declaration_of(source, whole) if whole.type == "identifier" else None
    if declared is None or declared.type != "let_declaration":
        return ""
    kind, value = field(declared, "type"), field(declared, "value")
    if kind is None or value is None or b"mem::zeroed::<" not in source.text(value):
        return ""
    members = types.unions.get(source.text(kind).rsplit(b"::", 1)[-1], {})
    if _NUMBER.match(members.get(source.text(member), b"")) is None:
        return ""
    if not all(_SOLID.match(other) for other in members.values()):
        return ""  # what is stored may leave bytes that are not set
    name = source.text(whole)
    for other in below(_function_of(node), "identifier"):
        used = other.parent
        if source.text(other) != name or (used is not None and used == declared):
            continue
        if used is None or used.type != "field_expression" or field(used, "value") != other:
            return ""
        if used.parent is not None and used.parent.type == "reference_expression":
            return ""
    number = members[source.text(member)].decode()
    return f"`{name.decode()}` began as zeros, and all bytes are a value of `{number}`"


def _of_address(source: Source, pointer: Node, types: Types) -> str:
    """Return why a pointer may be dereferenced: it is this thread's `errno`, or a name for the
    address of a local variable, or of what a reference shows, that cannot be gone."""
    text = flat(source.text(pointer))
    if text == "sys::__errno_location()":
        return "`__errno_location` returns the address of this thread's `errno`"
    declared = declaration_of(source, pointer) if pointer.type == "identifier" else None
    if declared is None or declared.type != "let_declaration" or _is_mutable(declared):
        return ""
    address = field(declared, "value")
    place = None
    if address is not None and address.type == "reference_expression":
        place = field(address, "value")
    if place is None or types.packed or not _is_own_place(source, place):
        return ""
    return f"`{text}` is the address of `{flat(source.text(place))}`, which is there until after it"


def _is_own_place(source: Source, place: Node) -> bool:
    """Return whether a place is in a local variable, or in what a reference shows, by way of fields
    and elements with a bounds check only."""
    node = place
    while node.type in ("field_expression", "index_expression", "parenthesized_expression"):
        inner = field(node, "value") if node.type == "field_expression" else first(node)
        if inner is None:
            return False
        node = inner
    through = node.type == "unary_expression" and node.children[0].type == "*"
    name = (bare(first(node)) if through else node) or node
    declared = declaration_of(source, name) if name.type == "identifier" else None
    kind = None if declared is None else field(declared, "type")
    if kind is None:
        return False
    if kind.type == "reference_type":
        return through and declared is not None and declared.type == "parameter"
    return not through and kind.type in (
        "primitive_type",
        "array_type",
        "scoped_type_identifier",
        "type_identifier",
    )


def _may_be_zero(source: Source, item: Node) -> bool:
    """Return whether all parts of a type may be zero bytes, as far as it names no other type."""
    if any(True for _ in below(item, *_UNTRUSTED)):
        return False
    for kind in below(item, "generic_type"):
        name = field(kind, "type")
        if name is None or source.text(name).rsplit(b"::", 1)[-1] not in _GENERIC:
            return False
    return all(
        function.parent is not None and function.parent.type == "type_arguments"
        for function in below(item, "function_type")
    )


def _attributes(sources: Iterable[Source]) -> Iterator[tuple[Source, Node]]:
    for source in sources:
        for node in below(source.root, "attribute_item"):
            yield source, node


def _is_mutable(declared: Node) -> bool:
    return any(child.type == "mutable_specifier" for child in declared.children)


def _function_of(node: Node) -> Node:
    while node.type != "function_item" and node.parent is not None:
        node = node.parent
    return node


def has_sound_blocks(source: Source, function: Node, types: Types) -> bool:
    """Return whether every `unsafe` block that a function has from before is sound."""
    body = field(function, "body")
    return body is None or all(
        proof_of_block(source, block, types) for block in below(body, "unsafe_block")
    )


def parameter_names(source: Source, function: Node) -> list[bytes]:
    """Return the names of the parameters of a function."""
    parameters = field(function, "parameters")
    return [
        variable_of(source, parameter)
        for parameter in (() if parameters is None else below(parameters, "parameter"))
    ]
