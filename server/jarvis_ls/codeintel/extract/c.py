"""C and C++: declarations, macros and includes of a file, variables of a function."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping

from jarvis_ls.codeintel.conditionals import live_children
from jarvis_ls.codeintel.declarations import Declared, Facts, FunctionMacro
from jarvis_ls.codeintel.extract.output import compared_output
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import MAX_DEPTH, Node
from jarvis_ls.codeintel.top_level_items import CONDITIONALS
from jarvis_ls.codeintel.variables import FunctionSyntax, Variable

CHANGES: Mapping[str, str] = {
    "decl": "(declaration)",
    "assign": "(assignment_expression)",
    "update": "(update_expression)",
    "deref": "(pointer_expression)",
    "call": "(call_expression)",
    "if": "(if_statement)",
    "loop": "[(for_statement) (while_statement) (do_statement)]",
    "switch": "(switch_statement)",
    "ternary": "(conditional_expression)",
    "index": "(subscript_expression)",
    "return": "(return_statement)",
    "binary": "(binary_expression)",
}
"""The details that are asked for most, with their patterns: they tell what is set where, or rules
look at each of them anyway."""

CHANGES_QUERY = "\n".join(
    f"{pattern} @{kind}"
    for kind, pattern in (*CHANGES.items(), ("preproc", "[(preproc_if) (preproc_elif)]"))
)

NAMES_QUERY = "(identifier) @id [(preproc_if) (preproc_elif)] @preproc"

DETAIL_QUERY = """
(assignment_expression right: [(null) (number_literal)]) @cleared
(field_expression) @member
(case_statement) @case
(binary_expression operator: "&&") @and
(binary_expression operator: "||") @or
(break_statement) @break
(continue_statement) @continue
(goto_statement) @goto
(labeled_statement) @label
(compound_statement) @block
(sizeof_expression) @sizeof
(cast_expression) @cast
[(preproc_if) (preproc_elif)] @preproc
(preproc_ifdef) @ifdef
(function_definition) @function
"""
"""What is asked about functions besides, those inside of it among them; for C and C++. It and
names, of which there are most, are captured only for the few functions where they are asked for."""

DETAIL_QUERY_CPP = (
    DETAIL_QUERY
    + """
(for_range_loop) @range
(try_statement) @try
(throw_statement) @throw
(lambda_expression) @lambda
"""
)

_TYPE_WORDS = frozenset(
    {
        "primitive_type",
        "type_identifier",
        "sized_type_specifier",
        "type_qualifier",
        "qualified_identifier",
        "template_type",
        "placeholder_type_specifier",
        "auto",
    }
)
_STORAGE = frozenset(
    "static extern register inline typedef thread_local _Thread_local constexpr virtual "
    "friend explicit mutable __inline __inline__".split()
)
_LAST = frozenset({"exit", "_exit", "_Exit", "quick_exit", "abort"})
_MAX_CLIMB = 16
_LONGEST_PLAIN = 200
"""Bytes before a declarator that may be mere words."""
_PLAIN = re.compile(rb"[A-Za-z_0-9 \t\n\r]*")
_MACRO_HEAD = re.compile(r"#\s*define\s+([A-Za-z_]\w*)\(([^()]*)\)")
_UNDEFINES_NDEBUG = re.compile(r"#[ \t]*undef[ \t]+NDEBUG\b")
_QUOTED_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|/\*')
_TAGGED = frozenset({"struct_specifier", "union_specifier", "class_specifier", "enum_specifier"})


def item_facts(node: Node) -> Facts | None:
    """Return what a top-level item declares to the rest of the file; None when nothing."""
    kind = node.type
    if kind == "function_definition":
        facts = Facts(compared=compared_output(node))
        declared, _ = next(_declarators(node), (None, None))
        if declared is not None:
            facts.functions[declared.name] = declared
            facts.defined = frozenset({declared.name})
            if _ends_the_program(field(node, "body")):
                facts.stops = facts.defined
        return facts
    if kind == "preproc_def":
        name = text(field(node, "name"))
        return Facts(macros={name: _one_line(text(field(node, "value")))})
    if kind == "preproc_function_def":
        return _function_macro(node)
    if kind == "ERROR":
        return _torn_macro(node)
    if kind == "preproc_include":
        path = text(field(node, "path")).strip()
        return Facts(includes=(path[1:-1],)) if path[:1] in ('"', "<") else None
    if kind == "preproc_call" and _UNDEFINES_NDEBUG.match(text(node)):
        return Facts(asserting=True)
    if kind in ("declaration", "type_definition", "alias_declaration", *_TAGGED):
        return _declaration_facts(node)
    return None


def _ends_the_program(body: Node | None) -> bool:
    """Return whether the last statement of a block is a call of `exit` or the like."""
    count = 0 if body is None else body.named_child_count
    last = body.named_child(count - 1) if body is not None and count else None
    if last is None or last.type != "expression_statement" or not last.named_child_count:
        return False
    return text(field(last.named_child(0), "function")) in _LAST


def variables(function: FunctionSyntax) -> Iterator[Variable]:
    """Parameters, then locals, of a C or C++ function."""
    everywhere = (function.start, function.end)
    data = function.unit.source.data
    for node in _parameter_nodes(function):
        for declared, name in _declarators(node):
            yield Variable(declared, name, everywhere, None, is_parameter=True)
    for node in function.declarations:
        scope_end = _scope_end(node, function)
        old_style = function.body is not None and node.start_byte < function.body.start_byte
        children = node.children_by_field_name("declarator")
        words, static = _specifiers(node, children[0], data) if children else ("", False)
        for child in children:
            initial = (
                child.child_by_field_name("value") if child.type == "init_declarator" else None
            )
            for declared, name in _declarator(child, words, static, data):
                visible = everywhere if old_style else (name.start_byte, scope_end)
                yield Variable(declared, name, visible, initial, is_parameter=old_style)


def _parameter_nodes(function: FunctionSyntax) -> list[Node]:
    parameters = field(function.declarator, "parameters")
    if parameters is None:
        return []
    return [
        c
        for c in parameters.named_children
        if c.type in ("parameter_declaration", "optional_parameter_declaration")
    ]


def _scope_end(declaration: Node, function: FunctionSyntax) -> int:
    """Return the offset at which the scope of a declaration ends."""
    outer = declaration.parent
    for _ in range(_MAX_CLIMB):
        if outer is None or outer.type == "function_definition":
            break
        if outer.type in ("compound_statement", "for_statement"):
            return outer.end_byte
        outer = outer.parent
    return function.end


def _declaration_facts(node: Node) -> Facts:
    facts = Facts()
    kind = field(node, "type")
    for tagged in (node, kind):
        if tagged is not None and tagged.type in _TAGGED:
            own = text(field(tagged, "name"))
            _add_body(facts, tagged, own.rpartition("::")[2] or _alias(node))
            if tagged.type == "class_specifier" and own and field(tagged, "body") is not None:
                facts.types[own] = Declared(own, f"class {own}")
            elif tagged.type == "enum_specifier" and own and field(tagged, "body") is not None:
                facts.types[own] = Declared(own, f"enum {own}")
    if node.type == "alias_declaration":
        alias = text(field(node, "name"))
        facts.types[alias] = Declared(alias, text(kind))
        return facts
    for declared, name in _declarators(node):
        if node.type == "type_definition":
            facts.types[declared.name] = declared
        elif _is_function(name):
            facts.functions[declared.name] = declared
        else:
            facts.variables[declared.name] = declared
    return facts


def _alias(node: Node) -> str:
    """Return the name that a `typedef` gives a type without one."""
    if node.type != "type_definition":
        return ""
    return next((declared.name for declared, _ in _declarators(node)), "")


def _add_body(facts: Facts, tagged: Node, owner: str, depth: int = 0, around: str = "") -> None:
    """Take over the members of a record, and of those in it, or the constants of an enumeration. A
    record without a name has that of its `owner` and of the first member that is declared by it, as
    `owner.member`. Constants of an enumeration in the record `around` have a name with that, too.
    """
    body = field(tagged, "body")
    if body is None or depth > MAX_DEPTH:
        return
    value = -1
    if tagged.type == "enum_specifier" and any(
        child.type in CONDITIONALS for child in live_children(body)
    ):
        value = -(10**9)  # which constants come before the others is not known
    for child in _members(body):
        if child.type == "enumerator":
            written = text(field(child, "value")).strip()
            if written and not written.isdigit():
                value = -(10**9)  # unknown from here on
                continue
            value = int(written) if written else value + 1
            if value >= 0:
                name = text(field(child, "name"))
                facts.enumerators[name] = value
                if around:
                    facts.enumerators[f"{around}::{name}"] = value
        elif child.type in ("field_declaration", "function_definition"):
            inner = field(child, "type")
            unnamed = ""
            if inner is not None and inner.type in _TAGGED:
                first = next((declared.name for declared, _ in _declarators(child)), "")
                own = text(field(inner, "name"))
                if owner and first and not own and inner.type != "enum_specifier":
                    own = unnamed = f"{owner}.{first}"
                _add_body(facts, inner, own or owner, depth + 1, owner)
            for declared, _ in _declarators(child):
                if unnamed:
                    declared = declared._replace(type=f"struct {unnamed}")
                known = facts.fields.get(declared.name, ())
                facts.fields[declared.name] = (*known, declared)


def _members(body: Node) -> Iterator[Node]:
    """Yield the members of a struct body, those inside preprocessor conditionals too."""
    waiting = list(live_children(body))[::-1]
    while waiting:
        child = waiting.pop()
        if child.type in CONDITIONALS:
            waiting += child.named_children[::-1]
        else:
            yield child


def _function_macro(node: Node) -> Facts:
    written = text(node)
    if "/*" in written:  # the grammar ends a macro's text, and worse, at a comment
        found = _by_its_text(written)
        if found is not None:
            return found
    name = text(field(node, "name"))
    parameters = field(node, "parameters")
    names = tuple(
        text(child)
        for child in (parameters.children if parameters is not None else ())
        if child.type in ("identifier", "...")
    )
    body = _one_line(text(field(node, "value")))
    return Facts(function_macros={name: FunctionMacro(names, body)})


def _torn_macro(node: Node) -> Facts | None:
    """Return a macro that the grammar gives up on at a comment within its text."""
    written = text(node)
    torn = written.startswith("#") and "/*" in written and _is_one_line(written)
    return _by_its_text(written) if torn else None


def _by_its_text(written: str) -> Facts | None:
    """Return a macro with parameters whose text holds comments."""
    match = _MACRO_HEAD.match(line := _without_comments(_one_line(written)))
    if match is None:
        return None
    listed = tuple(word for word in re.findall(r"\w+|\.\.\.", match[2]))
    return Facts(function_macros={match[1]: FunctionMacro(listed, line[match.end() :].strip())})


def _is_one_line(written: str) -> bool:
    """Return whether text is one line for the preprocessor."""
    return all(line.endswith("\\") for line in written.rstrip().split("\n")[:-1])


def _without_comments(line: str) -> str:
    """`line` with a blank for each comment; text in quotes stays."""
    kept, at = [], 0
    for match in _QUOTED_OR_COMMENT.finditer(line):
        if match.start() < at or match[0] != "/*":
            continue
        end = line.find("*/", match.end())
        kept += [line[at : match.start()], " "]
        at = end + 2 if end >= 0 else len(line)
    return "".join([*kept, line[at:]])


def _one_line(replacement: str) -> str:
    return replacement.replace("\\\r\n", " ").replace("\\\n", " ").strip()


_UNSPOKEN = "?"
"""The type of what words and stars alone cannot say."""


def _declarators(node: Node) -> Iterator[tuple[Declared, Node]]:
    """Yield what a declaration, parameter or field declares, with the node of each name."""
    children = node.children_by_field_name("declarator")
    words, static = _specifiers(node, children[0]) if children else ("", False)
    for child in children:
        yield from _declarator(child, words, static)


def _declarator(
    node: Node, words: str, static: bool, data: bytes | None = None
) -> Iterator[tuple[Declared, Node]]:
    """Yield what a declarator declares; `data` is the text of the file, if available."""
    pointers = 0
    arrays: list[str] = []
    inner: Node | None = node
    for _ in range(32):
        if inner is None:
            return
        kind = inner.type
        if kind in (
            "identifier",
            "field_identifier",
            "type_identifier",
            "qualified_identifier",
            "primitive_type",
            "operator_name",
            "destructor_name",
        ):
            written = (
                (inner.text or b"") if data is None else data[inner.start_byte : inner.end_byte]
            )
            name = written.decode("utf-8", "replace")
            yield Declared(name, words, pointers, tuple(arrays), static), inner
            return
        if kind in ("pointer_declarator", "abstract_pointer_declarator"):
            if arrays:  # `char (*p)[9]`: no array, and what is pointed to has no words
                pointers, arrays, words = 0, [], _UNSPOKEN
            pointers += 1
        elif kind == "array_declarator":
            arrays.insert(0, text(field(inner, "size")).strip())
        following = inner.child_by_field_name("declarator")
        if following is None and kind in (
            "parenthesized_declarator",
            "reference_declarator",
            "attributed_declarator",
        ):
            following = next(
                (
                    c
                    for c in inner.named_children
                    if "declarator" in c.type or c.type.endswith("identifier")
                ),
                None,
            )
        inner = following


def _is_function(name: Node) -> bool:
    parent = name.parent
    return parent is not None and parent.type == "function_declarator"


def _specifiers(node: Node, first: Node, data: bytes | None = None) -> tuple[str, bool]:
    """Return the words of the type, and whether `static` is among the specifiers.

    What is before the first declarator are the specifiers; only when they hold more than
    words (a struct's body, a comment, template arguments) are they read off the tree. `data` is
    the text of the file, when it is at hand.
    """
    start, end = node.start_byte, first.start_byte
    if end - start <= _LONGEST_PLAIN:  # the text of structs in structs is as long as all in them
        written = (node.text or b"")[: end - start] if data is None else data[start:end]
        plain = _plain_specifiers(written)
        if plain is not None:
            return plain
    kinds = [c for c in node.children if c.type in _TYPE_WORDS or c.type in _TAGGED]
    return " ".join(map(_type_word, kinds)), _is_static(node)


@functools.lru_cache(maxsize=4096)
def _plain_specifiers(written: bytes) -> tuple[str, bool] | None:
    """Return `_specifiers` for plain words, cached because programs repeat the same few."""
    if not _PLAIN.fullmatch(written):
        return None
    words = written.decode().split()
    return " ".join([word for word in words if word not in _STORAGE]), "static" in words


def _type_word(node: Node) -> str:
    if node.type not in _TAGGED:
        return text(node)
    return f"{node.type.partition('_')[0]} {text(field(node, 'name'))}".strip()


def _is_static(node: Node) -> bool:
    return any(c.type == "storage_class_specifier" and c.text == b"static" for c in node.children)
