"""Function bodies: structured where C is, and one `loop { match }` where labels are jumped to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.baseline.expressions import Expressions, literal
from jarvis_ls.jc2r.baseline.kinds import FUNCTIONS, Types, is_array, kind
from jarvis_ls.jc2r.baseline.names import Names, Unsupported, rust_name

_LOOPS = ("WHILE_STMT", "DO_STMT", "FOR_STMT")
_CASES = ("CASE_STMT", "DEFAULT_STMT")


class Surroundings(Protocol):
    """What a body needs to know of its module."""

    types: Types

    def name_of(self, declared: Any) -> str:
        """How a global variable or a function is named in the module."""

    def enumerator(self, declared: Any) -> str:
        """How an enumeration constant is named in the module."""

    def external(self, name: str, declared: Any) -> str:
        """How a function of the system is named in the module."""

    def taken(self) -> set[str]:
        """Names that locals must not have."""

    def exported(self, cursor: Any) -> list[str]:
        """Attributes that give a definition its name for the linker."""


@dataclass
class _Target:
    """Where `break` and `continue` go."""

    leave: str
    again: str


class Body(Expressions):
    """One function on its way to Rust."""

    def __init__(self, cursor: Any, module: Surroundings) -> None:
        self.types = module.types
        self._cursor = cursor
        self._module = module
        self._names = Names(module.taken())
        self._locals: dict[int, str] = {}
        self._statics: set[int] = set()
        self._constant: set[int] = set()
        self._targets: list[_Target] = []
        self._numbers = 0
        self._before: list[str] = []
        """Lines a statement needs in front of it."""
        self._machine: _Machine | None = None

    def translate(self) -> str:
        """The whole function. Raises `Unsupported`."""
        cursor = self._cursor
        if kind(cursor.type) == "FUNCTIONPROTO" and cursor.type.is_function_variadic():
            raise Unsupported("variadic definitions")
        result = cursor.result_type
        parameters = [self._parameter(one) for one in cursor.get_arguments()]
        (block,) = [c for c in clang.children(cursor) if c.kind.name == "COMPOUND_STMT"]
        if _needs_machine(block):
            self._machine = _Machine()
            self._lower(block)
            self._machine.emit(self._end(result))
            lines = self._machine.lines()
        else:
            lines = self.statements(block)
            children = clang.children(block)
            if not children or children[-1].kind.name != "RETURN_STMT":
                lines.append(self._end(result))
        head = self._module.exported(cursor)
        name = "main_0" if cursor.spelling == "main" else rust_name(cursor.spelling)
        back = "" if kind(result) == "VOID" else f" -> {self.types.of(result)}"
        head.append(f'pub unsafe extern "C" fn {name}({", ".join(parameters)}){back} {{')
        return "\n".join([*head, *lines, "}"])

    # -- what initialisers and expressions ask for

    def name_of(self, declared: Any) -> str:
        """See `Initials`."""
        return self._locals.get(declared.hash) or self._module.name_of(declared)

    def enumerator(self, declared: Any) -> str:
        """See `Initials`."""
        return self._module.enumerator(declared)

    def external(self, name: str, declared: Any) -> str:
        """See `Initials`."""
        return self._module.external(name, declared)

    def temporary(self, rust: str, value: str) -> str:
        """See `Initials`."""
        name = self._names.give("literal")
        if self._machine is not None:
            self._machine.hoist(f"let mut {name}: {rust} = core::mem::zeroed();")
            self._before.append(f"{name} = {value};")
        else:
            self._before.append(f"let mut {name}: {rust} = {value};")
        return name

    def is_constant_place(self, cursor: Any) -> bool:
        """See `Initials`."""
        while cursor.kind.name in ("PAREN_EXPR", "ARRAY_SUBSCRIPT_EXPR", "MEMBER_REF_EXPR",
                                   "UNEXPOSED_EXPR"):  # fmt: skip
            children = clang.children(cursor)
            if cursor.kind.name == "MEMBER_REF_EXPR" and kind(children[0].type) == "POINTER":
                return bool(children[0].type.get_canonical().get_pointee().is_const_qualified())
            cursor = children[0]
        if cursor.kind.name != "DECL_REF_EXPR":
            return False
        declared = cursor.referenced
        if declared.hash in self._locals:
            return declared.hash in self._constant
        return is_constant(declared.type)

    # -- statements

    def _parameter(self, cursor: Any) -> str:
        name = self._names.give(cursor.spelling or "unused")
        self._locals[cursor.hash] = name
        return f"mut {name}: {self.types.parameter(cursor.type)}"

    def _end(self, result: Any) -> str:
        if kind(result) == "VOID":
            return "return;"
        if self._cursor.spelling == "main":
            return "return 0;"
        return f"return {self.zero(result)};"

    def statement(self, cursor: Any) -> list[str]:
        """See `Expressions`."""
        outer, self._before = self._before, []
        name = cursor.kind.name
        method = getattr(self, f"_on_{name.lower()}", None)
        if method is not None:
            lines = method(cursor)
        elif cursor.kind.is_expression():
            lines = [self.effect(cursor)]
        else:
            raise Unsupported(name.lower().replace("_", " "))
        lines = [*self._before, *lines]
        self._before = outer
        return list(lines)

    def statements(self, block: Any) -> list[str]:
        """See `Initials`."""
        return [line for child in clang.children(block) for line in self.statement(child)]

    def _braced(self, cursor: Any) -> list[str]:
        if cursor.kind.name == "COMPOUND_STMT":
            return self.statements(cursor)
        return self.statement(cursor)

    def _asked(self, cursor: Any) -> str:
        """The condition of a loop, which may need nothing in front of it."""
        before = len(self._before)
        code = self.condition(cursor)
        if len(self._before) > before:
            raise Unsupported("a compound literal in the condition of a loop")
        return code

    def _on_compound_stmt(self, cursor: Any) -> list[str]:
        return ["{", *self.statements(cursor), "}"]

    def _on_null_stmt(self, _cursor: Any) -> list[str]:
        return []

    def _on_decl_stmt(self, cursor: Any) -> list[str]:
        lines: list[str] = []
        for child in clang.children(cursor):
            if child.kind.name == "VAR_DECL":
                lines += self._variable(child)
        return lines

    def _variable(self, cursor: Any) -> list[str]:
        storage = cursor.storage_class.name
        if storage == "EXTERN" or kind(cursor.type) in FUNCTIONS:
            return []
        if cursor.type.is_volatile_qualified():
            raise Unsupported("volatile variables")
        name = self._names.give(cursor.spelling)
        self._locals[cursor.hash] = name
        rust = self.types.of(cursor.type)
        value = clang.initializer(cursor)
        if storage == "STATIC":
            code = self.initial(cursor.type, value) if value is not None else self.zero(cursor.type)
            return [f"static mut {name}: {rust} = {code};"]
        code = self.initial(cursor.type, value) if value is not None else self.zero(cursor.type)
        before, self._before = self._before, []
        return [*before, f"let mut {name}: {rust} = {code};"]

    def _on_return_stmt(self, cursor: Any) -> list[str]:
        values = clang.children(cursor)
        if not values:
            return ["return;"]
        if kind(values[0].type) == "VOID":
            return [self.effect(values[0]), "return;"]
        code = self.cast(self.value(values[0]), values[0].type, self._cursor.result_type)
        return [f"return {code};"]

    def _on_if_stmt(self, cursor: Any) -> list[str]:
        asked, yes, *no = clang.children(cursor)
        lines = [f"if {self.condition(asked)} {{", *self._braced(yes)]
        if no:
            lines += ["} else {", *self._braced(no[0])]
        return [*lines, "}"]

    def _loop(self, leave: str, again: str) -> None:
        self._targets.append(_Target(leave, again))

    def _label(self) -> int:
        self._numbers += 1
        return self._numbers

    def _on_while_stmt(self, cursor: Any) -> list[str]:
        asked, body = clang.children(cursor)
        n = self._label()
        self._loop(f"break 'l{n};", f"continue 'l{n};")
        lines = [f"'l{n}: while {self._asked(asked)} {{", *self._braced(body), "}"]
        self._targets.pop()
        return lines

    def _on_do_stmt(self, cursor: Any) -> list[str]:
        body, asked = clang.children(cursor)
        n = self._label()
        self._loop(f"break 'l{n};", f"break 'c{n};")
        inner = self._braced(body)
        self._targets.pop()
        test = [] if clang.constant(asked) not in (0, None) else [
            f"if !({self._asked(asked)}) {{ break 'l{n}; }}"
        ]  # fmt: skip
        return [f"'l{n}: loop {{", f"'c{n}: {{", *inner, "}", *test, "}"]

    def _on_for_stmt(self, cursor: Any) -> list[str]:
        first, asked, step, body = for_parts(cursor)
        n = self._label()
        lines = ["{", *(self.statement(first) if first is not None else [])]
        self._loop(f"break 'l{n};", f"break 'c{n};")
        inner = self._braced(body)
        self._targets.pop()
        test = f"while {self._asked(asked)}" if asked is not None else "loop"
        lines += [f"'l{n}: {test} {{", f"'c{n}: {{", *inner, "}"]
        if step is not None:
            lines += self.statement(step)
        return [*lines, "}", "}"]

    def _on_break_stmt(self, _cursor: Any) -> list[str]:
        return [self._targets[-1].leave]

    def _on_continue_stmt(self, _cursor: Any) -> list[str]:
        target = next((t for t in reversed(self._targets) if t.again), None)
        if target is None:
            raise Unsupported("continue outside of a loop")
        return [target.again]

    def _on_goto_stmt(self, cursor: Any) -> list[str]:
        assert self._machine is not None
        return [self._machine.jump(_label_of(cursor))]

    def _on_switch_stmt(self, cursor: Any) -> list[str]:
        asked, block = clang.children(cursor)
        rust = self.types.of(asked.type)
        n = self._label()
        groups = self._groups(block)
        self._loop(f"break 's{n};", "")
        bodies = [
            [line for one in statements for line in self.statement(one)] for _, statements in groups
        ]
        self._targets.pop()
        arms, default = [], f"_ => break 's{n},"
        for at, (labels, _) in enumerate(groups):
            patterns = [_pattern(one, rust) for one in labels if one is not None]
            if patterns:
                arms.append(f"{' | '.join(patterns)} => break 's{n}k{at},")
            if None in labels:
                default = f"_ => break 's{n}k{at},"
        lines = ["{", f"'s{n}: {{"]
        lines += [f"'s{n}k{at}: {{" for at in reversed(range(len(groups)))]
        lines += [f"match {self.value(asked)} {{", *arms, default, "}"]
        for body in bodies:
            lines += ["}", *body]
        return [*lines, "}", "}"]

    def _groups(self, block: Any) -> list[tuple[list[Any], list[Any]]]:
        """Labels of a switch with the statements behind them."""
        groups: list[tuple[list[Any], list[Any]]] = []
        children = clang.children(block) if block.kind.name == "COMPOUND_STMT" else [block]
        for child in children:
            if child.kind.name in _CASES:
                labels: list[Any] = []
                while child.kind.name in _CASES:
                    parts = clang.children(child)
                    labels.append(None if child.kind.name == "DEFAULT_STMT" else parts[:-1])
                    child = parts[-1]
                if child.kind.name == "DECL_STMT":
                    raise Unsupported("a declaration behind a case label")
                groups.append((labels, [child]))
            elif child.kind.name == "DECL_STMT":
                raise Unsupported("a declaration between case labels")
            elif groups:
                groups[-1][1].append(child)
        return groups

    # -- jumps: the body as blocks of one loop

    def _lower(self, cursor: Any) -> None:
        machine = self._machine
        assert machine is not None
        name = cursor.kind.name
        if name == "COMPOUND_STMT":
            for child in clang.children(cursor):
                self._lower(child)
        elif name == "DECL_STMT":
            self._lower_declaration(cursor)
        elif name == "LABEL_STMT":
            machine.enter(machine.label(cursor.spelling))
            self._lower(clang.children(cursor)[-1])
        elif name in _CASES:
            machine.enter(machine.case(cursor))
            self._lower(clang.children(cursor)[-1])
        elif not _has_target(cursor):
            machine.emit(*self.statement(cursor))
        elif name == "IF_STMT":
            self._lower_if(cursor)
        elif name in _LOOPS:
            self._lower_loop(cursor)
        elif name == "SWITCH_STMT":
            self._lower_switch(cursor)
        else:
            raise Unsupported(f"a label inside {name.lower().replace('_', ' ')}")

    def _lower_declaration(self, cursor: Any) -> None:
        machine = self._machine
        assert machine is not None
        for child in clang.children(cursor):
            if child.kind.name != "VAR_DECL":
                continue
            lines = self._variable(child)
            if not lines:
                continue
            line = lines[-1]
            machine.emit(*lines[:-1])
            if line.startswith("static"):
                machine.hoist(line)
                continue
            declared, _, value = line.partition(" = ")
            name = self._locals[child.hash]
            machine.hoist(f"{declared} = {self.zero(child.type)};")
            if clang.initializer(child) is not None:
                machine.emit(f"{name} = {value}")

    def _condition_lines(self, cursor: Any) -> tuple[list[str], str]:
        outer, self._before = self._before, []
        code = self.condition(cursor)
        lines, self._before = self._before, outer
        return lines, code

    def _lower_if(self, cursor: Any) -> None:
        machine = self._machine
        assert machine is not None
        asked, yes, *no = clang.children(cursor)
        lines, code = self._condition_lines(asked)
        then, other, end = machine.block(), machine.block(), machine.block()
        machine.emit(*lines, f"if {code} {{ {machine.go(then)} }} {machine.go(other)}")
        machine.start(then)
        self._lower(yes)
        machine.emit(machine.go(end))
        machine.start(other)
        if no:
            self._lower(no[0])
        machine.enter(end)

    def _lower_loop(self, cursor: Any) -> None:
        machine = self._machine
        assert machine is not None
        first = asked = step = None
        if cursor.kind.name == "FOR_STMT":
            first, asked, step, body = for_parts(cursor)
        elif cursor.kind.name == "DO_STMT":
            body, asked = clang.children(cursor)
        else:
            asked, body = clang.children(cursor)
        if first is not None:
            self._lower(first)
        head, inner, again, end = (machine.block() for _ in range(4))
        if cursor.kind.name == "DO_STMT":
            machine.enter(inner)
            test = again
        else:
            machine.enter(head)
            self._test(asked, inner, end)
            machine.start(inner)
            test = head
        self._targets.append(_Target(machine.go(end), machine.go(again)))
        self._lower(body)
        self._targets.pop()
        machine.enter(again)
        if step is not None:
            machine.emit(*self.statement(step))
        if cursor.kind.name == "DO_STMT":
            self._test(asked, inner, end)
        else:
            machine.emit(machine.go(test))
        machine.start(end)

    def _test(self, asked: Any | None, yes: int, no: int) -> None:
        machine = self._machine
        assert machine is not None
        if asked is None:
            machine.emit(machine.go(yes))
            return
        lines, code = self._condition_lines(asked)
        machine.emit(*lines, f"if {code} {{ {machine.go(yes)} }} {machine.go(no)}")

    def _lower_switch(self, cursor: Any) -> None:
        machine = self._machine
        assert machine is not None
        asked, block = clang.children(cursor)
        rust = self.types.of(asked.type)
        end = machine.block()
        arms, default = [], f"_ => {{ {machine.go(end)} }}"
        for case in _cases_of(block):
            number = machine.case(case)
            if case.kind.name == "DEFAULT_STMT":
                default = f"_ => {{ {machine.go(number)} }}"
            else:
                pattern = _pattern(clang.children(case)[:-1], rust)
                arms.append(f"{pattern} => {{ {machine.go(number)} }}")
        machine.emit(f"match {self.value(asked)} {{", *arms, default, "}")
        machine.start(machine.block())  # before the first label nothing is reached
        again = next((t.again for t in reversed(self._targets) if t.again), "")
        self._targets.append(_Target(machine.go(end), again))
        self._lower(block)
        self._targets.pop()
        machine.enter(end)


class _Machine:
    """Blocks that jump to each other, as the arms of one `match` in a loop."""

    def __init__(self) -> None:
        self._blocks: list[list[str]] = [[]]
        self._at = 0
        self._hoisted: list[str] = []
        self._labels: dict[str, int] = {}
        self._cases: dict[int, int] = {}

    def block(self) -> int:
        """A new block."""
        self._blocks.append([])
        return len(self._blocks) - 1

    def label(self, name: str) -> int:
        """The block of a label."""
        if name not in self._labels:
            self._labels[name] = self.block()
        return self._labels[name]

    def case(self, cursor: Any) -> int:
        """The block of a case label."""
        key = cursor.hash
        if key not in self._cases:
            self._cases[key] = self.block()
        return self._cases[key]

    def go(self, block: int) -> str:
        """The jump to a block."""
        return f"__block = {block}; continue 'machine;"

    def jump(self, name: str) -> str:
        """The jump to a label."""
        return self.go(self.label(name))

    def emit(self, *lines: str) -> None:
        """Add lines to the current block."""
        self._blocks[self._at].extend(lines)

    def start(self, block: int) -> None:
        """Go on in another block; the current one has ended with a jump."""
        self._at = block

    def enter(self, block: int) -> None:
        """Fall into another block."""
        self.emit(self.go(block))
        self.start(block)

    def hoist(self, line: str) -> None:
        """Declare something for all blocks."""
        self._hoisted.append(line)

    def lines(self) -> list[str]:
        """The whole body."""
        arms = [line for number, block in enumerate(self._blocks)
                for line in (f"{number} => {{", *block, "}")]  # fmt: skip
        head = [*self._hoisted, "let mut __block: u32 = 0;", "'machine: loop {"]
        last = ["_ => core::hint::unreachable_unchecked(),", "}", "}"]
        return [*head, "match __block {", *arms, *last]


def for_parts(cursor: Any) -> tuple[Any | None, Any | None, Any | None, Any]:
    """Initialisation, condition, step and body of a `for`; libclang leaves out what is empty, so
    the semicolons between them are looked for in the text."""
    *parts, body = clang.children(cursor)
    if len(parts) == 3:
        return parts[0], parts[1], parts[2], body
    found: list[Any | None] = [None, None, None]
    if parts:
        for part, place in zip(parts, _places(cursor, parts, body), strict=True):
            found[place] = part
    return found[0], found[1], found[2], body


def _places(cursor: Any, parts: list[Any], body: Any) -> list[int]:
    """Which of the three places of a `for` each part has, told by the semicolons before it."""
    tokens = [
        (token.spelling, token.extent.start.offset)
        for token in cursor.get_tokens()
        if token.extent.start.offset < body.extent.start.offset
    ]
    depth, semicolons = 0, []
    for spelling, offset in tokens:
        depth += (spelling in ("(", "[", "{")) - (spelling in (")", "]", "}"))
        if spelling == ";" and depth == 1:
            semicolons.append(offset)
    places = [sum(at < part.extent.start.offset for at in semicolons) for part in parts]
    if len(semicolons) != 2 or len(set(places)) != len(parts):
        raise Unsupported("a for whose parts come from a macro")
    return places


def is_constant(type_: Any) -> bool:
    """Whether an object of a type must not be written."""
    type_ = type_.get_canonical()
    while is_array(type_):
        type_ = type_.element_type
    return bool(type_.is_const_qualified())


def _pattern(labels: list[Any], rust: str) -> str:
    numbers = [clang.constant(one) for one in labels]
    if not all(isinstance(number, int) for number in numbers):
        raise Unsupported("a case that is no constant")
    return "..=".join(literal(int(number or 0), rust).strip("()") for number in numbers)


def _label_of(cursor: Any) -> str:
    (label,) = clang.children(cursor)
    return str(label.spelling)


def _needs_machine(block: Any) -> bool:
    kinds = clang.cindex().CursorKind
    wanted = frozenset(
        {kinds.GOTO_STMT.value, kinds.LABEL_STMT.value, kinds.INDIRECT_GOTO_STMT.value,
         kinds.SWITCH_STMT.value}
    )  # fmt: skip
    for found in clang.descendants(block, wanted):
        name = found.kind.name
        if name == "INDIRECT_GOTO_STMT":
            raise Unsupported("computed goto")
        if name != "SWITCH_STMT" or _is_irregular(found):
            return True
    return False


def _is_irregular(switch: Any) -> bool:
    """Whether some case label is not directly in the block of its switch, or a variable is
    declared between them."""
    block = clang.children(switch)[-1]
    direct = set()
    children = clang.children(block) if block.kind.name == "COMPOUND_STMT" else [block]
    for child in children:
        if child.kind.name == "DECL_STMT":
            return True
        while child.kind.name in _CASES:
            direct.add(child.hash)
            child = clang.children(child)[-1]
            if child.kind.name == "DECL_STMT":
                return True
    return any(case.hash not in direct for case in _cases_of(block))


def _cases_of(cursor: Any) -> list[Any]:
    """Case labels of a switch, those of switches inside it left out."""
    found, stack = [], [cursor]
    while stack:
        node = stack.pop()
        name = node.kind.name
        if name in _CASES:
            found.append(node)
        if name != "SWITCH_STMT" or node is cursor:
            stack.extend(reversed(clang.children(node)))
    return found


def _has_target(cursor: Any) -> bool:
    """Whether something outside may jump into a statement."""
    stack = [cursor]
    while stack:
        node = stack.pop()
        name = node.kind.name
        if name == "LABEL_STMT" or name in _CASES:
            return True
        if name == "SWITCH_STMT":
            if _is_irregular(node):
                return True
            kinds = clang.cindex().CursorKind
            if clang.descendants(node, frozenset({kinds.LABEL_STMT.value})):
                return True
            continue
        stack.extend(clang.children(node))
    return False
