"""What goes wrong in the life of a pointer, descriptor or plain variable within one function:
used before it is set, used or released after release, dereferenced while null, never released.

Every rule about these asks `faults`; the function is followed once for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from jarvis_ls.codeintel.code import Function, Variable, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.allocation import ACQUIRES, MAY_BE_NULL, RELEASES, called_name
from jarvis_ls.jsec.c.control import Control, Region, control_of
from jarvis_ls.jsec.c.happenings import happenings, path_happenings
from jarvis_ls.jsec.c.life import OTHER, Fault, Life, is_number, needs_value
from jarvis_ls.jsec.c.paths import Event
from jarvis_ls.jsec.memo import once_per_function

MAX_VARIABLES = 48
_MAX_STEPS = 200_000
"""Variables followed in one function; the rest of a longer list is left alone."""

_MAX_LEVELS = 40
"""Levels of nesting that are looked through for directives."""

_RISKY = frozenset({"declared", "dereference"})
"""Without one of these, a variable that is only tested cannot go wrong."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_GIVING = frozenset({*ACQUIRES, *MAY_BE_NULL})
_TAKING = frozenset(RELEASES)
_OWNING = _GIVING | _TAKING


@once_per_function
def faults(function: Function) -> tuple[Fault, ...]:
    """Everything found in a function."""
    if function.unit.language == "rust" or function.body is None:
        return ()
    chosen = list(islice(_interesting(function), MAX_VARIABLES))
    members = list(islice(_owned_members(function), MAX_VARIABLES // 4))
    if not chosen and not members:
        return ()
    root = control_of(function)
    if root is None:
        return ()
    scopes = Scopes(root)
    most = max(4, _MAX_STEPS // (scopes.size + 1))  # keeps a huge function linear
    chosen, members = chosen[:most], members[: most // 4]
    found: list[Fault] = []
    for variable, events in chosen:
        found.extend(_follow(function, scopes, variable, events))
    for name, events in members:
        life = Life(name, events, scopes.size, function, None)
        found.extend(life.walk(root, OTHER, None))
    found = [one for one in found if one.origin is None or not _exclusive(one.node, one.origin)]
    if function.node.has_error:  # code the parser had to guess at
        torn = function.body.has_error
        found = [one for one in found if one.certain and one.kind != "leak" and not (
            torn and one.origin is not None
        )]  # fmt: skip
    return tuple(found)


def _exclusive(one: Node, other: Node) -> bool:
    """Whether the preprocessor leaves at most one of two places."""
    sides = dict(_conditionals(one))
    return any(sides.get(id_, side) != side for id_, side in _conditionals(other))


def _conditionals(node: Node) -> Iterator[tuple[int, bool]]:
    """The `#if`s around a place, and whether it lies in their other branch."""
    at = node.start_byte
    current = node.parent
    for _ in range(_MAX_LEVELS):
        if current is None or current.type == "function_definition":
            return
        if current.type.startswith("preproc_"):
            other = current.child_by_field_name("alternative")
            yield current.id, other is not None and other.start_byte <= at < other.end_byte
        current = current.parent


def has_faults(function: Function) -> bool:
    """Whether anything was found: what rules about `faults` are run for."""
    return bool(faults(function))


def releases(function: Function) -> bool:
    """Whether something may be released in a function."""
    return function.mentions(_TAKING)


def acquires(function: Function) -> bool:
    """Whether something that may fail may be acquired in a function."""
    return function.mentions(_GIVING)


def set_in_loop(function: Function, fault: Fault) -> bool:
    """Whether a loop around a fault assigns the variable, for a later round perhaps."""
    at = fault.node.start_byte
    loops = [n for n in function.nodes("loop") if n.start_byte <= at < n.end_byte]
    return bool(loops) and any(
        loops[0].start_byte <= node.start_byte < loops[0].end_byte
        and text(field(node, "left")) == fault.name
        and text(field(node, "operator")) == "="
        for node in function.nodes("assign")
    )


def faults_of(function: Function, *kinds: str) -> Iterator[Fault]:
    """The faults of some kinds, in order of discovery."""
    return (fault for fault in faults(function) if fault.kind in kinds)


def first_of_each(found: Iterator[Fault]) -> Iterator[tuple[Fault, list[Fault]]]:
    """Faults with one origin told once: the first, and the others behind it."""
    groups: dict[tuple[str, int], list[Fault]] = {}
    for fault in found:
        at = fault.origin.start_byte if fault.origin is not None else fault.node.start_byte
        groups.setdefault((fault.name, at), []).append(fault)
    for group in groups.values():
        group.sort(key=lambda f: (not f.certain, f.node.start_byte))
        yield group[0], group[1:]


def _interesting(function: Function) -> Iterator[tuple[Variable, list[Event]]]:
    """Variables something can go wrong with, told without following any path."""
    owned, tested = _noted_names(function)
    for name, variables in function.variables.items():
        for variable in variables:
            if variable.is_array or variable.is_static or not name:
                continue
            number = is_number(variable)
            noted = name in owned or (name in tested and not number)
            if not noted and (
                variable.is_parameter
                or variable.initial is not None
                or not needs_value(variable)
                or _set_at_once(function, variable)
            ):
                continue
            events = happenings(function, variable)
            if name in owned or any(
                e.kind in _RISKY or e.extra.startswith("stack") for e in events
            ):
                yield variable, events


def _set_at_once(function: Function, variable: Variable) -> bool:
    """Whether the first use is a plain assignment that every way to the others passes."""
    uses = function.uses(variable.name, variable.node.end_byte, variable.scope[1])
    if not uses:
        return True
    parent = uses[0].parent
    if parent is None or parent.type != "assignment_expression":
        if parent is not None and parent.type == "pointer_expression":
            return text(parent.children[0]) == "&"
        return False
    if field(parent, "left") != uses[0] or text(field(parent, "operator")) != "=":
        return False
    if len(uses) > 1 and uses[1].start_byte < parent.end_byte:
        return False
    block = _block_run_through(parent)
    if block is None:
        return False
    if block.type == "compound_statement" and block.end_byte == variable.scope[1]:
        return True
    return uses[-1].end_byte <= block.end_byte and not function.nodes("label")


def _block_run_through(node: Node) -> Node | None:
    """The block that runs an expression whenever control comes through that place of it."""
    outer = node.parent
    for _ in range(8):
        if outer is None:
            return None
        kind = outer.type
        if kind == "binary_expression":
            if text(field(outer, "operator")) in ("&&", "||") and field(outer, "left") != node:
                return None
        elif kind not in ("parenthesized_expression", "comma_expression", "assignment_expression"):
            break
        node, outer = outer, outer.parent
    if outer is None or not (
        kind == "expression_statement"
        or (kind == "for_statement" and field(outer, "initializer") == node)  # `for (i = 0; …`
        or (kind in ("if_statement", "while_statement") and field(outer, "condition") == node)
    ):
        return None
    block = outer.parent
    if block is None or block.type not in ("compound_statement", "case_statement"):
        return None
    return block


def _noted_names(function: Function) -> tuple[set[str], set[str]]:
    """Names that are acquired or released somewhere; pointers set to null or tested for it."""
    owned: set[str] = set()
    for call in function.calls if function.mentions(_OWNING) else ():
        name = called_name(call)
        if (name in ACQUIRES or name in MAY_BE_NULL) and (target := call.target) is not None:
            owned.add(text(target))
        elif name in RELEASES and call.arguments:
            owned.add(text(call.arguments[0]).strip("() ").rpartition(")")[2].strip())
    if function.unit.language == "cpp":
        owned |= _new_and_delete(function)
    pointers = {
        name
        for name, variables in function.variables.items()
        if any(not (v.is_array or v.is_static or is_number(v)) for v in variables)
    }
    return owned, _nullable(function, pointers) if pointers else set()


def _nullable(function: Function, pointers: set[str]) -> set[str]:
    """Those of `pointers` that are set to null, tested for it, or returned as a pointer."""
    names = {
        name
        for name in pointers
        if any(v.initial is not None and _is_null(v.initial) for v in function.variables[name])
    }
    for node in function.nodes("cleared"):
        right = field(node, "right")
        if right is not None and _is_null(right):
            names.add(text(field(node, "left")))
    declarator = field(function.node, "declarator")
    if declarator is not None and declarator.type == "pointer_declarator":
        for node in function.nodes("return"):
            names.update(text(c) for c in node.named_children if c.type == "identifier")
    for kind in ("if", "ternary", "loop"):
        for node in function.nodes(kind):
            condition = field(node, "condition")
            if not pointers.isdisjoint(_WORD.findall(text(condition))):
                names |= _tested(condition)
    return names & pointers


def _is_null(node: Node) -> bool:
    return node.type == "null" or (node.type == "number_literal" and text(node) == "0")


def _new_and_delete(function: Function) -> set[str]:
    data = function.unit.source.data[function.start : function.end]
    if b"new" not in data and b"delete" not in data:
        return set()
    return set(function.variables)


def _tested(condition: Node | None) -> set[str]:
    """Plain names a condition tests for null."""
    names: set[str] = set()
    stack = [condition] if condition is not None else []
    for _ in range(40):
        if not stack:
            break
        node = stack.pop()
        kind = node.type
        if kind == "identifier":
            names.add(text(node))
        elif kind in ("parenthesized_expression", "condition_clause", "unary_expression"):
            stack.extend(node.named_children)
        elif kind == "binary_expression":
            operator = text(field(node, "operator"))
            if operator in ("&&", "||", "==", "!="):
                stack.extend(node.named_children)
        elif kind == "assignment_expression" and (left := field(node, "left")) is not None:
            stack.append(left)
    return names


def _owned_members(function: Function) -> Iterator[tuple[str, list[Event]]]:
    """Members such as `p->name` that are acquired or released, with their events."""
    owned: dict[str, list[str]] = {}
    for call in function.calls if function.mentions(_OWNING) else ():
        name = called_name(call)
        node = call.target if name in ACQUIRES else call.arg(0) if name in RELEASES else None
        if node is None or node.type != "field_expression":
            continue
        if node.end_byte - node.start_byte <= 100:
            owned[text(node)] = _path_words(node)
    if not owned:
        return
    by_text: dict[str, list[Node]] = {}
    for node in function.nodes("member"):
        by_text.setdefault(text(node), []).append(node)
    for name, words in owned.items():
        if words and len(by_text.get(name, ())) > 1:
            yield name, path_happenings(function, by_text[name], words)


def _path_words(node: Node) -> list[str]:
    """The base of a path such as `a->b[i].c`, then the names in its indices."""
    words: list[str] = []
    for _ in range(8):
        if node.type == "subscript_expression":
            words += _WORD.findall(text(field(node, "index") or field(node, "indices")))
        following = field(node, "argument")
        if following is None:
            break
        node = following
    return [text(node), *words] if node.type == "identifier" else []


class Scopes:
    """Blocks of a function, to find the one a variable lives in."""

    def __init__(self, root: Region) -> None:
        self.root = root
        self.size = 0
        self._by_end: dict[int, list[Control]] = {}
        stack = list(root.parts)
        while stack:
            part = stack.pop()
            self.size += 1
            if part.kind in ("block", "for", "range"):
                self._by_end.setdefault(part.end, []).append(part)
            stack.extend(part.parts)

    def of(self, variable: Variable) -> Control | None:
        """The innermost block (or `for`) around a declaration."""
        start, end = variable.node.start_byte, variable.scope[1]
        around = [c for c in self._by_end.get(end, ()) if c.start <= start]
        return max(around, key=lambda c: c.start) if around else None


def _follow(
    function: Function, scopes: Scopes, variable: Variable, events: list[Event]
) -> Iterator[Fault]:
    life = Life(variable.name, events, scopes.size, function, variable)
    if variable.is_parameter:
        yield from life.walk(scopes.root, OTHER, None)
        return
    block = scopes.of(variable)
    if block is None:
        return
    block.prepare()
    closing = block.node.children[-1] if block.kind == "block" else None
    region = block.regions[0] if block.kind == "block" else Region(block.start, block.end, [block])
    yield from life.walk(region, OTHER, closing)
