"""Jumps that do not nest: the body as blocks of one loop, with the number of the next one."""

from __future__ import annotations

from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.ast import only
from jarvis_ls.jc2r.translate.locals import Local
from jarvis_ls.jc2r.translate.loops import for_parts
from jarvis_ls.jc2r.translate.machine_arms import arms, go
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.statements import CASES, Statements, Target
from jarvis_ls.jc2r.translate.structured_goto import label_of

_LOOPS = ("WHILE_STMT", "DO_STMT", "FOR_STMT")


class Lowering(Statements):
    """Statements as blocks, where something outside jumps into them."""

    machine: Machine | None

    def lower(self, cursor: Any) -> None:
        """Add a statement to the blocks."""
        machine = self._running()
        name = cursor.kind.name
        if name == "COMPOUND_STMT":
            for child in clang.children(cursor):
                self.lower(child)
        elif name == "DECL_STMT":
            self._lower_declaration(cursor)
        elif name == "LABEL_STMT":
            machine.enter(machine.label(cursor.spelling))
            self.lower(clang.children(cursor)[-1])
        elif name in CASES:
            machine.enter(machine.case(cursor))
            self.lower(clang.children(cursor)[-1])
        elif not _has_target(cursor):
            machine.emit(*self.statement(cursor))
        elif name == "IF_STMT":
            self._lower_if(cursor)
        elif name in _LOOPS:
            self._lower_loop(cursor)
        elif name == "SWITCH_STMT":
            self._lower_switch(cursor)
        else:
            raise Unsupported("a label inside {place}", place=name.lower().replace("_", " "))

    def _running(self) -> Machine:
        if self.machine is None:
            raise Unsupported("a jump from an unknown place")
        return self.machine

    def _on_goto_stmt(self, cursor: Any) -> list[str]:
        if self.machine is None:
            return super()._on_goto_stmt(cursor)
        return [self.machine.go(self.machine.label(label_of(cursor)))]

    def _on_indirect_goto_stmt(self, cursor: Any) -> list[str]:
        self._running()
        target = self.value(only(cursor))
        return [f"__block = ({target}) as usize as u32; continue 'machine;"]

    def _value_addr_label_expr(self, cursor: Any) -> str:
        """Return the address of a label is the number of its block."""
        machine = self._running()
        number = machine.addressed_label(label_of(cursor))
        return f"({number}usize as {self.types.of(cursor.type)})"

    def _lower_declaration(self, cursor: Any) -> None:
        machine = self._running()
        machine.emit(*self._comments_before(cursor))
        outer, self.before = self.before, []
        for child in clang.children(cursor):
            if child.kind.name == "VAR_DECL":
                local: Local = self.local(child, early=True)
                machine.hoist(*local.declared)
                machine.emit(*self.before, *local.set)
                self.before = []
        self.before = outer

    def _condition_lines(self, cursor: Any) -> tuple[list[str], str]:
        outer, self.before = self.before, []
        code = self.condition(cursor)
        lines, self.before = self.before, outer
        return lines, code

    def _lower_if(self, cursor: Any) -> None:
        machine = self._running()
        asked, yes, *no = clang.children(cursor)
        lines, code = self._condition_lines(asked)
        then, other, end = machine.block(), machine.block(), machine.block()
        machine.emit(*lines, f"if {code} {{ {machine.go(then)} }} {machine.go(other)}")
        machine.start(then)
        self.lower(yes)
        machine.emit(machine.go(end))
        machine.start(other)
        if no:
            self.lower(no[0])
        machine.enter(end)

    def _lower_loop(self, cursor: Any) -> None:
        machine = self._running()
        first = asked = step = None
        if cursor.kind.name == "FOR_STMT":
            first, asked, step, body = for_parts(cursor)
        elif cursor.kind.name == "DO_STMT":
            body, asked = clang.children(cursor)
        else:
            asked, body = clang.children(cursor)
        if first is not None:
            self.lower(first)
        head, inner, again, end = (machine.block() for _ in range(4))
        machine.open_loop(inner if cursor.kind.name == "DO_STMT" else head)
        if cursor.kind.name == "DO_STMT":
            machine.enter(inner)
        else:
            machine.enter(head)
            self._test(asked, inner, end)
            machine.start(inner)
        self.targets.append(Target(machine.go(end), machine.go(again)))
        self.lower(body)
        self.targets.pop()
        machine.enter(again)
        if step is not None:
            machine.emit(*self.statement(step))
        if cursor.kind.name == "DO_STMT":
            self._test(asked, inner, end)
        else:
            machine.emit(machine.go(head))
        machine.close_loop()
        machine.start(end)

    def _test(self, asked: Any | None, yes: int, no: int) -> None:
        machine = self._running()
        if asked is None:
            machine.emit(machine.go(yes))
            return
        constant = clang.constant(asked)
        if isinstance(constant, int):
            machine.emit(machine.go(yes if constant else no))
            return
        lines, code = self._condition_lines(asked)
        machine.emit(*lines, f"if {code} {{ {machine.go(yes)} }} {machine.go(no)}")

    def _lower_switch(self, cursor: Any) -> None:
        machine = self._running()
        asked, block = clang.children(cursor)
        rust = self.types.of(asked.type)
        end = machine.block()
        arms, default = [], f"_ => {{ {machine.go(end)} }}"
        for case in cases_of(block):
            number = machine.case(case)
            if case.kind.name == "DEFAULT_STMT":
                default = f"_ => {{ {machine.go(number)} }}"
            else:
                labels = self.pattern(clang.children(case)[:-1], rust)
                arms.append(f"{labels} => {{ {machine.go(number)} }}")
        machine.emit(f"match {self.value(asked)} {{", *arms, default, "}")
        machine.start(machine.block())  # before the first label nothing is reached
        again = next((t.again for t in reversed(self.targets) if t.again), "")
        self.targets.append(Target(machine.go(end), again))
        self.lower(block)
        self.targets.pop()
        machine.enter(end)


class Machine:
    """Blocks that jump to each other, as the arms of one `match` in a loop."""

    def __init__(self) -> None:
        self._blocks: list[list[str]] = [[]]
        self._at = 0
        self._hoisted: list[str] = []
        self._labels: dict[str, int] = {}
        self._cases: dict[int, int] = {}
        self._loops: dict[int, list[int]] = {}
        self._open: list[int] = []
        self._addressed: set[int] = set()

    def block(self) -> int:
        """Return a new block."""
        self._blocks.append([])
        return len(self._blocks) - 1

    def label(self, name: str) -> int:
        """Return the block of a label."""
        if name not in self._labels:
            self._labels[name] = self.block()
        return self._labels[name]

    def addressed_label(self, name: str) -> int:
        """Return the block of a label whose address is a value."""
        self._addressed.add(self.label(name))
        return self.label(name)

    def case(self, cursor: Any) -> int:
        """Return the block of a case label."""
        key = cursor.hash
        if key not in self._cases:
            self._cases[key] = self.block()
        return self._cases[key]

    def go(self, block: int) -> str:
        """Return the jump to a block."""
        return go(block)

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

    def open_loop(self, head: int) -> None:
        """Open a loop of the C, to whose head control returns."""
        self._loops[head] = list(self._open)
        self._open.append(head)

    def close_loop(self) -> None:
        """Close the innermost loop."""
        self._open.pop()

    def hoist(self, *lines: str) -> None:
        """Declare something for all blocks."""
        self._hoisted.extend(lines)

    def lines(self) -> list[str]:
        """Return the whole body."""
        made = arms(self._blocks, self._loops, self._addressed)
        code = [line for number, block in made.items() for line in (f"{number} => {{", *block, "}")]
        head = [*self._hoisted, "let mut __block: u32 = 0;", "'machine: loop {"]
        last = ["_ => core::hint::unreachable_unchecked(),", "}", "}"]
        return [*head, "match __block {", *code, *last]


def needs_machine(block: Any) -> bool:
    """Return whether labels are where only blocks that are jumped between will do, not counting
    those of `goto`.
    """
    kinds = clang.cindex().CursorKind
    wanted = frozenset(
        {kinds.INDIRECT_GOTO_STMT.value, kinds.SWITCH_STMT.value, kinds.ADDR_LABEL_EXPR.value}
    )
    return any(
        found.kind.name != "SWITCH_STMT" or is_irregular(found)
        for found in clang.descendants(block, wanted)
    )


def is_irregular(switch: Any) -> bool:
    """Return whether some case label is not directly in the block of its switch."""
    block = clang.children(switch)[-1]
    direct = set()
    children = clang.children(block) if block.kind.name == "COMPOUND_STMT" else [block]
    for child in children:
        while child.kind.name in CASES:
            direct.add(child.hash)
            child = clang.children(child)[-1]
    return any(case.hash not in direct for case in cases_of(block))


def cases_of(cursor: Any) -> list[Any]:
    """Case labels of a switch, those of switches inside it left out."""
    found, stack = [], [cursor]
    while stack:
        node = stack.pop()
        name = node.kind.name
        if name in CASES:
            found.append(node)
        if name != "SWITCH_STMT" or node is cursor:
            stack.extend(reversed(clang.children(node)))
    return found


def _has_target(cursor: Any) -> bool:
    """Return whether something outside may jump into a statement."""
    stack = [cursor]
    while stack:
        node = stack.pop()
        name = node.kind.name
        if name == "LABEL_STMT" or name in CASES:
            return True
        if name == "SWITCH_STMT":
            if is_irregular(node):
                return True
            kinds = clang.cindex().CursorKind
            if clang.descendants(node, frozenset({kinds.LABEL_STMT.value})):
                return True
            continue
        stack.extend(clang.children(node))
    return False
