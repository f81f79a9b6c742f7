"""Fixes of a use after free: the release moves behind the last use, or a loop keeps the next
element before it frees one."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, bare, field, first_named, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Rewrite
from jarvis_ls.jsec.local.c.layout import (
    EditOfBytes,
    add_after,
    add_before,
    comment_behind,
    declare,
    remove_statement,
    replace_statement,
    stands_alone,
)

_JUMPS = re.compile(r"\b(?:return|goto|break|continue|throw|exit|abort|longjmp)\b")
_PATH = re.compile(r"[A-Za-z_]\w*(?:(?:->|\.)\w+)*")
_NAMES = ("result", "returned")
_NEXT = ("next", "following")
_LONG = 4_000
"""Characters of a statement that is looked at."""
_FAR = 12
"""Statements over which a release moves."""


def release_later(release: Call, use: Node) -> Rewrite | None:
    """Return the fix where every statement from the release to the last use is one of the same
    block, and none jumps, releases or sets the pointer again."""
    statement, function, given = release.statement, release.function, release.arg(0)
    if statement is None or function is None or given is None or len(release.arguments) != 1:
        return None
    pointer = text(bare(given))
    block = statement.parent
    if block is None or block.type != "compound_statement" or not _PATH.fullmatch(pointer):
        return None
    if not stands_alone(function, statement):
        return None
    step = _step_of(use, pointer)
    if step is not None:
        return _keep_next(function, statement, pointer, step)
    last = _last_use(statement, pointer)
    if last is None or not _is_inside(use, block):
        return None
    if last.end_byte < use.end_byte or not stands_alone(function, last):
        return None
    edits = remove_statement(function, statement)
    freed = " ".join(text(statement).split()) + comment_behind(function, statement)[1]
    if last.type == "return_statement":
        returned = _through_variable(function, last, pointer, statement)
        if returned is None:
            return None
        edits = [*edits, *returned]
    else:
        edits = [*edits, *add_after(function, last, [freed])]
    title = "Free '{pointer}' after its last use"
    return Rewrite(title, edits, safe=False, pointer=pointer)


def step_in_header(release: Call) -> Node | None:
    """Return `p->next` of `for (…; …; p = p->next)` when the last thing of its body frees `p`."""
    statement, given = release.statement, release.arg(0)
    if statement is None or given is None or len(release.arguments) != 1:
        return None
    body = statement.parent
    if body is not None and body.type == "compound_statement":
        if statement.next_named_sibling is not None:
            return None
        body = body.parent
    if body is None or body.type != "for_statement":
        return None
    update = field(body, "update")
    return _next_of(update, text(bare(given))) if update is not None else None


def keep_next_in_header(release: Call, step: Node) -> Rewrite | None:
    """Return the fix of such a loop: what comes next is kept in front of its body."""
    function, given, loop = release.function, release.arg(0), step.parent
    loop = loop.parent if loop is not None else None
    if function is None or given is None or loop is None or loop.type != "for_statement":
        return None
    pointer, body = text(bare(given)), field(loop, "body")
    kept = _kept_pointer(function, pointer, step)
    in_block = loop.parent is not None and loop.parent.type == "compound_statement"
    if kept is None or body is None or not in_block or not stands_alone(function, loop):
        return None
    declared, name = kept
    elsewhere, lines = declare(function, loop, declared, "")
    first = body
    if body.type == "compound_statement":
        first = first_named(body) or body
    taken = add_before(function, first, [f"{name} = {text(step)};"])
    before = add_before(function, loop, lines) if lines else []
    title = "Keep '{step}' before '{pointer}' is freed"
    edits = [*elsewhere, *before, *taken, ((step.start_byte, step.end_byte), name)]
    return Rewrite(title, edits, safe=False, pointer=pointer, step=text(step))


def _keep_next(function: Function, release: Node, pointer: str, step: Node) -> Rewrite | None:
    """Return the fix of `free(p); p = p->next;`."""
    kept = _kept_pointer(function, pointer, step)
    if kept is None:
        return None
    declared, name = kept
    elsewhere, lines = declare(function, release, declared, text(step))
    edits = [*elsewhere, *add_before(function, release, lines)]
    title = "Keep '{step}' before '{pointer}' is freed"
    edits.append(((step.start_byte, step.end_byte), name))
    return Rewrite(title, edits, safe=False, pointer=pointer, step=text(step))


def _kept_pointer(function: Function, pointer: str, step: Node) -> tuple[str, str] | None:
    """Return the declaration and name of a variable for what a step leads to."""
    variable = function.variable(pointer, step.start_byte)
    name = next((name for name in _NEXT if not function.uses(name)), None)
    if variable is None or variable.arrays or name is None:
        return None
    words = [word for word in variable.type.split() if word not in ("static", "register")]
    if not words or "auto" in words:
        return None
    return f"{' '.join(words)} {'*' * variable.pointers}{name}", name


def _step_of(use: Node, pointer: str) -> Node | None:
    """Return `p->next` when a use is in the statement `p = p->next`."""
    for outer in ancestors(use):
        if outer.type == "assignment_expression":
            is_statement = outer.parent is not None and outer.parent.type == "expression_statement"
            return _next_of(outer, pointer) if is_statement else None
    return None


def _next_of(assignment: Node, pointer: str) -> Node | None:
    left, right = field(assignment, "left"), field(assignment, "right")
    if right is None or right.type != "field_expression" or text(left) != pointer:
        return None
    return right if text(field(right, "argument")) == pointer else None


def _last_use(statement: Node, pointer: str) -> Node | None:
    """Return the last of the statements behind a release that names the pointer; None where that
    may not be all, or something else is done than use it."""
    named = re.compile(rf"(?<![\w.>]){re.escape(pointer)}(?!\w)")
    base = re.match(r"\w+", pointer)
    changed = re.compile(
        rf"(?<![\w.>])(?:{re.escape(pointer)}|{base[0] if base else pointer})\s*(?:=[^=]|\+\+|--)"
        rf"|(?:\+\+|--)\s*{re.escape(pointer)}"
        rf"|\w*(?:free|delete|release|destroy|unref)\w*\s*\(?\s*{re.escape(pointer)}(?!\w|->|\.|\[)"
        rf"|&\s*{re.escape(pointer)}(?!\w|->|\.|\[)"
    )
    last, following = None, statement.next_named_sibling
    for _ in range(_FAR):
        if following is None:
            return last
        kind, written = following.type, text(following)
        if len(written) > _LONG:
            return None
        if kind == "comment":
            following = following.next_named_sibling
            continue
        if kind.startswith(("preproc", "labeled", "case")):
            return None if last is None or named.search(written) else last
        if named.search(written):
            if changed.search(written):
                return last
            if kind == "return_statement":
                return following
            if kind not in ("expression_statement", "declaration") and _JUMPS.search(written):
                return None
            last = following
        elif _JUMPS.search(written):
            return last
        following = following.next_named_sibling
    return None


def _through_variable(
    function: Function, returning: Node, pointer: str, release: Node
) -> list[EditOfBytes] | None:
    """Return the edits that keep what is returned, free, and return it."""
    value = returning.named_children[0] if returning.named_child_count else None
    kind = text(field(function.node, "type"))
    name = next((name for name in _NAMES if not function.uses(name)), None)
    declarator = field(function.node, "declarator")
    if value is None or not kind or name is None or text(bare(value)) == pointer:
        return None
    stars = 0
    while declarator is not None and declarator.type == "pointer_declarator":
        stars += 1
        declarator = field(declarator, "declarator")
    if declarator is None or declarator.type != "function_declarator" or stars:
        return None  # what is returned may point into the block
    elsewhere, lines = declare(function, returning, f"{kind} {name}", text(value), release)
    lines += [text(release) + comment_behind(function, release)[1], f"return {name};"]
    return [*elsewhere, *replace_statement(function, returning, lines)]


def _is_inside(node: Node, block: Node) -> bool:
    return any(outer == block for outer in ancestors(node))
