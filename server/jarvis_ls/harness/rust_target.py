"""A Rust function as a test that calls it with arguments at the boundaries of their types.

The test is a module behind the file, so that private functions can be called as they are. Its cases
are numbered: a case is a row of choices, one value for each argument.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.codeintel.parse import Node, parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.words import Words
from jarvis_ls.harness.target import Unsuitable

RESULT = "HARNESS: result "
"""How the line begins that shows what a call gave, as its `Debug` does."""
_CASES = re.compile(r"^    static JSEC_CASES: &\[&\[u16\]\] = &\[(.*)\];$", re.MULTILINE)
_DRIVER = Path(__file__).with_name("rust_driver.rs")
_DEEPEST = 3
_MOST_VALUES = 60
_MOST_CASES = 500
_MOST_MEMBERS = 12
"""Of a structure that is made member by member."""
_MOST_PAIRS = 8
"""Values of an argument that are combined with those of another."""
_BITS = {"8": 8, "16": 16, "32": 32, "64": 64, "128": 128, "size": 64}
_INTEGER = re.compile(r"([iu])(8|16|32|64|128|size)")
_NUMBER = re.compile(
    rb"(?<![\w.])(0x[0-9a-fA-F_]{1,16}|[0-9][0-9_]{0,18})(?:[iu](?:\d+|size))?(?![\w.])"
)
_LITERAL = re.compile(rb'(?<![\w\\])"((?:[^"\\\n]|\\.){1,60})"')
_FLOATS = ("0.0", "1.0", "-1.0", "0.5", "1e10", "-1e10", "MAX", "MIN", "NAN", "INFINITY", "1e-300")
_CHARS = ("'a'", "'\\0'", "'0'", "'é'", "' '", "'\\u{10FFFF}'")
_TEXTS = (
    '""',
    '"a"',
    '"0"',
    '"-1"',
    '"1"',
    '"10"',
    '"99999999999999999999"',
    '"é"',
    '"aé"',
    '"a b"',
    '"a=b"',
    '":"',
    '"="',
    '"1/0"',
    '"a,b,c"',
    '"\\n"',
    '"{}"',
    '"[1,2]"',
    '"x".repeat(300)',
)
_SIZES = (0, 1, 2, 3, 16, 300)
_LENGTH = re.compile(r"(?:^|_)(?:len|length|n|size|count|num)(?:_|$)")
_READERS = re.compile(r"\b(?:Read|BufRead|Seek)\b")
_OF_TEXT = re.compile(
    r"\b(?:AsRef\s*<\s*(?:str|Path|OsStr)\s*>|Into\s*<\s*String\s*>|ToString|Display)"
)
_OF_BYTES = re.compile(r"\bAsRef\s*<\s*\[\s*u8\s*\]\s*>")


@dataclass(frozen=True, slots=True)
class RustTarget:
    """A module of tests and what its cases are."""

    text: str
    """To be put behind the file of the function."""
    cases: tuple[tuple[str, ...], ...]
    """Of each case: what each argument is, such as `index = 3usize`."""
    free: bool
    """Whether safe code anywhere may call the function so: it is public, and no case has a value
    that the crate itself would not make."""


@dataclass(frozen=True, slots=True)
class _Values:
    """How values of a type are made."""

    owned: str
    """Type that is made."""
    made: tuple[str, ...]
    """Expressions of it, the plainest first."""
    passed: str = "{}"
    """How what is made is handed over."""
    honest: bool = True
    """Whether any code could make these values."""


def functions_in(source: Source) -> list[Node]:
    """Return the functions with a body of a file, in order."""
    found = []
    stack = [parse(source.data, "rust").root_node]
    while stack:
        node = stack.pop()
        if node.type == "function_item":
            found.append(node)
        elif not node.type.endswith(("_expression", "_literal", "_statement")):
            stack += node.named_children
    return sorted(found, key=lambda node: node.start_byte)


def name_of(function: Node) -> str:
    """Return the name of a function."""
    return text(function.child_by_field_name("name"))


def count_cases(harness: str) -> int:
    """Return how many cases the text of a `RustTarget` has."""
    table = _CASES.search(harness)
    return table[1].count("[") if table is not None else 0


def make_rust_target(source: Source, function: Node, numbers: Sequence[int]) -> RustTarget:
    """Return a test module that calls a function of a file; `numbers` are worth a try with their
    neighbours. Raises `Unsuitable`.
    """
    return _Writer(source, function, numbers).target()


class _Writer:
    """Writes the module for one function."""

    def __init__(self, source: Source, function: Node, numbers: Sequence[int]) -> None:
        self._source, self._function = source, function
        root = parse(source.data, "rust").root_node
        self._types = {
            text(node.child_by_field_name("name")): node
            for node in root.named_children
            if node.type in ("struct_item", "enum_item")
        }
        self._impls = [node for node in root.named_children if node.type == "impl_item"]
        own = source.data[function.start_byte : function.end_byte]
        found = [
            int(n.replace(b"_", b""), 0 if n[:2] == b"0x" else 10) for n in _NUMBER.findall(own)
        ]
        known = dict.fromkeys(n + d for n in (*found, *numbers) for d in (0, 1, -1))
        self._numbers = list(known)[:40]
        literals = dict.fromkeys(_LITERAL.findall(own))
        self._texts = [f'"{t.decode("utf-8", "replace")}"' for t in literals][:12]
        self._impl: Node | None = None
        self._type = ""

    def target(self) -> RustTarget:
        """Return the module. Raises `Unsuitable`."""
        function = self._function
        around = [
            node
            for node in ancestors(function)
            if node.type not in ("declaration_list", "source_file")
        ]
        if around and around[0].type == "impl_item":
            self._impl = around.pop(0)
            self._type = text(self._impl.child_by_field_name("type"))
        if around:
            raise Unsuitable(Words("it is inside of another item"))
        if self._impl is not None and self._impl.child_by_field_name("type_parameters"):
            raise Unsuitable(Words("its type has parameters"))
        modifiers = " ".join(text(c) for c in function.children if c.type == "function_modifiers")
        if "async" in modifiers or ("const" in modifiers.split() and "extern" in modifiers):
            raise Unsuitable(Words("it is asynchronous"))
        bounds = self._bounds()
        values, names = [], []
        path = f"{self._type}::{name_of(function)}" if self._impl is not None else name_of(function)
        parameters = function.child_by_field_name("parameters")
        pointer = False
        for node in parameters.named_children if parameters is not None else ():
            if node.type == "self_parameter":
                names.append("self")
                values.append(self._receiver(node))
            elif node.type == "parameter":
                name = text(node.child_by_field_name("pattern"))
                names.append(name)
                kind = node.child_by_field_name("type")
                if pointer and _LENGTH.search(name) and _INTEGER.fullmatch(text(kind)):
                    made = tuple(f"{n}{text(kind)}" for n in (16, 0, 1, 15))
                    values.append(_Values(text(kind), made))
                else:
                    values.append(self._values(kind, 0, bounds))
                pointer = kind is not None and kind.type == "pointer_type"
        unsafe = "unsafe" in modifiers
        visible = any(
            text(c) == "pub" for c in function.children if c.type == "visibility_modifier"
        )
        trait = self._impl is not None and self._impl.child_by_field_name("trait") is not None
        free = (visible or trait or not names) and not unsafe and all(v.honest for v in values)
        rows = list(itertools.islice(_rows([len(v.made) for v in values]), _MOST_CASES))
        cases = tuple(
            tuple(f"{n} = {v.made[c]}" for n, v, c in zip(names, values, row, strict=True))
            for row in rows
        )
        return RustTarget(self._text(path, values, rows, unsafe=unsafe), cases, free)

    def _text(
        self, path: str, values: Sequence[_Values], rows: Iterable[Sequence[int]], *, unsafe: bool
    ) -> str:
        lines = [_DRIVER.read_text(encoding="utf-8")]
        for place, value in enumerate(values):
            arms = " ".join(f"{at} => {made}," for at, made in enumerate(value.made[:-1]))
            lines.append(
                f"    fn jsec_made{place}(at: u16) -> {value.owned} {{ match at {{ {arms} "
                f"_ => {value.made[-1]} }} }}"
            )
        table = ", ".join(f"&[{', '.join(map(str, row))}]" for row in rows)
        words = ", ".join(
            value.passed.format(f"jsec_made{place}(row[{place}])")
            for place, value in enumerate(values)
        )
        call = f"{path}({words})"
        call = f"unsafe {{ {call} }}" if unsafe else call
        lines.append(f"    static JSEC_CASES: &[&[u16]] = &[{table}];")
        result = self._function.child_by_field_name("return_type")
        if result is not None and text(result) == "!":  # there is no result to print
            lines.append(f"    fn jsec_call(row: &[u16]) {{ {call}; }}\n}}\n")
            return "\n".join(lines)
        shown = f'std::println!("\\n{RESULT}{{}}", (&JsecShown({call})).text())'
        lines.append(
            "    fn jsec_call(row: &[u16]) { "
            f'if jsec_number("JSEC_RESULT").is_some() {{ {shown}; }} '
            f"else {{ let _ = std::hint::black_box({call}); }} }}\n}}\n"
        )
        return "\n".join(lines)

    def _bounds(self) -> dict[str, str]:
        """Return the bounds of the type parameters by their name."""
        found = {}
        listed = self._function.child_by_field_name("type_parameters")
        for node in listed.named_children if listed is not None else ():
            if node.type == "lifetime_parameter" or node.type == "lifetime":
                continue
            name, _, bound = text(node).partition(":")
            found[name.strip()] = bound.partition("=")[0]
        for node in self._function.named_children:
            if node.type == "where_clause":
                for part in node.named_children:
                    name, _, bound = text(part).partition(":")
                    if name.strip() in found:
                        found[name.strip()] += f" {bound}"
        return found

    def _values(self, kind: Node | None, depth: int, bounds: dict[str, str]) -> _Values:
        """Return how values of a type are made. Raises `Unsuitable`."""
        if kind is None or depth > _DEEPEST:
            raise _unsuitable(kind)
        written = text(kind)
        if match := _INTEGER.fullmatch(written):
            return _Values(written, self._integers(match))
        if written in ("f32", "f64"):
            made = tuple(f"{written}::{f}" if f.isalpha() else f"{f}{written}" for f in _FLOATS)
            return _Values(written, made)
        if written == "bool":
            return _Values(written, ("false", "true"))
        if written == "char":
            return _Values(written, _CHARS)
        if kind.type == "unit_type":
            return _Values("()", ("()",))
        if kind.type == "reference_type":
            return self._reference(kind, depth, bounds)
        if kind.type == "pointer_type":
            return self._pointer(kind, depth, bounds)
        if kind.type == "array_type":
            inner = self._values(kind.child_by_field_name("element"), depth + 1, bounds)
            made = tuple(f"std::array::from_fn(|_| {m})" for m in inner.made[:12])
            return (
                _Values(written, made, honest=inner.honest) if inner.passed == "{}" else _no(kind)
            )
        if kind.type == "tuple_type":
            parts = [self._values(child, depth + 1, bounds) for child in kind.named_children]
            if any(part.passed != "{}" for part in parts):
                raise _unsuitable(kind)
            rows = itertools.islice(_rows([len(p.made) for p in parts]), _MOST_VALUES)
            made = tuple(
                "(" + "".join(f"{p.made[c]}, " for p, c in zip(parts, row, strict=True)) + ")"
                for row in rows
            )
            return _Values(written, made, honest=all(part.honest for part in parts))
        if kind.type in ("abstract_type", "dynamic_type"):
            return self._bound(kind, written)
        if kind.type == "generic_type":
            return self._generic(kind, depth, bounds)
        if written in bounds:
            return self._bound(kind, bounds[written])
        name = written.rpartition("::")[2]
        if name == "String":
            return _Values("String", self._strings())
        if name in ("PathBuf", "OsString"):
            made = tuple(f"{m}.into()" for m in self._strings())
            return _Values(f"std::{'path' if name == 'PathBuf' else 'ffi'}::{name}", made)
        if written == "Self" and self._type:
            return self._own(self._type, depth)
        if written in self._types:
            return self._own(written, depth)
        raise _unsuitable(kind)

    def _integers(self, match: re.Match[str]) -> tuple[str, ...]:
        kind, bits = match[0], _BITS[match[2]]
        low, high = (
            (-(1 << bits - 1), (1 << bits - 1) - 1) if match[1] == "i" else (0, (1 << bits) - 1)
        )
        listed = [
            1,
            0,
            2,
            -1,
            high,
            low,
            high - 1,
            low + 1,
            *self._numbers,
            10,
            16,
            64,
            100,
            255,
            256,
        ]
        listed += [1 << 31, (1 << 31) - 1, 1 << 32, high // 2 + 1, 1000]
        chosen = dict.fromkeys(n for n in listed if low <= n <= high)
        return tuple(
            f"{kind}::MIN" if n == low and low else f"({n}{kind})" if n < 0 else f"{n}{kind}"
            for n in chosen
        )[:_MOST_VALUES]

    def _strings(self) -> tuple[str, ...]:
        return tuple(f"String::from({t})" for t in (*_TEXTS, *self._texts))

    def _many(self, inner: _Values) -> tuple[str, ...]:
        """Return expressions of vectors of what `inner` makes."""
        plain = inner.made[0]
        made = [f"(0..{n}).map(|_| {plain}).collect::<Vec<_>>()" for n in (3, *_SIZES)]
        made += [f"vec![{m}]" for m in inner.made[1:12]]
        made += [f"vec![{m}, {plain}, {m}]" for m in inner.made[1:8]]
        if inner.owned == "u8":
            made += [f"{t}.as_bytes().to_vec()" for t in self._texts]
            made += ["(0..=255u8).collect::<Vec<_>>()", "vec![255u8; 64]"]
        return tuple(dict.fromkeys(made))[:_MOST_VALUES]

    def _reference(self, kind: Node, depth: int, bounds: dict[str, str]) -> _Values:
        inner = kind.child_by_field_name("type")
        mutable = any(child.type == "mutable_specifier" for child in kind.children)
        if inner is None:
            raise _unsuitable(kind)
        written = text(inner)
        if written == "str":
            return _Values(
                "String", self._strings(), "{}.as_mut_str()" if mutable else "{}.as_str()"
            )
        if written.rpartition("::")[2] in ("Path", "OsStr"):
            made = tuple(f"std::path::PathBuf::from({m})" for m in self._strings())
            tail = "as_path()" if written.endswith("Path") else "as_os_str()"
            return _Values("std::path::PathBuf", made, "{}." + tail)
        if inner.type == "array_type" and inner.child_by_field_name("length") is None:
            element = self._values(inner.child_by_field_name("element"), depth + 1, bounds)
            if element.passed == "{}.as_str()":
                made = self._many(_Values("&'static str", (*_TEXTS[:-1], *self._texts)))
                return _Values("Vec<&'static str>", made, "{}.as_slice()")
            if element.passed != "{}":
                raise _unsuitable(kind)
            tail = "as_mut_slice()" if mutable else "as_slice()"
            made = self._many(element)
            return _Values(f"Vec<{element.owned}>", made, "{}." + tail, element.honest)
        value = self._values(inner, depth + 1, bounds)
        if value.passed != "{}":
            raise _unsuitable(kind)
        return _Values(value.owned, value.made, "&mut {}" if mutable else "&{}", value.honest)

    def _pointer(self, kind: Node, depth: int, bounds: dict[str, str]) -> _Values:
        inner = self._values(kind.child_by_field_name("type"), depth + 1, bounds)
        if inner.passed != "{}":
            raise _unsuitable(kind)
        mutable = any(child.type == "mutable_specifier" for child in kind.children)
        null = f"std::ptr::null{'_mut' if mutable else ''}::<{inner.owned}>()"
        many = [f"(0..16).map(|_| {m}).collect::<Vec<_>>()" for m in inner.made[:6]]
        made = tuple(f"std::boxed::Box::leak({m}.into_boxed_slice()).as_mut_ptr()" for m in many)
        return _Values(text(kind), (*made, null), honest=False)

    def _bound(self, kind: Node, bound: str) -> _Values:
        """Return values for a type of which only the traits are known."""
        if _READERS.search(bound):
            made = self._many(_Values("u8", ("0u8", "255u8", "10u8", "65u8")))
            return _Values(
                "std::io::Cursor<Vec<u8>>", tuple(f"std::io::Cursor::new({m})" for m in made)
            )
        if _OF_BYTES.search(bound):
            return _Values("Vec<u8>", self._many(_Values("u8", ("0u8", "255u8", "65u8"))))
        if _OF_TEXT.search(bound):
            return _Values("String", self._strings())
        raise _unsuitable(kind)

    def _generic(self, kind: Node, depth: int, bounds: dict[str, str]) -> _Values:
        name = text(kind.child_by_field_name("type")).rpartition("::")[2]
        listed = kind.child_by_field_name("type_arguments")
        inner = (
            [child for child in listed.named_children if child.type != "lifetime"] if listed else []
        )
        if (
            name in ("Vec", "VecDeque", "Box", "Rc", "Arc", "Option", "RefCell", "Cell")
            and len(inner) == 1
        ):
            value = self._values(inner[0], depth + 1, bounds)
            if name == "Option" and value.passed in ("{}.as_str()", "{}.as_slice()"):
                made = ("None", *(f"Some({m})" for m in value.made))
                return _Values(f"Option<{value.owned}>", made, "{}.as_deref()", value.honest)
            if value.passed != "{}":
                raise _unsuitable(kind)
            owned = f"{text(kind.child_by_field_name('type'))}<{value.owned}>"
            if name == "Vec":
                return _Values(owned, self._many(value), honest=value.honest)
            if name == "VecDeque":
                made = tuple(f"{m}.into_iter().collect()" for m in self._many(value))
                return _Values(owned, made, honest=value.honest)
            if name == "Option":
                return _Values(
                    owned, ("None", *(f"Some({m})" for m in value.made)), honest=value.honest
                )
            made = tuple(f"{owned.partition('<')[0]}::new({m})" for m in value.made)
            return _Values(owned, made, honest=value.honest)
        raise _unsuitable(kind)

    def _receiver(self, node: Node) -> _Values:
        value = self._own(self._type, 0)
        written = text(node)
        passed = "{}" if "&" not in written else "&mut {}" if "mut" in written else "&{}"
        return _Values(value.owned, value.made, passed, value.honest)

    def _own(self, name: str, depth: int) -> _Values:
        """Return values of a type of this file: made by its own functions where there are such,
        else by its members. Raises `Unsuitable`."""
        if made := self._made_by_itself(name, depth):
            return _Values(name, made)
        node = self._types.get(name)
        if node is None or depth > _DEEPEST or node.child_by_field_name("type_parameters"):
            raise Unsuitable(Words("{name} is {why}", name=name, why=_no_values(name)))
        body = node.child_by_field_name("body")
        if node.type == "enum_item":
            variants = [v for v in body.named_children if v.type == "enum_variant"] if body else []
            plain = [v for v in variants if v.child_by_field_name("body") is None]
            if not plain:
                raise Unsuitable(Words("{name} is {why}", name=name, why=_no_values(name)))
            made = tuple(f"{name}::{text(v.child_by_field_name('name'))}" for v in plain)
            return _Values(name, made)
        if body is None:
            return _Values(name, (name,))
        return self._literal(name, body, depth)

    def _literal(self, name: str, body: Node, depth: int) -> _Values:
        """Return literals of a structure."""
        named = body.type == "field_declaration_list"
        fields = [child for child in body.named_children if child.type == "field_declaration"]
        members = [
            (text(child.child_by_field_name("name")), child.child_by_field_name("type"))
            for child in fields
        ] or [("", child) for child in body.children_by_field_name("type")]
        public = all(text(child).startswith("pub") for child in fields) if named else False
        if len(members) > _MOST_MEMBERS:
            raise Unsuitable(Words("{name} is {why}", name=name, why=_no_values(name)))
        values = [self._values(kind, depth + 1, {}) for _, kind in members]
        if any(value.passed != "{}" for value in values):
            raise Unsuitable(Words("{name} is {why}", name=name, why=_no_values(name)))
        made = []
        for row in itertools.islice(_rows([len(v.made) for v in values]), _MOST_VALUES):
            parts = [v.made[c] for v, c in zip(values, row, strict=True)]
            if named:
                inside = ", ".join(f"{m}: {p}" for (m, _), p in zip(members, parts, strict=True))
                made.append(f"{name} {{ {inside} }}")
            else:
                made.append(f"{name}({', '.join(parts)})")
        return _Values(name, tuple(made), honest=public and all(v.honest for v in values))

    def _made_by_itself(self, name: str, depth: int) -> tuple[str, ...]:
        """Return calls that make a value of a type: of its constructors, or `default`."""
        made: list[str] = []
        for impl in self._impls:
            if text(impl.child_by_field_name("type")) != name:
                continue
            if text(impl.child_by_field_name("trait")).endswith("Default"):
                made.append(f"<{name} as Default>::default()")
            body = impl.child_by_field_name("body")
            for function in body.named_children if body is not None and depth < 2 else ():
                if function.type == "function_item" and function is not self._function:
                    made += self._construct(function, name, depth)
        node = self._types.get(name)
        before = node.prev_named_sibling if node is not None else None
        while before is not None and before.type in ("attribute_item", "line_comment"):
            if re.search(r"derive\s*\([^)]*\bDefault\b", text(before)):
                made.append(f"<{name} as Default>::default()")
            before = before.prev_named_sibling
        return tuple(dict.fromkeys(made))[:_MOST_VALUES]

    def _construct(self, function: Node, name: str, depth: int) -> Iterator[str]:
        """Yield calls of a constructor; none when it is no such function."""
        result = text(function.child_by_field_name("return_type"))
        parameters = function.child_by_field_name("parameters")
        listed = parameters.named_children if parameters is not None else []
        if result not in ("Self", name) or function.child_by_field_name("type_parameters"):
            return
        if any(child.type == "self_parameter" for child in listed):
            return
        try:
            values = [self._values(p.child_by_field_name("type"), depth + 2, {}) for p in listed]
        except Unsuitable:
            return
        for row in itertools.islice(_rows([len(v.made) for v in values]), _MOST_VALUES):
            words = ", ".join(v.passed.format(v.made[c]) for v, c in zip(values, row, strict=True))
            yield f"{name}::{name_of(function)}({words})"


def _rows(counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield choices: the plainest, those that differ from it in one place, then in two."""
    plain = (0,) * len(counts)
    yield plain
    for place, count in enumerate(counts):
        for at in range(1, count):
            yield (*plain[:place], at, *plain[place + 1 :])
    for a, b in itertools.combinations(range(len(counts)), 2):
        for i, j in itertools.product(
            range(1, min(counts[a], _MOST_PAIRS)), range(1, min(counts[b], _MOST_PAIRS))
        ):
            row = list(plain)
            row[a], row[b] = i, j
            yield tuple(row)


def _no_values(name: str) -> str:
    return Words("of type {type}, for which no input can be generated", type=name)


def _unsuitable(kind: Node | None) -> Unsuitable:
    return Unsuitable(_no_values(text(kind)))


def _no(kind: Node) -> _Values:
    raise _unsuitable(kind)
