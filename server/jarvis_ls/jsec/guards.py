"""What stands near a suspicious place and makes it harmless, or not.

These are questions about the tree around a place, not about every path to it: each answers
from conditions, assignments and declarations of the same function. Rules lower or drop their
confidence by them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, Unit, Variable, ancestors, bare, field, text
from jarvis_ls.codeintel.facts import Declared
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.memo import once_per_function

NULLS = frozenset({"NULL", "0", "nullptr", "((void*)0)", "((void *)0)", "'\\0'"})
_RELATIONS = frozenset({"<", ">", "<=", ">="})
_EQUALITIES = frozenset({"==", "!="})
_JUMPS = frozenset(
    {"return_statement", "goto_statement", "break_statement", "continue_statement",
     "throw_statement"}
)  # fmt: skip
NEVER_RETURN = frozenset(
    {"exit", "_exit", "_Exit", "abort", "err", "errx", "verr", "verrx", "longjmp", "quick_exit",
     "__builtin_unreachable", "__builtin_trap", "g_error", "panic", "die", "fatal", "usage"}
)  # fmt: skip
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|0[0-7']*|[1-9][0-9']*)[uUlLzZ]*")
_SIZES = {
    "char": 1, "bool": 1, "_Bool": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "int16_t": 2,
    "uint16_t": 2, "wchar_t": 4, "int": 4, "float": 4, "int32_t": 4, "uint32_t": 4, "unsigned": 4,
    "signed": 4, "long": 8, "double": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8, "ssize_t": 8,
    "off_t": 8, "time_t": 8, "intptr_t": 8, "uintptr_t": 8, "ptrdiff_t": 8,
}  # fmt: skip


def string_literal(node: Node | None, function: Function | None = None) -> str | None:
    """The text of a string literal, seen through macros of the file, parentheses, `?:` of two
    literals, and a local or file-scope variable that only ever holds one literal.

    Returns the text between the quotes (escapes as written), or None when it may be anything.
    """
    if node is None:
        return None
    node = bare(node)
    kind = node.type
    if kind in ("string_literal", "raw_string_literal"):
        return text(node).strip().lstrip("LuUR8").strip('"')
    if kind == "concatenated_string":
        parts = [string_literal(c, function) for c in node.named_children if c.type != "comment"]
        known = [p if p is not None else "" for p in parts]
        return "".join(known)
    if kind == "conditional_expression":
        yes = string_literal(field(node, "consequence"), function)
        no = string_literal(field(node, "alternative"), function)
        return yes if yes is not None and no is not None else None
    if kind == "call_expression" and text(field(node, "function")) in (
        "_", "N_", "gettext", "dgettext", "ngettext", "Q_", "tr", "_T", "TEXT", "QT_TR_NOOP"
    ):  # fmt: skip
        arguments = field(node, "arguments")
        for child in arguments.named_children if arguments is not None else ():
            if (found := string_literal(child, function)) is not None:
                return found
        return None
    if kind == "identifier" and function is not None:
        return _literal_variable(node, function)
    return None


def constant(node: Node | None, function: Function | None, unit: Unit | None = None) -> int | None:
    """The value of an integer expression known at compile time, or None.

    Sees literals, macros, enumerators, `sizeof` of plain types and arrays, locals set once to
    a constant, and arithmetic of these.
    """
    if unit is None:
        if function is None:
            return None
        unit = function.unit
    return _constant(node, function, unit, 24)


def constant_text(written: str, unit: Unit) -> int | None:
    """The value of an integer written as text: a number or a macro of the file."""
    for _ in range(8):
        written = written.strip()
        while written.startswith("(") and written.endswith(")"):
            written = written[1:-1].strip()
        match = _NUMBER.fullmatch(written.removeprefix("-"))
        if match:
            digits = match[1].replace("'", "")
            octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
            value = int(digits, 8 if octal else 0)
            return -value if written.startswith("-") else value
        if written in unit.facts.enumerators:
            return unit.facts.enumerators[written]
        following = unit.facts.macros.get(written)
        if following is None:
            return _arithmetic(written, unit)
        written = following
    return None


def declaration(node: Node | None, function: Function | None) -> Variable | Declared | None:
    """How the variable or field an expression names is declared, or None.

    A field is known when every struct of the file and its project headers that has a field of
    this name declares it alike.
    """
    if node is None:
        return None
    node = bare(node)
    if node.type == "identifier":
        name = text(node)
        local = function.variable(name, node.start_byte) if function is not None else None
        if local is not None or function is None:
            return local
        return function.unit.facts.variables.get(name)
    if node.type == "field_expression" and function is not None:
        known = set(function.unit.facts.fields.get(text(field(node, "field")), ()))
        return known.pop() if len(known) == 1 else None
    return None


def array_size(node: Node | None, function: Function | None) -> int | None:
    """Number of elements of the array an expression names, or None.

    `&a[0]` counts as `a`; a pointer has no size here.
    """
    if node is None or function is None:
        return None
    node = bare(node)
    if node.type == "pointer_expression" and text(field(node, "operator")) == "&":
        inner = bare(field(node, "argument") or node)
        if inner.type == "subscript_expression" and text(_index_of(inner)) == "0":
            node = bare(field(inner, "argument") or inner)
    declared = declaration(node, function)
    if declared is None or not declared.arrays or declared.pointers:
        return None
    if isinstance(declared, Variable) and declared.is_parameter:
        return None
    if declared.arrays[0] == "" and isinstance(declared, Variable):
        literal = string_literal(declared.initial)
        return None if literal is None else literal_length(literal) + 1
    return constant_text(declared.arrays[0], function.unit)


def literal_length(literal: str) -> int:
    """Number of characters in the text of a string literal, escapes counted as one."""
    return len(re.sub(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", "x",
                      literal))  # fmt: skip


def element_size(declared: Variable | Declared | None) -> int | None:
    """Bytes of one element of a declared array or of what a pointer points to, or None."""
    if declared is None:
        return None
    if declared.pointers > 1 or (declared.pointers == 1 and declared.arrays):
        return 8
    words = declared.type.split()
    if "long" in words and "double" in words:
        return 16
    sizes = [_SIZES[word] for word in words if word in _SIZES]
    if not sizes:
        return None
    return max(sizes) if "long" in words else sizes[-1] if "short" not in words else 2


def null_checked(
    function: Function, expression: str, start: int = 0, end: int | None = None
) -> bool:
    """Whether a condition between two bytes tests `expression` (a name or `a->b`) for null."""
    return any(True for _ in null_tests(function, expression, start, end))


def null_tests(
    function: Function, expression: str, start: int = 0, end: int | None = None
) -> Iterator[Node]:
    """The places where a condition tests `expression` for null."""
    last = _last_word(expression)
    for condition in function.conditions:
        if condition.end_byte <= start or (end is not None and condition.start_byte >= end):
            continue
        if last not in text(condition):
            continue
        for node in _mentions(function, expression, condition):
            if _is_null_test(node):
                yield node


def bounded(function: Function, expression: str, start: int = 0, end: int | None = None) -> bool:
    """Whether a condition between two bytes compares `expression` (or its length, or a name in
    it) with something by `<`, `>`, `<=` or `>=`, or tests it for one value by `==`."""
    words = set(re.findall(r"[A-Za-z_]\w*", expression)) - {"strlen", "sizeof"}
    if not words:
        return False
    for condition in function.conditions:
        if condition.end_byte <= start or (end is not None and condition.start_byte >= end):
            continue
        if any(_compares(n, words) for n in _binaries(condition)):
            return True
    return False


def written_between(function: Function, expression: str, start: int, end: int) -> bool:
    """Whether `expression` or its first name is assigned, or has its address taken, between
    two bytes."""
    base = re.match(r"[\s*(&]*([A-Za-z_]\w*)", expression)
    names = {expression.strip(), base[1] if base else expression}
    for node in _starting(function.nodes("assign"), start, end):
        if text(field(node, "left")).strip("() ") in names:
            return True
    for node in _starting(function.nodes("update"), start, end):
        if text(field(node, "argument")).strip("() ") in names:
            return True
    for node in _starting(function.nodes("deref"), start, end):
        if (
            text(field(node, "operator")) == "&"
            and text(field(node, "argument")).strip("() ") in names
        ):
            return True
    for node in _starting(function.nodes("decl"), start, end):
        for child in node.children_by_field_name("declarator"):
            if base is not None and _declared_name(child) == base[1]:
                return True
    return False


def _starting(nodes: list[Node], start: int, end: int) -> list[Node]:
    """The nodes, given in order of position, that start between two bytes."""
    first = bisect_left(nodes, start, key=lambda n: n.start_byte)
    return nodes[first : bisect_left(nodes, end, lo=first, key=lambda n: n.start_byte)]


def same_path(function: Function, first: Node, second: Node) -> bool:
    """Whether control may run from `first` on to `second` later in the text.

    False when they lie in different branches of one `if`, `?:` or `switch`, or when the block
    around `first` (up to the block they share) always leaves before its end.
    """
    shared = {a.id for a in ancestors(second, function.node)}
    below = first
    for outer in ancestors(first, function.node):
        if outer.id in shared:
            return not _exclusive(outer, below, second)
        if outer.type in ("compound_statement", "case_statement", "else_clause",
                          "labeled_statement") and _leaves(outer, below.end_byte):  # fmt: skip
            return False
        below = outer
    return True


def never_returns(call: Call) -> bool:
    """Whether a call is a statement that ends the program or jumps away (`exit`, `abort`)."""
    return call.name in NEVER_RETURN and call.statement is not None


def leaves(node: Node) -> bool:
    """Whether a statement always leaves the block: a jump, a call that never returns, or a
    block that ends in one."""
    node = _last_statement(node)
    if node.type in _JUMPS:
        return True
    if node.type == "expression_statement" and node.named_child_count:
        inner = node.named_children[0]
        return inner.type == "call_expression" and text(field(inner, "function")) in NEVER_RETURN
    return False


def enclosing_loop(node: Node, function: Function) -> Node | None:
    """The innermost loop around `node`, or None."""
    for outer in ancestors(node, function.node):
        if outer.type in ("for_statement", "while_statement", "do_statement",
                          "for_range_loop", "while_expression", "for_expression",
                          "loop_expression"):  # fmt: skip
            return outer
    return None


def _literal_variable(node: Node, function: Function) -> str | None:
    name = text(node)
    macro = function.unit.facts.macros.get(name)
    if macro is not None:
        return macro.strip('"') if macro.startswith('"') and macro.endswith('"') else None
    variable = function.variable(name, node.start_byte)
    if variable is None or variable.is_parameter or variable.is_array:
        return None
    first = string_literal(variable.initial)
    if variable.initial is not None and first is None:
        return None
    return _literals_assigned(function).get(name, first)


@once_per_function
def _literals_assigned(function: Function) -> dict[str, str | None]:
    """By variable, the string literal it is last assigned; None when it is also assigned
    something else, or its address is taken."""
    found: dict[str, str | None] = {}
    for assignment in function.nodes("assign"):
        name = text(field(assignment, "left"))
        literal = string_literal(field(assignment, "right"))
        found[name] = literal if found.get(name, "") is not None else None
    for node in function.nodes("deref"):
        if text(field(node, "operator")) == "&":
            found[text(field(node, "argument"))] = None
    return found


def _constant(node: Node | None, function: Function | None, unit: Unit, fuel: int) -> int | None:
    if node is None or fuel <= 0:
        return None
    node = bare(node)
    kind = node.type
    if kind in ("number_literal", "integer_literal"):
        return constant_text(text(node), unit)
    if kind == "char_literal":
        inner = text(node).strip("'")
        return ord(inner) if len(inner) == 1 else 0 if inner == "\\0" else None
    if kind == "identifier":
        return _constant_name(node, function, unit, fuel)
    if kind == "binary_expression":
        left = _constant(field(node, "left"), function, unit, fuel - 1)
        right = _constant(field(node, "right"), function, unit, fuel - 1)
        return None if left is None or right is None else _apply(
            text(field(node, "operator")), left, right
        )  # fmt: skip
    if kind == "unary_expression" and text(field(node, "operator")) == "-":
        value = _constant(field(node, "argument"), function, unit, fuel - 1)
        return None if value is None else -value
    if kind == "sizeof_expression":
        return _sizeof(node, function)
    return None


def _constant_name(node: Node, function: Function | None, unit: Unit, fuel: int) -> int | None:
    name = text(node)
    variable = function.variable(name, node.start_byte) if function is not None else None
    if variable is None:
        return constant_text(name, unit)
    assert function is not None
    if variable.is_parameter or variable.initial is None or variable.is_array:
        return None
    if written_between(function, name, variable.node.end_byte, variable.scope[1]):
        return None
    return _constant(variable.initial, function, unit, fuel - 1)


def _apply(operator: str, left: int, right: int) -> int | None:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if operator == "/" and right:
        return left // right
    if operator == "%" and right:
        return left % right
    if operator == "<<" and 0 <= right < 64:
        return left << right
    if operator == ">>" and 0 <= right < 64:
        return left >> right
    return None


def _arithmetic(written: str, unit: Unit) -> int | None:
    """`A + 1` and the like, two operands at the top level of a macro's text."""
    match = re.fullmatch(r"\s*([^-+*/()]+?)\s*([-+*]|<<)\s*([^-+*/()]+?)\s*", written)
    if not match or len(written) > 200:
        return None
    left, right = constant_text(match[1], unit), constant_text(match[3], unit)
    return None if left is None or right is None else _apply(match[2], left, right)


def _sizeof(node: Node, function: Function | None) -> int | None:
    named = field(node, "type")
    if named is not None:
        if "*" in text(named):
            return 8
        return element_size(Declared("", text(named)))
    value = field(node, "value")
    if value is None or function is None:
        return None
    declared = declaration(value, function)
    if declared is None:
        name = text(bare(value))
        return element_size(Declared("", name)) if name in _SIZES else None
    if declared.arrays and not (isinstance(declared, Variable) and declared.is_parameter):
        count, size = array_size(value, function), element_size(declared)
        return None if count is None or size is None else count * size
    return 8 if declared.pointers else element_size(declared)


def _index_of(subscript: Node) -> Node | None:
    return field(subscript, "index") or next(
        (c for c in (field(subscript, "indices") or subscript).named_children[-1:]), None
    )


def _last_word(expression: str) -> str:
    words = re.findall(r"\w+", expression)
    return words[-1] if words else expression


def _mentions(function: Function, expression: str, inside: Node) -> Iterator[Node]:
    """Nodes inside `inside` whose text is `expression`."""
    expression = expression.strip()
    if expression.isidentifier():
        yield from function.uses(expression, inside.start_byte, inside.end_byte)
        return
    for kind in ("member", "deref", "index"):
        for node in function.nodes(kind):
            if inside.start_byte <= node.start_byte < inside.end_byte and text(node) == expression:
                yield node


def _is_null_test(node: Node) -> bool:
    """Whether the value of `node` itself decides: bare, negated, or compared with null."""
    parent = node.parent
    for _ in range(16):
        if parent is None:
            return False
        kind = parent.type
        if kind == "assignment_expression" and field(parent, "left") == node:
            node, parent = parent, parent.parent
            continue
        if kind in ("parenthesized_expression", "cast_expression", "condition_clause"):
            node, parent = parent, parent.parent
            if kind == "condition_clause":
                return True
            continue
        if kind == "unary_expression":
            return text(field(parent, "operator")) == "!"
        if kind == "binary_expression":
            operator = text(field(parent, "operator"))
            if operator in ("&&", "||"):
                return True
            left, right = field(parent, "left"), field(parent, "right")
            other = right if left == node else left
            return operator in _EQUALITIES and text(other) in NULLS
        if kind == "argument_list":  # of an assert
            return True
        return kind in ("if_statement", "while_statement", "do_statement", "for_statement",
                        "conditional_expression")  # fmt: skip
    return False


def _binaries(condition: Node) -> Iterator[Node]:
    stack = [condition]
    for _ in range(512):
        if not stack:
            return
        node = stack.pop()
        if node.type == "binary_expression":
            yield node
        if node.type in ("binary_expression", "parenthesized_expression", "unary_expression",
                         "condition_clause", "assignment_expression", "call_expression",
                         "argument_list"):  # fmt: skip
            stack.extend(node.named_children)


def _compares(node: Node, words: set[str]) -> bool:
    operator = text(field(node, "operator"))
    if operator not in _RELATIONS and operator not in _EQUALITIES:
        return False
    left, right = text(field(node, "left")), text(field(node, "right"))
    if operator in _EQUALITIES and (left in NULLS or right in NULLS):
        return False
    return any(words & set(re.findall(r"[A-Za-z_]\w*", side)) for side in (left, right))


def _declared_name(node: Node | None) -> str:
    for _ in range(16):
        if node is None:
            return ""
        if node.type == "identifier":
            return text(node)
        node = node.child_by_field_name("declarator")
    return ""


def _exclusive(shared: Node, below: Node, second: Node) -> bool:
    """Whether `below` and `second` lie in different branches of `shared`."""
    if shared.type in ("if_statement", "conditional_expression"):
        condition = field(shared, "condition")
        return condition is None or not (
            condition.start_byte <= below.start_byte < condition.end_byte
        )
    if shared.type == "compound_statement" and below.type == "case_statement":
        return _leaves(below, below.start_byte)
    return _leaves_between(shared, below, second)


def _leaves_between(block: Node, below: Node, second: Node) -> bool:
    """Whether a jump stands directly in `block` between two of its statements."""
    if block.type not in ("compound_statement", "case_statement"):
        return False
    for child in block.named_children:
        if child.start_byte >= second.start_byte:
            return False
        if child.type == "labeled_statement" and child.start_byte > below.start_byte:
            return False
        if child.start_byte >= below.end_byte and child.type in _JUMPS:
            return True
    return False


def _leaves(block: Node, after: int) -> bool:
    """Whether a statement directly in `block` after a byte always leaves it."""
    return any(
        child.start_byte >= after and leaves(child)
        for child in block.named_children
        if child.type in _JUMPS or child.type in ("expression_statement", "compound_statement")
    )


def _last_statement(node: Node) -> Node:
    for _ in range(16):
        if node.type != "compound_statement" or not node.named_child_count:
            return node
        node = node.named_children[-1]
    return node
