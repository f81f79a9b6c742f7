"""What files of C and C++ offer to others, by their text: the preprocessor is not asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node, parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.codeintel.top_level_items import items

_MAX_DECLARATORS = 20
_STATIC = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+static[ \t]*\r?$", re.MULTILINE)
_CALLED = re.compile(rb"(\w+)[ \t]*\(")
_BEHIND_MACRO = re.compile(
    rb"^[A-Z][A-Z0-9_]*[ \t]*\([^()\n]{0,80}\)\s*[*\s]*(\w+)\s*\([^;{}]{0,2000}\)\s*\{",
    re.MULTILINE,
)
"""A function whose type is written `MACRO(type)`."""
_AT_MARGIN = re.compile(
    rb"(?<!static\n)^(?!(?:static|typedef|else|return|case|do)\b)"
    rb"[A-Za-z_][\w \t*]{0,200}[\s*](\w+)[ \t]*\([^;{}]{0,2000}\)\s*\{",
    re.MULTILINE,
)
"""A function that begins at the margin, with its type in the same line or the one before."""
_MAIN = re.compile(
    rb"^(?:[a-z]+[ \t]+)?main[ \t]*\(([^;{}()]{0,400})\)[^{}()#]{0,400}\{", re.MULTILINE
)
_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\b(?!\()", re.MULTILINE)
_INLINE = re.compile(
    rb"^([A-Z][A-Z0-9_]*)\s[A-Za-z_][\w \t*\n]{0,120}?(\w+)[ \t]*"
    rb"\([^;{}()]{0,500}\)[^;{}]{0,120}\{",
    re.MULTILINE,
)
"""A function in a header behind a macro that says whether it is inline."""
_WORD = re.compile(rb"\w+")
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(\w+)[ \t]*([^\r\n]{0,200})", re.MULTILINE)
_INCLUDED = re.compile(rb'[<"]([^>"]{1,100})[>"]')
_WINDOWS = frozenset(
    b"windows.h winsock.h winsock2.h ws2tcpip.h winbase.h windef.h conio.h direct.h tchar.h".split()
)


def exported_names(
    source: Source, language: LanguageName, static: frozenset[bytes]
) -> Iterator[tuple[Node, bytes]]:
    """Yield the names that a file defines for others, with the items that do; `static` are macros
    that stand for that word."""
    run: list[Node] = []
    for item in items(parse(source.data, language).root_node, language):
        node = item.node
        if node.type == "declaration":
            run.append(node)
        elif node.type == "compound_statement":  # declarations in front of it are of parameters
            if name := _old_name(run, static):
                yield node, name
            run = []
        elif node.type != "comment":
            yield from _of_declarations(run, static)
            run = []
            for found in _definitions(node, static):
                yield node, found
    yield from _of_declarations(run, static)


def static_macros(sources: Iterable[Source]) -> frozenset[bytes]:
    """Return the macros of some files that stand for `static`."""
    return frozenset(name for source in sources for name in _STATIC.findall(source.data))


def names_behind_macros(source: Source, language: LanguageName) -> frozenset[bytes]:
    """Return the functions that a file defines for others where macros hide it: with one around
    their type, or behind one that the parser cannot read."""
    found = set(_BEHIND_MACRO.findall(source.data))
    if parse(source.data, language).root_node.has_error:
        found.update(_AT_MARGIN.findall(source.data))
    return frozenset(found - {b"main"})


def main_behind_macros(source: Source, language: LanguageName) -> bytes | None:
    """Return the parameters of a file's `main`, as written, where macros hide from the parser that
    it is one; None without."""
    if not parse(source.data, language).root_node.has_error:
        return None
    found = _MAIN.search(source.data)
    return found[1] if found is not None else None


def functions_of_macros(header: Source) -> list[tuple[bytes, bytes]]:
    """Return the functions that a header defines behind macros: macro and name."""
    return _INLINE.findall(header.data)


def names_made_inline(
    source: Source, headers: Iterable[Iterable[tuple[bytes, bytes]]]
) -> frozenset[bytes]:
    """Return the functions of headers whose one definition a file has: it says by a macro of its
    own how those that begin with this word are compiled. `headers` are the functions of each, as
    `functions_of_macros` says."""
    macros = set(_DEFINED.findall(source.data))
    return frozenset(name for header in headers for macro, name in header if macro in macros)


def is_for_windows(source: Source, own: frozenset[str]) -> bool:
    """Return whether a file includes, under no condition, a header that only Windows has; `own` are
    the names of the project's headers."""
    return any(
        name.lower() in _WINDOWS and name.decode("latin-1") not in own
        for name in plain_includes(source)
    )


def plain_includes(source: Source) -> Iterator[bytes]:
    """Yield what a file includes under no condition."""
    depth, guard = 0, b""
    for number, match in enumerate(_DIRECTIVE.finditer(source.data)):
        word, rest = match[1], match[2].strip()
        if word == b"ifndef" and number == 0:
            guard = rest
            continue
        if number == 1 and guard and (word != b"define" or rest.split()[:1] != [guard]):
            depth += 1  # it was no guard against a second inclusion
        if word in (b"if", b"ifdef", b"ifndef"):
            depth += 1
        elif word == b"endif":
            depth -= 1
        elif word == b"include" and depth <= 0 and (name := _INCLUDED.match(rest)):
            yield name[1]


def _of_declarations(run: Iterable[Node], static: frozenset[bytes]) -> Iterator[tuple[Node, bytes]]:
    for node in run:
        for name in _definitions(node, static):
            yield node, name


def _old_name(run: list[Node], static: frozenset[bytes]) -> bytes:
    """Return the name of a function whose parameters are declared behind their list, where macros
    hide what it is: the declarations in front of its body; nothing when it is static."""
    for number, node in enumerate(reversed(run)):
        written = text(node).encode()
        found = _CALLED.search(written)
        if found is not None:
            before = {_first_word(node)} if number + 1 == len(run) else set(_WORD.findall(written))
            return b"" if before & (static | {b"static"}) else found[1]
    return b""


def _first_word(node: Node) -> bytes:
    found = _WORD.search(text(node).encode())
    return found[0] if found is not None else b""


def _definitions(node: Node, static: frozenset[bytes]) -> Iterator[bytes]:
    """Yield the names that a top-level item defines for other files."""
    kind = node.type
    if kind not in ("function_definition", "declaration") or _first_word(node) in static:
        return
    if kind == "declaration" and not text(node).endswith(";"):
        return  # the begin of something that macros hide
    storage = {text(c) for c in node.children if c.type == "storage_class_specifier"}
    if "static" in storage or (kind == "declaration" and "extern" in storage):
        return
    for declarator in node.children_by_field_name("declarator"):
        inner: Node | None = declarator
        for _ in range(_MAX_DECLARATORS):
            if inner is None or inner.type.endswith("identifier"):
                break
            if kind == "function_definition" and (named := _named_by_macro(inner)):
                yield named
                inner = None
                break
            if inner.type == "function_declarator" and kind == "declaration":
                inner = None
                break
            inner = inner.child_by_field_name("declarator") or next(
                (c for c in inner.named_children if c.type.endswith("declarator")), None
            )
        if inner is not None and inner.type.endswith("identifier"):
            yield text(inner).encode()


def _named_by_macro(declarator: Node) -> bytes:
    """Return the name of a function that is written `MACRO(name)(parameters)`; else nothing."""
    inner = declarator.child_by_field_name("declarator")
    if declarator.type != "function_declarator" or inner is None:
        return b""
    listed = inner.child_by_field_name("parameters")
    if inner.type != "function_declarator" or listed is None:
        return b""
    name = text(listed).strip("() \t").encode()
    return name if re.fullmatch(rb"[A-Za-z_]\w*", name) else b""
