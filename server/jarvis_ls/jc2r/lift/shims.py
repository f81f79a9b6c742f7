"""Functions that C calls, around inner ones: they check what C hands over and turn it into slices
and references."""

from __future__ import annotations

from jarvis_ls.jc2r.lift.layer_plan import Kind, Layer, Parameter
from jarvis_ls.jc2r.lift.program import Own, from_c
from jarvis_ls.jc2r.lift.rust import Source, field
from jarvis_ls.jc2r.lift.slices import HELPER

CELLS = b"""
/// What a pointer of C with so many elements behind it shows, where another may show it, too.
#[inline]
pub unsafe fn cells<'a, T>(first: *const T, count: i64) -> &'a [core::cell::Cell<T>] {
    elements(first as *const core::cell::Cell<T>, count)
}
"""
APART = b"""
/// Whether two parts of memory, each of so many elements, have no byte in common.
#[inline]
pub fn are_apart<A, B>(part: *const A, count: i64, other: *const B, others: i64) -> bool {
    let (begin, start) = (part as usize, other as usize);
    let end = begin.wrapping_add(core::mem::size_of::<A>().wrapping_mul(count.max(0) as usize));
    let stop = start.wrapping_add(core::mem::size_of::<B>().wrapping_mul(others.max(0) as usize));
    end <= start || stop <= begin
}
"""


WRITTEN = b"""
/// Set an element, or add it behind the last one.
#[inline]
pub fn put<T>(to: &mut Vec<T>, at: usize, value: T) {
    if at == to.len() { to.push(value) } else { to[at] = value }
}

/// Copy elements to where a pointer of C says.
#[inline]
pub unsafe fn write_all<T: Copy>(to: *mut T, elements: &[T]) {
    if !elements.is_empty() { core::ptr::copy(elements.as_ptr(), to, elements.len()) }
}
"""


def with_helpers(system: bytes, text: bytes) -> bytes:
    """Return the text of `sys.rs` with the functions that shims in `text` call."""
    for used, declared, helper in (
        (b"sys::put(", b"fn put<", WRITTEN),
        (b"sys::are_apart(", b"fn are_apart<", APART),
        (b"sys::cells(", b"fn cells<", CELLS),
        (b"sys::elements", b"fn elements<", HELPER),
    ):
        if declared not in system and (used in text or (helper is HELPER and CELLS in system)):
            system += helper
    return system


def shim(source: Source, layer: Layer) -> bytes:
    """Return the function that C calls, as text without what is before it."""
    body = field(layer.node, "body")
    assert body is not None
    head = source.data[layer.node.start_byte : body.start_byte]
    return head + b"{\n" + b"\n".join(_lines(layer)) + b"\n}"


def shim_from_c(layer: Layer) -> bytes:
    """Return the line that says how C would call a function that only the crate calls."""
    parameters = [(parameter.name, parameter.type) for parameter in layer.parameters]
    own = Own(layer.key, layer.file, layer.node, parameters, layer.result, [])
    return from_c(own, b" ".join(_lines(layer)))


def _lines(layer: Layer) -> list[bytes]:
    name = layer.key[1].encode()
    lines = []
    for place, other in sorted(layer.apart):
        a, b = layer.parameters[place], layer.parameters[other]
        lines.append(
            b'assert!(sys::are_apart(%b, %b), "%b: `%b` and `%b` overlap");'
            % (_extent(layer, a), _extent(layer, b), name, a.name, b.name)
        )
    vectors = [parameter for parameter in layer.converted if parameter.kind is Kind.VECTOR]
    lines += [b"let mut %b_written = Vec::new();" % parameter.name for parameter in vectors]
    made = [(p.name, _made(layer, p)) for p in layer.converted if p not in vectors]
    if len(made) == 1:
        lines.append(b"let %b = %b;" % made[0])
    elif made:
        names, values = (b", ".join(parts) for parts in zip(*made, strict=True))
        lines.append(b"let (%b) = (%b);" % (names, values))
    handed = [
        b"&mut %b_written" % parameter.name if parameter in vectors else parameter.name
        for place, parameter in enumerate(layer.parameters)
        if place not in layer.gone
    ]
    call = layer.name + b"(" + b", ".join(handed) + b")"
    if not vectors:
        return [*lines, call]
    copied = [
        b"sys::write_all(%b as *mut %b, &%b_written);" % (p.name, p.element, p.name)
        for p in vectors
    ]
    if not layer.result:
        return [*lines, call + b";", *copied]
    return [*lines, b"let result = " + call + b";", *copied, b"result"]


def _count(layer: Layer, parameter: Parameter) -> bytes:
    if parameter.length is None:
        return b"%d" % max(parameter.count, 1)
    name = layer.parameters[parameter.length].name
    whole = name if parameter.divisor == 1 else b"(%b / %d)" % (name, parameter.divisor)
    return whole + b" as i64"


def _extent(layer: Layer, parameter: Parameter) -> bytes:
    kind = parameter.element
    return b"%b as *const %b, %b" % (parameter.name, kind, _count(layer, parameter))


def _made(layer: Layer, parameter: Parameter) -> bytes:
    """Return the reference or slice made of a pointer."""
    name, element = parameter.name, parameter.element
    changing = parameter.written and not parameter.cell
    if parameter.kind is Kind.SLICE:
        maker = b"cells" if parameter.cell else b"elements_mut" if changing else b"elements"
        cast = name + (b" as *mut " if changing else b" as *const ") + element
        text = b"sys::%b(%b, %b)" % (maker, cast, _count(layer, parameter))
        return (
            b"if %b.is_null() { None } else { Some(%b) }" % (name, text)
            if (parameter.optional)
            else text
        )
    pointer = name
    if parameter.cell:
        pointer = b"(%b as *const core::cell::Cell<%b>)" % (name, element)
    text = pointer + (b".as_mut()" if changing else b".as_ref()")
    if parameter.optional:
        return text
    function = layer.key[1].encode()
    return text + b'.expect("%b: `%b` is null")' % (function, name)
