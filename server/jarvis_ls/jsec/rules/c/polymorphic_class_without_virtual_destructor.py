"""Polymorphic class without a virtual destructor.

## What it does
Reports a class that declares virtual functions, has no base class, is not `final`, and whose
explicit or implicit destructor is public and not virtual.

## Why is this bad?
Such classes are usually deleted through pointers to the base class. Without a virtual destructor
this is undefined behaviour; typically only the base part is destroyed and the resources of the
derived class leak.

## Example
```cpp
class Channel {
public:
    virtual void send(const Message &m) = 0;
    ~Channel();
};
```

Use instead:
```cpp
class Channel {
public:
    virtual void send(const Message &m) = 0;
    virtual ~Channel();
};
```

## References
- CWE-1079: Parent Class without Virtual Destructor Method
- CWE-1045: Parent Class with a Virtual Destructor and a Child Class without a Virtual Destructor
- SEI CERT C++ OOP52-CPP: Do not delete a polymorphic object without a virtual destructor
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule

_NEAR = 80
"""Bytes in which the blanks before a member are."""


@rule(
    query=nodes(cpp="(class_specifier) @site (struct_specifier) @site"),
    category="memory_mgmt",
    cwe=(1079, 1045),
    confidence=0.55,
    only="cpp",
    severity="medium",
    suggestion="Make the destructor of '{name}' public and virtual, or protected and non-virtual.",
    fixable=True,
)
def polymorphic_class_without_virtual_destructor(site: Site) -> Iterator[Report]:
    body, name = field(site.node, "body"), field(site.node, "name")
    if body is None or name is None:
        return
    if any(c.type in ("base_class_clause", "virtual_specifier") for c in site.node.children):
        return
    access = "public" if site.node.type == "struct_specifier" else "private"
    virtual, destructor, destructor_access = False, None, "public"
    first_public = body.start_byte + 1 if access == "public" else None
    for member in body.children:
        if member.type == "access_specifier":
            access = text(member)
            if access == "public" and first_public is None:
                first_public = _after_colon(member)
        elif _is_destructor(member):
            destructor, destructor_access = member, access
        elif _is_virtual(member):
            virtual = True
    if not virtual or destructor_access != "public":
        return
    if destructor is not None and _is_virtual(destructor):
        return
    yield Report(
        destructor or name,
        "'{name}' has virtual functions but a non-virtual destructor.",
        confidence=0.55 if destructor is not None else 0.5,
        name=text(name),
        fix=_fix(site, destructor, first_public, text(name)),
    )


def _is_virtual(member: Node) -> bool:
    return any(child.type == "virtual" or text(child) == "virtual" for child in member.children[:3])


def _is_destructor(member: Node) -> bool:
    if member.type not in ("declaration", "function_definition", "field_declaration"):
        return False
    declarator = field(member, "declarator")
    inner = field(declarator, "declarator")
    return inner is not None and inner.type == "destructor_name"


def _after_colon(access: Node) -> int:
    colon = access.next_sibling
    return colon.end_byte if colon is not None and colon.type == ":" else access.end_byte


def _fix(
    site: Site, destructor: Node | None, first_public: int | None, name: str
) -> Rewrite | None:
    title = "Make the destructor virtual"
    if destructor is not None:
        start = destructor.start_byte
        return Rewrite(title, [((start, start), "virtual ")])
    if first_public is None:
        return None
    declared = f"virtual ~{name}() = default;"
    data = site.unit.source.data
    line_end = data.find(b"\n", first_public)
    following = data[line_end + 1 : line_end + 1 + _NEAR]
    blanks = following[: len(following) - len(following.lstrip(b" \t"))].decode()
    own_line = line_end >= 0 and not data[first_public:line_end].strip() and blanks
    added = f"\n{blanks}{declared}" if own_line else f" {declared}"
    return Rewrite(title, [((first_public, first_public), added)])
