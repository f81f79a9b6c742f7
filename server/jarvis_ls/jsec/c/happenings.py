"""What a function does with one of its pointers, descriptors or plain variables: every use of
its name, told as an event for `paths.Walker`."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, Variable, bare, call_at, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.allocation import (
    ACQUIRES,
    DEREFERENCES,
    MAY_BE_NULL,
    NEVER_NULL,
    RELEASES,
    called_name,
    may_check,
    only_looks,
)
from jarvis_ls.jsec.c.control import closures
from jarvis_ls.jsec.c.paths import Event
from jarvis_ls.jsec.guards import NULLS
from jarvis_ls.jsec.memo import once_per_function

_WRAPPING = frozenset({"parenthesized_expression", "cast_expression", "comma_expression",
                       "conditional_expression"})  # fmt: skip
_UNEVALUATED = frozenset({"sizeof_expression", "alignof_expression", "decltype", "noexcept",
                          "offsetof_expression", "type_descriptor"})  # fmt: skip
_INDEX_CHANGES = frozenset({"set", "shared", "address", "move"})
_BASE_CHANGES = _INDEX_CHANGES | {"pass", "checked", "alias", "free"}
_STORING = frozenset({"init_declarator", "return_statement", "initializer_list", "argument_list"})
_MAX_PLACES = 4
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"})


@once_per_function
def calls_by_node(function: Function) -> dict[int, Call]:
    """The calls of a function by the id of their node."""
    return {call.node.id: call for call in function.calls}


@once_per_function
def _calls_seen(function: Function) -> dict[int, Call | None]:  # noqa: ARG001 - the key
    return {}


def _call_of(function: Function, node: Node) -> Call | None:
    """The call a node makes: few of a function's calls are ever asked for."""
    if node.type != "call_expression":
        return None
    seen = _calls_seen(function)
    if node.id not in seen:
        seen[node.id] = call_at(function.unit, function.item, node, function)
    return seen[node.id]


@once_per_function
def constructed_from(function: Function) -> dict[str, list[Node]]:
    """Locals in `T x(local);`, which the grammar takes for the declaration of a function."""
    found: dict[str, list[Node]] = {}
    if function.unit.language != "cpp":
        return found
    for node in function.nodes("decl"):
        for declarator in node.children_by_field_name("declarator"):
            parameters = field(declarator, "parameters")
            for parameter in parameters.named_children if parameters is not None else ():
                kind = field(parameter, "type")
                if kind is not None and kind.type == "type_identifier" and (
                    parameter.named_child_count == 1
                ):  # fmt: skip
                    found.setdefault(text(kind), []).append(kind)
    return found


def happenings(function: Function, variable: Variable) -> list[Event]:
    """Events of a local variable or parameter, in order."""
    found: list[Event] = []
    name = variable.name
    if not variable.is_parameter:
        found.append(_declared(function, variable))
    start, end = variable.scope
    shadows = len(function.variables.get(name, ())) > 1
    hidden = closures(function)
    for use in function.uses(name, start, end):
        if use.start_byte == variable.node.start_byte:
            continue
        if shadows and function.variable(name, use.start_byte) is not variable:
            continue
        if any(a <= use.start_byte < b for a, b in hidden):
            found.append(Event(use.start_byte, 0, "shared", use))
            continue
        found.extend(use_events(function, use))
    for use in constructed_from(function).get(name, ()):
        if function.variable(name, use.start_byte) is variable:
            found.append(Event(use.start_byte, 0, "shared", use))
    found.sort(key=lambda event: (event.at, event.order))
    return found


def path_happenings(function: Function, members: list[Node], words: list[str]) -> list[Event]:
    """Events of a member such as `p->name`: its own uses, and whatever may change it, told of
    the first of `words` (the base) and the others (names in an index)."""
    found: list[Event] = []
    for member in members:
        found.extend(use_events(function, member))
    covered = {member.start_byte for member in members}
    for position, word in enumerate(words):
        kinds = _BASE_CHANGES if position == 0 else _INDEX_CHANGES
        for variable in function.variables.get(word, ()):
            if not variable.is_parameter:
                found.append(Event(variable.node.end_byte, 0, "set", variable.node, "unknown"))
        for use in function.uses(word):
            if use.start_byte in covered:
                continue
            for event in use_events(function, use):
                if event.kind in kinds or _fills(event):
                    found.append(Event(event.at, event.order, "set", event.node, "unknown"))
    found.sort(key=lambda event: (event.at, event.order))
    return found


def _fills(event: Event) -> bool:
    """Whether a structure is written as a whole: `*p = …`, `memset(p, …)`."""
    if event.kind != "dereference":
        return False
    if event.extra in ("memset", "memcpy", "memmove"):
        return True
    through = event.node.parent
    outer = through.parent if through is not None else None
    return (
        through is not None
        and through.type == "pointer_expression"
        and outer is not None
        and outer.type == "assignment_expression"
        and field(outer, "left") == through
    )


def _declared(function: Function, variable: Variable) -> Event:
    node = variable.node
    if variable.initial is None:
        kind = "declared" if not variable.is_static and not variable.arrays else "set"
        return Event(node.end_byte, 0, kind, node, "unknown" if kind == "set" else "")
    initial = variable.initial
    return Event(initial.end_byte, 1, "set", node,
                 value_of(function, initial, variable.name))  # fmt: skip


def value_of(function: Function, node: Node, name: str) -> str:
    """What is stored: `null`, `acquired f`, `stack x`, `moved`, or `unknown`."""
    for _ in range(8):
        inner = bare(node)
        if inner.type == "call_expression":
            callee = field(inner, "function")
            if callee is not None and callee.type == "template_function" and text(
                field(callee, "name")
            ) in _CASTS:  # fmt: skip
                arguments = (field(inner, "arguments") or inner).named_children
                inner = arguments[0] if arguments else inner
        if inner.type in ("initializer_list", "argument_list") and inner.named_child_count == 1:
            inner = inner.named_children[0]
        if inner.type == "assignment_expression":
            inner = field(inner, "right") or inner
        if inner is node or inner.id == node.id:
            break
        node = inner
    kind = node.type
    if kind == "null" or text(node)[:20] in NULLS:
        return "null"
    if kind == "call_expression":
        return _acquired(_call_of(function, node))
    if kind == "new_expression":
        return _new_kind(node)
    if kind in ("string_literal", "concatenated_string"):
        return "stack a string literal"
    if kind == "pointer_expression" and text(field(node, "operator")) == "&":
        inner_name = text(field(node, "argument"))
        local = function.variable(inner_name, node.start_byte)
        return f"stack the variable {inner_name}" if local is not None else "unknown"
    if kind == "identifier":
        local = function.variable(text(node), node.start_byte)
        known = local or function.unit.facts.variables.get(text(node))
        if known is not None and known.arrays and not (local and local.is_parameter):
            return f"stack the array {text(node)}"
        return "unknown"
    if (
        kind == "binary_expression"
        and text(field(node, "operator")) in ("+", "-")
        and text(field(node, "left")) == name
    ):
        return "moved"
    return "unknown"


def _acquired(call: Call | None) -> str:
    if call is None:
        return "unknown"
    name = called_name(call)
    if name in ("alloca", "_alloca", "__builtin_alloca"):
        return f"stack memory from {name}"
    if name in ACQUIRES or name in MAY_BE_NULL:
        return f"acquired {name}"
    return "unknown"


def _new_kind(node: Node) -> str:
    declarator = field(node, "declarator")
    array = declarator is not None and declarator.type == "new_declarator"
    placement = text(field(node, "placement"))
    if placement and "nothrow" not in placement:
        return "unknown"
    following = node.parent.next_sibling if node.parent is not None else None
    if following is not None and following.type == "ERROR":  # `new T *[n]` is beyond the grammar
        return "unknown"
    return f"acquired new{'[]' if array else ''}{' nothrow' if placement else ''}"


def may_fail(value: str) -> bool:
    """Whether `acquired f` may be null."""
    return value.endswith(" nothrow") or value.partition(" ")[2] not in NEVER_NULL


def use_events(function: Function, use: Node) -> Iterator[Event]:
    """What one occurrence of a variable or member does."""
    node, parent = use, use.parent
    for _ in range(32):
        if parent is None or parent.type not in _WRAPPING:
            break
        if parent.type == "conditional_expression" and field(parent, "condition") == node:
            break
        node, parent = parent, parent.parent
    if parent is None:
        return
    kind = parent.type
    at = use.start_byte
    if kind == "pointer_expression":
        yield from _through_pointer(use, parent)
    elif kind == "field_expression":
        if node == field(parent, "argument") and parent.children[1].type == "->":
            yield from _dereference(use, parent)
        else:
            yield Event(at, 0, "member", use)
    elif kind == "subscript_expression":
        if node == field(parent, "argument"):
            yield from _dereference(use, parent)
        else:
            yield Event(at, 0, "read", use)
    elif kind == "assignment_expression":
        yield from _assigned(function, use, node, parent)
    elif kind == "update_expression":
        outer = parent.parent
        yield Event(at, 0, "read", use)
        if outer is not None and outer.type == "pointer_expression":
            yield from _through_pointer(use, outer)
        elif (
            outer is not None
            and outer.type in ("subscript_expression", "field_expression")
            and field(outer, "argument") == parent
        ):
            yield Event(at, 0, "dereference", use)
        yield Event(parent.end_byte, 1, "move", parent)
    elif kind == "argument_list":
        yield from _argument(function, use, node, parent)
    elif kind == "delete_expression":
        array = any(child.type == "[" for child in parent.children)
        yield Event(parent.end_byte - 1, 1, "free", parent, "delete[]" if array else "delete")
    elif kind == "binary_expression":
        yield from _operand(function, use, parent)
    else:
        yield from _elsewhere(use, node, parent)


def _elsewhere(use: Node, node: Node, parent: Node) -> Iterator[Event]:
    kind, at = parent.type, use.start_byte
    if kind == "return_statement":
        yield Event(at, 0, "read", use, "return")
        yield Event(parent.end_byte - 1, 1, "alias", use)
    elif kind in ("init_declarator", "optional_parameter_declaration"):
        declarator = field(parent, "declarator")
        if declarator is not None and "reference" in declarator.type:
            yield Event(at, 0, "address", use)
        elif node != declarator:
            yield Event(at, 0, "read", use)
            yield Event(parent.end_byte, 1, "alias", use)
    elif kind in ("initializer_list", "initializer_pair", "new_expression", "throw_statement",
                  "co_return_statement"):  # fmt: skip
        yield Event(at, 0, "read", use)
        yield Event(at, 1, "alias", use)
    elif kind in ("gnu_asm_input_operand", "gnu_asm_output_operand", "lambda_capture_specifier",
                  "ERROR", "for_range_loop", "preproc_def",
                  "preproc_function_def"):  # fmt: skip
        yield Event(at, 0, "shared", use)
    elif kind in ("if_statement", "while_statement", "do_statement", "for_statement",
                  "condition_clause", "unary_expression", "conditional_expression",
                  "switch_statement"):  # fmt: skip
        yield Event(at, 0, "test", use)
    elif kind not in ("expression_statement", "sizeof_expression", "pointer_declarator",
                      "array_declarator", "declaration", "preproc_defined", "preproc_ifdef",
                      "preproc_if", "function_declarator", "parameter_declaration",
                      *_UNEVALUATED):  # fmt: skip
        yield Event(at, 0, "read", use)


def _through_pointer(use: Node, parent: Node) -> Iterator[Event]:
    if text(parent.children[0]) == "&":
        yield Event(parent.end_byte - 1, 1, "address", use)
    else:
        yield from _dereference(use, parent)


def _dereference(use: Node, parent: Node) -> Iterator[Event]:
    """`*p`, `p->x`, `p[i]`, unless only its address or size is taken."""
    node: Node | None = parent
    for _ in range(6):
        outer = node.parent if node is not None else None
        if outer is None:
            break
        if outer.type in _UNEVALUATED:
            return
        if outer.type == "pointer_expression" and text(outer.children[0]) == "&":
            yield Event(use.start_byte, 0, "member", use)
            yield Event(outer.end_byte, 1, "alias", use)
            return
        if outer.type not in ("parenthesized_expression", "field_expression",
                              "subscript_expression"):  # fmt: skip
            break
        if outer.type == "field_expression" and outer.children[1].type == "->":
            break
        node = outer
    yield Event(use.start_byte, 0, "dereference", use)


def _assigned(function: Function, use: Node, node: Node, parent: Node) -> Iterator[Event]:
    if node != field(parent, "left"):
        yield Event(use.start_byte, 0, "read", use)
        if text(field(parent, "left")) != text(use):
            yield Event(parent.end_byte, 1, "alias", use)
        return
    if text(field(parent, "operator")) != "=":
        yield Event(use.start_byte, 0, "read", use)
        yield Event(parent.end_byte, 1, "move", parent)
        return
    right = field(parent, "right")
    value = value_of(function, right, text(use)) if right is not None else "unknown"
    yield Event(parent.end_byte, 1, "set", parent, value)
    outer = parent.parent
    if outer is not None and outer.type in ("assignment_expression", "init_declarator"):
        yield Event(outer.end_byte, 2, "alias", use)


def _operand(function: Function, use: Node, parent: Node) -> Iterator[Event]:
    operator = text(field(parent, "operator"))
    at = use.start_byte
    if operator in ("==", "!=", "<", ">", "<=", ">=", "&&", "||"):
        yield Event(at, 0, "test", use)
        return
    if operator in (">>", "<<") and function.unit.language == "cpp" and _is_right(use, parent):
        yield Event(at, 0, "address" if operator == ">>" else "read", use)
        return
    yield Event(at, 0, "test", use)
    outer = parent.parent
    for _ in range(4):
        if outer is None or outer.type != "parenthesized_expression":
            break
        outer = outer.parent
    if outer is None or operator not in ("+", "-"):
        return
    if outer.type == "pointer_expression" and text(outer.children[0]) == "*":
        if not _is_right(use, parent):
            yield from _dereference(use, outer)
    elif outer.type in _STORING or (
        outer.type == "assignment_expression" and text(field(outer, "left")) != text(use)
    ):
        yield Event(outer.end_byte - 1, 1, "alias", use)


def _is_right(use: Node, parent: Node) -> bool:
    left = field(parent, "left")
    return left is not None and use.start_byte >= left.end_byte


def _argument(function: Function, use: Node, node: Node, parent: Node) -> Iterator[Event]:
    outer = parent.parent
    at = use.start_byte
    call = _call_of(function, outer) if outer is not None else None
    if outer is None or call is None:
        yield Event(at, 0, "read", use)
        yield Event(parent.end_byte - 1, 1, "shared" if outer is not None
                    and outer.type != "call_expression" else "pass", use)  # fmt: skip
        return
    name = called_name(call)
    index = 0
    if name in RELEASES or name in DEREFERENCES:
        first = call.arguments[:_MAX_PLACES]  # an argument further behind is never of interest
        behind = _MAX_PLACES if len(call.arguments) > _MAX_PLACES else 0
        index = next((i for i, a in enumerate(first) if a.id == node.id), behind)
    if name in RELEASES and index == 0 and not call.is_method:
        yield Event(outer.end_byte - 1, 1, "free", outer, name)
        return
    if index in DEREFERENCES.get(name, ()):
        yield Event(at, 0, "dereference", use, name)
        return
    if name in ("va_start", "va_arg", "va_end", "va_copy"):
        yield Event(at, 0, "address", use)
        return
    if name in ("realloc", "reallocarray", "xrealloc", "g_realloc", "freopen", "fdopen"):
        yield Event(at, 0, "read", use, name)
        yield Event(outer.end_byte - 1, 0, "alias", use, name)
        return
    looks = only_looks(call)
    known = looks or name in function.unit.facts.functions
    yield Event(at, 0, "read" if known else "handed", use, call.name)
    if not looks:
        macro = call.written.isupper() or call.written in function.unit.facts.function_macros
        kind = "shared" if macro else "checked" if may_check(call) or _decides(outer) else "pass"
        yield Event(outer.end_byte - 1, 1, kind, use, call.name)


def _decides(call: Node) -> bool:
    """Whether a call is (part of) a condition."""
    node = call.parent
    for _ in range(8):
        if node is None:
            return False
        if node.type in ("if_statement", "while_statement", "condition_clause"):
            return True
        if node.type not in ("parenthesized_expression", "unary_expression", "binary_expression"):
            return False
        node = node.parent
    return False
