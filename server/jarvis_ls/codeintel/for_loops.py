"""The parts of a `for`, which libclang shows without saying which is which."""

from __future__ import annotations

from typing import Any

from jarvis_ls.codeintel import clang


def for_parts(cursor: Any) -> tuple[Any | None, Any | None, Any | None, Any] | None:
    """Return initialisation, condition, step and body of a `for`; None when a macro hides which is
    which. libclang leaves out empty parts, so the semicolons between them are found in the text.
    """
    *parts, body = clang.children(cursor)
    if len(parts) == 3:
        return parts[0], parts[1], parts[2], body
    found: list[Any | None] = [None, None, None]
    places = _for_places(cursor, parts, body) if parts else []
    if places is None:
        return None
    for part, place in zip(parts, places, strict=True):
        found[place] = part
    return found[0], found[1], found[2], body


def _for_places(cursor: Any, parts: list[Any], body: Any) -> list[int] | None:
    """Return which of the three places of a `for` each part has, told by the semicolons before
    it.
    """
    depth, semicolons = 0, []
    for token in cursor.get_tokens():
        offset = token.extent.start.offset
        if offset >= body.extent.start.offset:
            break
        spelling = token.spelling
        depth += (spelling in ("(", "[", "{")) - (spelling in (")", "]", "}"))
        if spelling == ";" and depth == 1:
            semicolons.append(offset)
    places = [sum(at < part.extent.start.offset for at in semicolons) for part in parts]
    if len(semicolons) != 2 or len(set(places)) != len(parts):
        return _guessed_places(parts)
    return places


def _guessed_places(parts: list[Any]) -> list[int] | None:
    """Return the same for a `for` that comes from a macro, told by what the parts do; None when
    that does not tell."""
    roles = []
    for part in parts:
        name = part.kind.name
        operator = clang.binary_operator(part) if name == "BINARY_OPERATOR" else 0
        if name == "DECL_STMT":
            roles.append(0)
        elif name == "COMPOUND_ASSIGNMENT_OPERATOR" or (
            name == "UNARY_OPERATOR" and (clang.unary_operator(part) in (1, 2, 3, 4))
        ):
            roles.append(2)
        elif operator in (22, 33) or part.type.get_canonical().kind.name == "VOID":
            roles.append(0 if not roles and len(parts) > 1 else 2)
        else:
            roles.append(1)
    return roles if sorted(set(roles)) == roles else None
