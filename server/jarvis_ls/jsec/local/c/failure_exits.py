"""How a function leaves when something fails, in its own words: for fixes that test a result.

The branches that handle other failures of the function say how (`goto fail`, `return -1`,
`exit(1)`), what its later statements release says what it owns. Where they do not agree there is no
answer, and no fix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.c.allocation import ACQUIRES, ALLOCATING, RELEASES
from jarvis_ls.jsec.local.c.locks import PAIRS, lock_of
from jarvis_ls.jsec.local.guards import NEVER_RETURN, leaves, same_path

_FAILED = re.compile(
    r"[!=]=\s*(?:NULL|nullptr|-\s*1|EOF)\b|(?:NULL|nullptr)\s*[!=]=|<\s*0\b|!=\s*0\b|(?<!\w)!\s*\w"
)
_COMPARED = re.compile(r"!\s*\w*(?:cmp|equals?)\w*\s*\(|cmp\w*\s*\([^()]*\)\s*[!=]=")
"""Texts that are equal, or not: no failure."""
_SUCCEEDED = re.compile(r"!=\s*(?:NULL|nullptr)|==\s*0\b|[>]=?\s*0\b")
_RELEASING = re.compile(
    r"(?i)free|close|destroy|delete|release|unref|unlock|cleanup|clean_up|finish|deinit|_fini|term"
)
_GIVING = re.compile(r"(?i)add|insert|push|append|attach|register|enqueue|set_|put|own|link")
_CONSTANT = re.compile(r"-?\s*(?:\d\w*|[A-Z][A-Z0-9_]*|NULL|nullptr|false|true)")
_MEMORY = re.compile(r"(?i)memory|alloc|enomem")
_MANY = 60


@dataclass(frozen=True, slots=True)
class _Exit:
    """What a branch does that handles a failure."""

    node: Node
    """The `if`."""
    lines: tuple[str, ...]
    """The statements that set a result or tell the user, and the jump."""
    jump: str
    """The jump alone."""
    tells: bool
    """Whether one of the lines is a message."""
    about_memory: bool
    """Whether what failed is an allocation."""


def failure_exit(function: Function, place: Node, failed: str) -> list[str] | None:
    """Return the statements by which a function leaves where the call of `failed` went wrong at
    `place`; None when that is not plain."""
    for_memory = failed in ALLOCATING or failed == "malloc"
    found = _choose_exit(function, place, for_memory=for_memory)
    if found is None:
        jump = _by_type(function, for_memory=for_memory)
        lines: tuple[str, ...] = (jump,) if jump else ()
    else:
        jump = found.jump
        keeps_message = for_memory and found.about_memory
        lines = found.lines if keeps_message or not found.tells else (jump,)
        if found.tells and not keeps_message and len(found.lines) > 2:
            return None  # what else the branch does is not known to belong here
    if not lines or not jump:
        return None
    if jump.startswith("goto"):
        return list(lines) if _is_behind(function, jump, place) else None
    if not jump.startswith(("return", "throw")):  # it ends the program
        silent = lines == (jump,) and not for_memory
        return [f'perror("{failed}");', *lines] if silent else list(lines)
    owned = owned_at(function, place)
    return None if owned is None else [*owned, *lines]


def owned_at(function: Function, place: Node) -> list[str] | None:
    """Return the statements that give back what a function holds at a place, the last taken
    first; None when that is not plain."""
    handled = _handled_failure(function)
    if handled is None:
        return None
    held: dict[str, tuple[int, str]] = {}
    for name, taken, giving in _taken_before(function, handled, place):
        if not giving:
            return None
        if not _is_released(function, handled, name, taken, place):
            held[name] = taken.start_byte, giving
    ordered = sorted(held.values(), reverse=True)
    return [giving for _, giving in ordered]


def _choose_exit(function: Function, place: Node, *, for_memory: bool) -> _Exit | None:
    """Return the exit that fits a failure at a place: one of an allocation for another one, else
    that on which all earlier ones agree, or all others when there are no earlier ones."""
    every = [found for found in _exits(function) if not _is_around(found.node, place)]
    before = [found for found in every if found.node.start_byte < place.start_byte]
    usable = before or [found for found in every if not found.jump.startswith("goto")]
    if for_memory and (alike := [found for found in usable if found.about_memory]):
        usable = alike
    jumps = {found.jump for found in usable}
    return usable[-1] if len(jumps) == 1 else None


def _is_behind(function: Function, jump: str, place: Node) -> bool:
    """Return whether a jump leads forward."""
    label = jump.removeprefix("goto").strip(" ;")
    return any(
        text(field(node, "label")) == label and node.start_byte > place.start_byte
        for node in function.nodes("label")
    )


@once_per_function
def _exits(function: Function) -> list[_Exit]:
    """Return the branches that handle failures and leave, in order."""
    found = []
    for node in function.nodes("if")[:_MANY]:
        condition, branch = field(node, "condition"), field(node, "consequence")
        if condition is None or branch is None or not leaves(branch):
            continue
        asked = text(condition)[:400]
        if not _FAILED.search(asked) or _COMPARED.search(asked):
            continue
        if _SUCCEEDED.search(asked) and not _FAILED.search(_SUCCEEDED.sub("", asked)):
            continue
        read = _read_exit(node, asked, branch)
        if read is not None:
            found.append(read)
    return found


def _read_exit(node: Node, asked: str, branch: Node) -> _Exit | None:
    statements = (
        [child for child in branch.named_children if child.type != "comment"]
        if branch.type == "compound_statement"
        else [branch]
    )
    if not statements or len(statements) > 5:
        return None
    *others, last = statements
    jump = " ".join(text(last).split())
    if last.type in ("break_statement", "continue_statement"):
        return None
    lines, tells = [], False
    for statement in others:
        kept = _kept_line(statement)
        if kept is None:
            return None
        if kept:
            lines.append(kept)
            tells = tells or "(" in kept
    if last.type == "return_statement" and not _is_plain_return(last, lines):
        return None
    name = jump.partition("(")[0].strip()
    ends = name in NEVER_RETURN
    if last.type == "expression_statement" and not ends:
        return None
    if ends and '"' in jump:  # `die("cannot open")`
        tells = True
        if not _MEMORY.search(jump):
            return None
    memory = any(word in ALLOCATING or "alloc" in word for word in re.findall(r"\w+", asked))
    memory = memory or _tests_allocation(node, asked)
    written = " ".join((*lines, jump))
    memory = memory and (not tells or _MEMORY.search(written) is not None)
    return _Exit(node, (*lines, jump), jump, tells, memory)


def _kept_line(statement: Node) -> str | None:
    """Return a statement of a branch as it can be said for another failure: the setting of a
    result, or a message without values; empty for a release, None for anything else."""
    inner = statement.named_children[0] if statement.named_child_count else None
    if statement.type != "expression_statement" or inner is None:
        return None
    written = " ".join(text(statement).split())
    if inner.type == "assignment_expression":
        left, right = field(inner, "left"), field(inner, "right")
        plain = left is not None and left.type == "identifier" and operator_of(inner) == "="
        return written if plain and _CONSTANT.fullmatch(text(right)) else None
    if inner.type != "call_expression":
        return None
    name = text(field(inner, "function"))
    if _RELEASING.search(name):
        return ""
    arguments = field(inner, "arguments")
    given = arguments.named_children if arguments is not None else []
    plain = all(
        argument.type in ("string_literal", "concatenated_string", "number_literal")
        or text(argument) in ("stderr", "stdout")
        or _CONSTANT.fullmatch(text(argument))
        for argument in given
    )
    return written if plain and "%" not in written else None


def _is_plain_return(statement: Node, lines: list[str]) -> bool:
    """Return whether what a `return` gives back is a constant, or what the branch set before."""
    value = statement.named_children[0] if statement.named_child_count else None
    if value is None or _CONSTANT.fullmatch(text(bare(value))):
        return True
    return any(line.startswith(f"{text(bare(value))} =") for line in lines)


def _tests_allocation(node: Node, asked: str) -> bool:
    """Return whether a condition tests what the statement before it allocated."""
    before = node.prev_named_sibling
    written = text(before)[:200] if before is not None else ""
    name = re.search(r"([A-Za-z_][\w.>-]*)\s*=[^=]", written)
    return name is not None and "alloc" in written and name[1] in asked


def _is_around(node: Node, place: Node) -> bool:
    return node.start_byte <= place.start_byte < node.end_byte


def _by_type(function: Function, *, for_memory: bool) -> str:
    """Return the jump that says "failed" by the type of the function and its other returns; a null
    pointer that nothing else returns is for a lack of memory only."""
    declarator = function.declarator
    returned = [text(node)[len("return") :].strip(" ;()") for node in function.nodes("return")]
    kind = text(field(function.node, "type"))
    outer = declarator.parent if declarator is not None else None
    if function.name == "main":
        return "return EXIT_FAILURE;" if "EXIT_" in text(function.node) else "return 1;"
    nulls = {"NULL", "nullptr", "0"} & set(returned)
    if outer is not None and outer.type == "pointer_declarator" and (for_memory or nulls):
        return f"return {'nullptr' if 'nullptr' in returned else 'NULL'};"
    failing = {value for value in returned if re.fullmatch(r"-\s*\d+|-\s*E[A-Z]+", value)}
    if len(failing) == 1 and not set(returned) - failing - {"0"}:
        return f"return {failing.pop()};"
    if kind in ("bool", "_Bool") and set(returned) & {"true", "false"}:
        return "return false;"
    if kind in ("gboolean", "BOOL") and set(returned) & {"TRUE", "FALSE"}:
        return "return FALSE;"
    if kind in ("int", "ssize_t", "long") and returned and set(returned) == {"0"}:
        return "return -1;"
    return ""


@dataclass(frozen=True, slots=True)
class _Handled:
    """The calls of a function that matter for what it holds."""

    taking: list[Call]
    """Those that take a lock, or store what they give in something that is released."""
    releasing: list[Call]
    """Those that may give something back."""


@once_per_function
def _handled_failure(function: Function) -> _Handled | None:
    """Return the calls that take and release; None where they are too many to be plain, or what
    C++ deletes is among them."""
    written = text(function.node)
    if "delete " in written or "delete[" in written:
        return None
    releasing = [
        call for call in function.calls if _RELEASING.search(call.name) or call.name in RELEASES
    ]
    released = {text(bare(given)).lstrip("&") for call in releasing for given in call.arguments}
    taking = [
        call
        for call in function.calls
        if call.name in ACQUIRES
        or (call.name in PAIRS and lock_of(call))
        or (call.target is not None and text(call.target) in released)
    ]
    return _Handled(taking, releasing) if len(taking) + len(releasing) <= _MANY else None


def _taken_before(
    function: Function, handled: _Handled, place: Node
) -> Iterator[tuple[str, Node, str]]:
    """Yield what a function took before a place and has to give back: its name, the node that took
    it, and the statement that gives it back (empty when that is not known)."""
    later = _releases_after(handled, place)
    for call in handled.taking:
        if call.node.start_byte >= place.start_byte or call.node == place:
            break
        lock = lock_of(call)
        if lock and call.name in PAIRS:
            giving = f"{PAIRS[call.name]}({', '.join(map(text, call.arguments[:1]))});"
            yield lock, call.node, "" if call.is_method else giving
            continue
        target = call.target
        if target is None or not same_path(function, call.node, place):
            continue
        name = text(target)
        family = ACQUIRES.get(call.name)
        if name in later:
            yield name, call.node, later[name]
            continue
        variable = function.variable(name, target.start_byte)
        if family is None or variable is None or variable.is_parameter or variable.is_static:
            continue
        if not family.release or _is_given_away(function, name, call.node, place):
            continue
        giver = next((g for g in ("free", "fclose", "close") if g in family.release), "")
        giver = giver or min(family.release)
        yield name, call.node, f"{giver}({name});"


def _releases_after(handled: _Handled, place: Node) -> dict[str, str]:
    """Return the statements behind a place that release something, by what they release."""
    found: dict[str, str] = {}
    for call in handled.releasing:
        if call.node.start_byte <= place.end_byte or call.statement is None:
            continue
        given = call.arg(0)
        if given is None or len(call.arguments) != 1:
            continue
        found.setdefault(text(bare(given)).lstrip("&"), " ".join(text(call.statement).split()))
    return found


def _is_released(
    function: Function, handled: _Handled, name: str, taken: Node, place: Node
) -> bool:
    """Return whether something was given back between two places."""
    return any(
        any(text(bare(given)).lstrip("&") == name for given in call.arguments)
        and same_path(function, call.node, place)
        for call in handled.releasing
        if taken.end_byte <= call.node.start_byte < place.start_byte
    )


def _is_given_away(function: Function, name: str, taken: Node, place: Node) -> bool:
    """Return whether a pointer is stored elsewhere, or given to a function that keeps it, between
    two places."""
    for use in function.uses(name, taken.end_byte, place.start_byte)[:_MANY]:
        parent = use.parent
        if parent is None:
            continue
        if parent.type == "assignment_expression" and field(parent, "right") == use:
            return True
        if parent.type == "init_declarator" and field(parent, "value") == use:
            return True
        called = text(field(parent.parent, "function")) if parent.type == "argument_list" else ""
        if called and _GIVING.search(called):
            return True
        if parent.type == "return_statement":
            return True
    return False


def enclosing_statement(node: Node, function: Function) -> Node | None:
    """Return the statement or declaration that a node is part of."""
    for outer in (node, *ancestors(node, function.node)):
        if outer.type.endswith("_statement") or outer.type == "declaration":
            return outer
    return None
