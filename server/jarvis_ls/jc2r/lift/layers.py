"""Functions in two layers: an inner one in terms of slices and references, and a shim for C.

A parameter becomes a slice when the function only reaches elements through it and its body shows
how many there are, and a reference when all that is done with it is to look through it. Where two
parameters may show the same memory and one of them is written through, numbers of one size are in
cells, which may be shared; of structures, and of bytes and numbers, the shim checks that they are
apart. What is only written, one element
behind the other, goes to a vector, which the shim copies to where C wants it. Everything is settled
together, as the greatest fixpoint: a parameter that is handed on is what the other function takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.equivalence.shared_libraries import FROM_C
from jarvis_ls.jc2r.lift.layer_lengths import Lengths
from jarvis_ls.jc2r.lift.layer_plan import INNER, Kind, Layer, Parameter, Refused
from jarvis_ls.jc2r.lift.layer_text import InnerText
from jarvis_ls.jc2r.lift.pointer_regions import (
    SIZES,
    VOID,
    is_null_value,
    is_star,
    known_names,
    moved_parameters,
    target_of,
)
from jarvis_ls.jc2r.lift.program import (
    Key,
    addresses,
    arguments_of,
    is_exported,
    key_of,
    module_of,
    outermost,
    parameters_of,
    places,
)
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, name_of
from jarvis_ls.jc2r.lift.shims import shim, shim_from_c, with_helpers
from jarvis_ls.jc2r.lift.soundness import types_of
from jarvis_ls.jc2r.lift.unsafe_operations import root_of

ROUNDS = 60
"""Times that the layers of a crate are settled; what is not settled then has none."""
_WORD = re.compile(rb"\w+")


class _Crate:
    """The layers of one crate."""

    def __init__(self, sources: list[Source], excluded: Set[str]) -> None:
        self.sources = sources
        self.functions = {
            (module_of(source), name_of(node)): (number, node)
            for number, source in enumerate(sources)
            for node in source.functions
        }
        self.outside = addresses(sources) | {
            key
            for key, (number, node) in self.functions.items()
            if is_exported(sources[number], node)
        }
        self._nonzero = types_of(sources).nonzero
        self._parts = _parts_of_types(sources)
        self._known = known_names(sources)
        self.layers = {
            layer.key: layer
            for key, (number, node) in self.functions.items()
            if key[1] not in excluded
            and (key[0], key[1] + INNER) not in self.functions
            and (layer := self._begin(key, number, node)) is not None
        }
        self.texts: dict[Key, bytes] = {}
        """New bodies."""
        self.raw_calls: set[Key] = set()
        self._seen: dict[Key, tuple[str, bytes, set[Key]]] = {}

    def settle(self) -> None:
        """Find what every parameter becomes, and write all bodies."""
        self._begin_elements()
        for _ in range(ROUNDS):
            changed = self._write_bodies()
            if changed or self._measure() or self._separate():
                self._drop_empty()
                continue
            for layer in self.layers.values():
                layer.alone = not self.has_shim(layer.key)
            self._write_bodies()
            return
        self.layers.clear()

    def _begin_elements(self) -> None:
        """Note what slices consist of, before calls are compared with that."""
        for layer in list(self.layers.values()):
            source = self.sources[layer.file]
            try:
                text = InnerText(source, layer.node, layer, self.layers, self._known)
                self._take_elements(layer, text)
            except Refused:
                continue  # it will be again when its body is written

    def has_shim(self, key: Key) -> bool:
        """Return whether a function is called with raw pointers."""
        return key in self.outside or key in self.raw_calls

    def _begin(self, key: Key, number: int, node: Node) -> Layer | None:
        """Return a function with what its parameters may at best become."""
        source = self.sources[number]
        modifiers = next((c for c in node.children if c.type == "function_modifiers"), None)
        named = parameters_of(source, node)
        body = field(node, "body")
        plain = field(node, "type_parameters") is None and "#" not in key[1] and key[1] != "main"
        if modifiers is None or b'unsafe extern "C"' not in source.text(modifiers) or not plain:
            return None
        if named is None or body is None or source.path.stem == "sys":
            return None
        parameters = [Parameter(name, kind) for name, kind in named]
        moved = moved_parameters(source, body, {name for name, _ in named})
        for parameter in parameters:
            parameter.moved = parameter.name in moved
            self._classify(source, body, parameter)
        result = field(node, "return_type")
        shown = any(child.type == "visibility_modifier" for child in node.children)
        kind = b"" if result is None else source.text(result)
        layer = Layer(key, number, node, parameters, kind, shown)
        return layer if layer.converted else None

    def _classify(self, source: Source, body: Node, parameter: Parameter) -> None:
        target = target_of(parameter.type)
        used = places(source, body, parameter.name)
        words = set(_WORD.findall(target))
        if not target or not used or words & self._nonzero or b"dyn" in words:
            return
        looked = all(
            _is_looked_through(source, node) or (target not in SIZES and _is_cleared(source, node))
            for node in used
        )
        if looked and target != VOID and not parameter.moved:
            parameter.kind = Kind.REFERENCE
            parameter.element = target
        elif not target.startswith(b"*"):
            parameter.kind = Kind.SLICE

    def _write_bodies(self) -> bool:
        """Write every function; return whether one of them shows that something has to change."""
        self.raw_calls = set()
        changed = False
        for key, (number, node) in self.functions.items():
            source = self.sources[number]
            layer = self.layers.get(key)
            state = self._state(source, node, layer)
            if key in self._seen and self._seen[key][0] == state:
                self.texts[key] = self._seen[key][1]
                self.raw_calls |= self._seen[key][2]
                continue
            if field(node, "body") is None:
                continue
            try:
                text = InnerText(source, node, layer, self.layers, self._known)
                if layer is not None:
                    self._take_elements(layer, text)
                body = text.body()
            except Refused as refused:
                self._refuse(layer, refused)
                changed = True
                continue
            self.texts[key] = body
            self.raw_calls |= text.raw_calls
            if layer is not None and self._learn(layer, text):
                changed = True
            else:
                self._seen[key] = (state, body, text.raw_calls)
        return changed

    def _state(self, source: Source, node: Node, layer: Layer | None) -> str:
        """Return what the text of a function depends on."""
        called = {
            key_of(source.text(function), source)
            for call in below(node, "call_expression")
            if (function := field(call, "function")) is not None
            and function.type != "field_expression"
        }
        known = [self.layers[key] for key in sorted(called & self.layers.keys())]
        about = [(other.alone, other.parameters) for other in known]
        own = None if layer is None else (layer.parameters, sorted(layer.left))
        return repr((own, about))

    def _take_elements(self, layer: Layer, text: InnerText) -> None:
        for parameter in layer.converted:
            if parameter.kind is not Kind.REFERENCE:
                parameter.element = text.element(parameter.name)
                if parameter.element not in SIZES and parameter.cell:
                    raise Refused(parameter.name)

    def _refuse(self, layer: Layer | None, refused: Refused) -> None:
        """Leave a parameter or an array as it is."""
        assert layer is not None
        parameter = layer.parameter(refused.name)
        if parameter is None and refused.name and refused.name not in layer.left:
            layer.left.add(refused.name)
        elif parameter is None or parameter.kind is Kind.RAW:
            del self.layers[layer.key]
        else:
            parameter.kind = Kind.RAW
            self._drop_empty()

    def _drop_empty(self) -> None:
        for key in [key for key, layer in self.layers.items() if not layer.converted]:
            del self.layers[key]

    def _learn(self, layer: Layer, text: InnerText) -> bool:
        """Take over what a text has shown of its parameters; return whether it was news."""
        changed = False
        for parameter in layer.converted:
            optional = parameter.optional or parameter.name in text.tested
            if parameter.kind is Kind.REFERENCE and not optional:
                optional = not text.is_surely_used(parameter.name)
            written = parameter.written or parameter.name in text.written
            if (optional, written) != (parameter.optional, parameter.written):
                parameter.optional, parameter.written = optional, written
                changed = True
        return changed

    def _measure(self) -> bool:
        """Find the lengths of slices; return whether some have none, or another than before."""
        changed = False
        for layer in list(self.layers.values()):
            source = self.sources[layer.file]
            text = InnerText(source, layer.node, layer, self.layers, self._known)
            lengths = Lengths(source, layer, text, self.layers)
            for parameter in layer.converted:
                if parameter.kind is not Kind.SLICE:
                    continue
                before = parameter.length, parameter.divisor, parameter.count
                try:
                    found = lengths.find(parameter)
                except Refused:
                    found = False
                if not found and self.has_shim(layer.key):
                    appended = lengths.is_appended(parameter) and not parameter.optional
                    parameter.kind, changed = Kind.VECTOR if appended else Kind.RAW, True
                elif before != (parameter.length, parameter.divisor, parameter.count):
                    changed = True
        return changed

    def _separate(self) -> bool:
        """Settle what may be the same memory; return whether something has changed."""
        changed = False
        for layer in self.layers.values():
            for place, other in _pairs(layer):
                changed = self._separate_two(layer, place, other) or changed
        return changed

    def _separate_two(self, layer: Layer, place: int, other: int) -> bool:
        a, b = layer.parameters[place], layer.parameters[other]
        if not (a.written or b.written) or not self._may_overlap(a.element, b.element):
            return False
        if SIZES.get(a.element, 0) == SIZES.get(b.element, -1):
            if a.cell and b.cell:
                return False
            a.cell = b.cell = True
            return True
        if (place, other) in layer.apart:
            return False
        if a.element == b.element or self._is_called_with_parts(layer, place, other):
            a.kind = b.kind = Kind.RAW
            return True
        if not self.has_shim(layer.key):
            return False  # the compiler sees all callers
        layer.apart.add((place, other))
        return True

    def _may_overlap(self, kind: bytes, other: bytes) -> bool:
        """Return whether C lets memory be of both types at once, or one be part of the other."""
        sizes = SIZES.get(kind), SIZES.get(other)
        if None not in sizes:
            return 1 in sizes or (
                sizes[0] == sizes[1] and (b"f" in kind[:1]) == (b"f" in other[:1])
            )
        parts = [self._reachable(kind), self._reachable(other)]
        return 1 in sizes or bool(parts[0] & parts[1])

    def _reachable(self, kind: bytes) -> set[bytes]:
        """Return the types that memory of a type consists of, numbers without their sign."""
        found: set[bytes] = set()
        waiting = {b"*"} if kind.startswith(b"*") else set(_WORD.findall(kind)) - {b"types"}
        while waiting:
            word = waiting.pop()
            if word not in found:
                found.add(word)
                waiting |= self._parts.get(word, set())
        return {word.replace(b"i", b"u", 1) if word in SIZES else word for word in found}

    def _is_called_with_parts(self, layer: Layer, place: int, other: int) -> bool:
        """Return whether some call hands over two parts of one thing."""
        for source in self.sources:
            for call in below(source.root, "call_expression"):
                function, arguments = field(call, "function"), arguments_of(call)
                if function is None or len(arguments) != len(layer.parameters):
                    continue
                if key_of(source.text(function), source) != layer.key:
                    continue
                handed = [bare(arguments[at]) or call for at in (place, other)]
                roots = [source.text(root_of(node)) for node in handed]
                members = [_member_handed(source, node) for node in handed]
                if roots[0] == roots[1] and (b"" in members or members[0] == members[1]):
                    return True
        return False


def layers(sources: list[Source], excluded: Set[str]) -> dict[int, bytes]:
    """Return new texts by the index of their file; functions whose names are `excluded` stay. An
    inner function has the name of the old one with `INNER` behind it where C needs that one, too.
    """
    system = next((at for at, source in enumerate(sources) if source.path.stem == "sys"), None)
    if system is None:
        return {}
    crate = _Crate(sources, excluded)
    crate.settle()
    if not crate.layers:
        return {}
    made = {}
    for number, source in enumerate(sources):
        text = source.with_functions(lambda _, node, source=source: _text(crate, source, node))  # type: ignore[misc]
        if text != source.data:
            made[number] = text
    made[system] = with_helpers(made.get(system, sources[system].data), b"".join(made.values()))
    return made


def inner_functions(sources: list[Source]) -> dict[str, str]:
    """Return the functions that take other parameters than in C, with their names in C."""
    found = {}
    for source in sources:
        for node in source.functions:
            name, before = name_of(node), node.prev_sibling
            if name.endswith(INNER):
                found[name] = name.removesuffix(INNER)
            elif before is not None and source.text(before).startswith(FROM_C.encode()):
                found[name] = name
    return found


def _text(crate: _Crate, source: Source, node: Node) -> bytes:
    key = module_of(source), name_of(node)
    body, layer = field(node, "body"), crate.layers.get(key)
    said = crate.texts.get(key)
    if said is None or body is None:
        return source.text(node)
    if layer is None:
        return source.data[node.start_byte : body.start_byte] + said
    inner = _inner(layer, said)
    if layer.alone:
        return shim_from_c(layer) + inner
    about = b"/// The same as `%b`, with what C hands over checked.\n" % key[1].encode()
    return shim(source, layer) + b"\n\n" + about + inner


def _inner(layer: Layer, body: bytes) -> bytes:
    parameters, begun = [], []
    for place, parameter in enumerate(layer.parameters):
        name = parameter.name
        if parameter.kind is Kind.RAW:
            if place not in layer.gone:
                parameters.append(b"mut " + name + b": " + parameter.type)
            continue
        again = parameter.kind is Kind.REFERENCE and parameter.optional and parameter.written
        parameters.append((b"mut " if again else b"") + name + b": " + parameter.inner_type())
        if parameter.kind is Kind.SLICE and parameter.optional:
            begun.append(b"let %b_is_null = %b.is_none();" % (name, name))
            begun.append(b"let %b = %b.unwrap_or_default();" % (name, name))
        if parameter.kind is not Kind.REFERENCE and parameter.moved:
            begun.append(b"let mut %b_at: isize = 0;" % name)
    for place in sorted(layer.gone):
        length = layer.parameters[place]
        first = next(p for p in layer.converted if p.length == place and p.divisor == 1)
        begun.append(
            b"let mut %b: %b = %b.len() as %b;"
            % (length.name, length.type, first.name, length.type)
        )
    arrow = b" -> " + layer.result if layer.result else b""
    shown = b"pub " if layer.shown else b""
    head = shown + b"unsafe fn " + layer.name + b"(" + b", ".join(parameters) + b")" + arrow
    return head + b" {\n" + b"\n".join(begun) + body[1:]


def _pairs(layer: Layer) -> Iterator[tuple[int, int]]:
    lent = (Kind.REFERENCE, Kind.SLICE)
    found = [at for at, parameter in enumerate(layer.parameters) if parameter.kind in lent]
    for position, place in enumerate(found):
        for other in found[position + 1 :]:
            if Kind.RAW not in (layer.parameters[place].kind, layer.parameters[other].kind):
                yield place, other


def _member_handed(source: Source, node: Node) -> bytes:
    """Return the member whose address is handed over; empty when it is no whole member."""
    at: Node | None = node
    while at is not None and at.type in ("type_cast_expression", "reference_expression"):
        at = bare(field(at, "value"))
    method = field(at, "function") if at is not None and at.type == "call_expression" else None
    if method is not None and source.text(method).endswith((b".as_mut_ptr", b".as_ptr")):
        at = bare(field(method, "value"))
    name = None if at is None or at.type != "field_expression" else field(at, "field")
    return b"" if name is None else source.text(name)


def _is_looked_through(source: Source, name: Node) -> bool:
    """Return whether a name is as in `*name`, compared with null, or an argument."""
    around = outermost(name).parent
    if around is None:
        return False
    if is_star(around) or around.type == "arguments":
        return True
    if around.type == "field_expression":
        method = field(around, "field")
        return method is not None and source.text(method) == b"is_null"
    if around.type == "binary_expression":
        return any(is_null_value(source, field(around, side)) for side in ("left", "right"))
    return False


def _is_cleared(source: Source, name: Node) -> bool:
    """Return whether a pointer is, with another type, an argument of `memset`."""
    cast = outermost(name).parent
    arguments = None if cast is None else outermost(cast).parent
    if cast is None or cast.type != "type_cast_expression":
        return False
    if arguments is None or arguments.type != "arguments" or arguments.parent is None:
        return False
    function = field(arguments.parent, "function")
    return function is not None and source.text(function) == b"sys::memset"


def _parts_of_types(sources: list[Source]) -> dict[bytes, set[bytes]]:
    """Return what each structure consists of, as words; pointers are `*`."""
    found: dict[bytes, set[bytes]] = {}
    for source in sources:
        for item in below(source.root, "struct_item", "union_item", "type_item"):
            parts = found.setdefault(name_of(item).encode(), set())
            kinds = [field(member, "type") for member in below(item, "field_declaration")]
            if item.type == "type_item":
                kinds = [field(item, "type")]
            for kind in kinds:
                if kind is None:
                    continue
                if any(True for _ in below(kind, "pointer_type", "function_type")):
                    parts.add(b"*")
                else:
                    parts |= set(_WORD.findall(source.text(kind))) - {b"types"}
    return found
