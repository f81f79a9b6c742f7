"""The statements of one function to blocks."""

from __future__ import annotations

import re
from collections.abc import Callable

from jarvis_ls.codeintel.code import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import FunctionIR, GlobalIR, Instr, Type
from jarvis_ls.jsec.flow.lower_blocks import Blocks, Scopes, span_of, targets
from jarvis_ls.jsec.flow.lower_expression import MAX_DEPTH, Expressions, Outer
from jarvis_ls.jsec.flow.numbers import constant
from jarvis_ls.jsec.flow.types import ANY, INT, VOID, pointee

_DEFINED = re.compile(r"defined\s*\(?\s*(\w+)\s*\)?")
_NOT_HERE = frozenset({"_WIN32", "WIN32", "_MSC_VER", "_WIN64", "__MINGW32__", "OMITBAD",
                       "OMITGOOD"})  # fmt: skip
_HERE = frozenset({"__linux__", "__unix__", "__GNUC__", "__linux", "unix", "__x86_64__",
                   "__LP64__"})  # fmt: skip
_TAGGED = frozenset({"struct_specifier", "union_specifier", "class_specifier"})


class Body:
    """Lowers the body of one function."""

    def __init__(self, outer: Outer, globals_: dict[str, GlobalIR], path: str) -> None:
        self.outer, self.types, self.path = outer, outer.types, path
        self.globals = globals_
        self.blocks, self.scopes = Blocks(), Scopes()
        self.of = Expressions(outer, self.blocks, self.scopes)
        self.name = ""
        self.result: Type = VOID
        self._labels: dict[str, int] = {}
        self._breaks: list[tuple[int, int]] = []
        self._continues: list[tuple[int, int]] = []
        self._switches: list[tuple[list[tuple[int, int, int]], list[int], Type]] = []
        self._statements: dict[str, Callable[[Node], None]] = {
            "compound_statement": self._block, "expression_statement": self._expression,
            "declaration": self._declaration, "if_statement": self._if,
            "while_statement": self._while, "do_statement": self._do, "for_statement": self._for,
            "switch_statement": self._switch, "case_statement": self._case,
            "break_statement": self._break, "continue_statement": self._continue,
            "goto_statement": self._goto, "labeled_statement": self._labeled,
            "return_statement": self._return, "for_range_loop": self._range,
            "try_statement": self._try, "throw_statement": self._throw,
            "preproc_ifdef": self._ifdef, "preproc_if": self._preproc_if,
            "preproc_else": self._children, "preproc_elif": self._preproc_if,
            "else_clause": self._children, "type_definition": self._typedef,
            "struct_specifier": self._tagged, "union_specifier": self._tagged,
            "class_specifier": self._tagged, "enum_specifier": self._tagged,
            "linkage_specification": self._children, "init_statement": self._children,
        }  # fmt: skip

    def lower(self, node: Node, name: str, record: str, declared: Type, *,
              static: bool) -> FunctionIR | None:  # fmt: skip
        """The function of a definition node, or None when it has no body."""
        body = node.child_by_field_name("body")
        declarator = _function_declarator(node)
        if body is None or declarator is None or declarator.has_error:
            return None
        self.name, self.result = name, declared[1]
        self.of.record = record
        params = []
        if record and not static:
            params.append(self.scopes.declare("this", ("p", ("r", record))))
        params.extend(self._parameters(node, declarator))
        for child in node.children:
            if child.type == "field_initializer_list":
                self._field_initializers(child)
        if body.type == "try_statement":
            body = body.child_by_field_name("body") or body
        self._block(body)
        blocks, heads = self.blocks.finish()
        name_node = declarator.child_by_field_name("declarator")
        return FunctionIR(
            name=name, file=self.path, static=static, params=tuple(params),
            slots=tuple(self.scopes.slots), blocks=blocks, heads=heads, result=self.result,
            span=span_of(node), name_span=span_of(name_node or declarator), record=record,
            variadic=bool(declared[3]), const=declared[4] if len(declared) > 4 else (), calls=frozenset(self.of.calls),
            reads=frozenset(self.of.reads), size=sum(len(b[0]) + 1 for b in blocks),
            cut=self.of.cut or node.has_error,
        )  # fmt: skip

    def _parameters(self, node: Node, declarator: Node) -> list[int]:
        listed = declarator.child_by_field_name("parameters")
        found: list[int] = []
        old: dict[str, Type] = {}
        for child in node.children:  # old style: the types stand before the body
            if child.type == "declaration":
                for each in child.children_by_field_name("declarator"):
                    name, type_ = self.types.declarator(each, self.types.specified(child))
                    old[name] = type_
        for child in listed.named_children if listed is not None else ():
            if child.type == "identifier":
                found.append(self.scopes.declare(text(child), old.get(text(child), INT)))
            elif child.type in ("parameter_declaration", "optional_parameter_declaration"):
                inner = child.child_by_field_name("declarator")
                name, type_ = self.types.declarator(inner, self.types.specified(child))
                if type_ == VOID and not name:
                    continue
                if type_[0] == "a":
                    type_ = ("p", type_[1])
                elif type_[0] == "fn":
                    type_ = ("p", type_)
                found.append(self.scopes.declare(name, type_))
        return found

    def _field_initializers(self, node: Node) -> None:
        for child in node.named_children:
            if child.type != "field_initializer" or not child.named_child_count:
                continue
            name = text(child.named_children[0]).rpartition("::")[2].partition("<")[0]
            listed = child.named_children[-1]
            arguments = [c for c in listed.named_children if c.type != "comment"]
            record = self.types.records.get(self.of.record)
            if record is not None and name in record.fields:
                address, type_ = self.of.member_of_this(name, self.of.span(child))
                if type_[0] == "r":
                    self.of._calls.construct(address, type_[1], arguments, child)
                elif len(arguments) == 1:
                    self.of.initialise(address, type_, arguments[0])
            else:
                this = self.of._this(child)
                self.of._calls.construct(this[0], name, arguments, child)

    # statements

    def statement(self, node: Node | None) -> None:
        """Lower one statement."""
        if node is None:
            return
        method = self._statements.get(node.type)
        if method is None:
            if node.type in ("comment", "ERROR", ";") or not node.is_named:
                return
            if node.type.endswith("expression") or node.type in ("identifier", "co_await"):
                self.blocks.add((ir.EVAL, self.of.value(node)[0]))
            return
        if self.of.depth > MAX_DEPTH:
            self.of.cut = True
            self.blocks.end((ir.STOP,))
            return
        self.of.depth += 1
        method(node)
        self.of.depth -= 1

    def _children(self, node: Node) -> None:
        for child in node.named_children:
            self.statement(child)

    def _block(self, node: Node) -> None:
        self.scopes.open()
        for child in node.named_children:
            self.statement(child)
        objects, slots = self.scopes.close()
        self._destroy(objects)
        if slots:
            self.blocks.add((ir.END, slots))

    def _destroy(self, objects: list[tuple[int, str]]) -> None:
        for slot, record in objects:
            name = "~" + record
            self.of.calls.add(name)
            self.blocks.add((ir.METHOD, self.blocks.temp(), (ir.LOCAL, slot), record, name, (),
                             VOID, (0, 0), ()))  # fmt: skip

    def _expression(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "comment":
                continue
            if child.type == "call_expression":
                self._call(child)
            elif child.type == "identifier" and self._macro(child):
                continue
            else:
                self.blocks.add((ir.EVAL, self.of.value(child)[0]))

    def _macro(self, node: Node) -> bool:
        """Whether a name alone is a macro that stands for statements, which are lowered then."""
        expanded = self.outer.macros.expression(text(node))
        if expanded is None:
            return False
        known = expanded.type.endswith("statement")
        if known:
            before, self.of.fixed = self.of.fixed, self.of.fixed or span_of(node)
            self.statement(expanded)
            self.of.fixed = before
        self.outer.macros.leave()
        return known

    def _call(self, node: Node) -> None:
        callee = node.child_by_field_name("function")
        name = text(callee) if callee is not None and callee.type == "identifier" else ""
        if name in self.types.facts.function_macros and name not in self.outer.functions:
            arguments = [text(a) for a in self.of._calls.arguments(node)]
            expanded = self.outer.macros.call(name, arguments)
            if expanded is not None:
                before, self.of.fixed = self.of.fixed, self.of.fixed or span_of(node)
                if expanded.type == "call_expression":
                    self._call(expanded)
                else:
                    self.statement(expanded)
                self.of.fixed = before
                self.outer.macros.leave()
                return
        self.blocks.add((ir.EVAL, self.of._calls.value(node, dropped=True)[0]))

    def _typedef(self, node: Node) -> None:
        base = self.types.specified(node)
        for declarator in node.children_by_field_name("declarator"):
            self.types.define(*self.types.declarator(declarator, base))

    def _tagged(self, node: Node) -> None:
        self.types.of(node)

    def _declaration(self, node: Node) -> None:
        base = self.types.specified(node)
        words = {text(c) for c in node.children if c.type == "storage_class_specifier"}
        auto = text(node.child_by_field_name("type")) == "auto"
        for declarator in node.children_by_field_name("declarator"):
            name, type_ = self.types.declarator(declarator, base)
            value = declarator.child_by_field_name("value")
            if type_[0] == "fn":
                arguments = self._vexing(declarator, base)
                if arguments is None:
                    self.outer.functions.setdefault(name, type_)
                    continue
                slot = self._declare(name, base, declarator)
                if base[0] == "c":
                    self._stream(slot, base, arguments, declarator)
                    continue
                self.of._calls.construct((ir.LOCAL, slot), base[1], arguments, declarator)
            elif "static" in words:
                self._static(name, type_, node, value)
            elif "extern" in words:
                self.outer.globals[name] = type_
                self.scopes._names[-1].pop(name, None)
            else:
                self._local(name, type_, declarator, value, auto=auto)

    def _vexing(self, declarator: Node, base: Type) -> list[Node] | None:
        """The arguments of `Class name(argument)`, which is written like a function."""
        listed = declarator.child_by_field_name("parameters")
        known = base[0] == "r" and base[1] in self.types.records
        if listed is None or not (known or (base[0] == "c" and base[1].endswith("fstream"))):
            return None
        arguments = []
        for child in listed.named_children:
            kind = child.child_by_field_name("type")
            if kind is None or child.child_by_field_name("declarator") is not None or \
                    self.scopes.find(text(kind)) is None:  # fmt: skip
                return None
            arguments.append(kind)
        return arguments or None

    def _declare(self, name: str, type_: Type, node: Node) -> int:
        slot = self.scopes.declare(name, type_)
        self.blocks.add((ir.DECLARE, slot, self.of.span(node)))
        if type_[0] == "r" and type_[1] in self.types.records:
            if self.types.records[type_[1]].methods:
                self.scopes.own(slot, type_[1])
        return slot

    def _local(self, name: str, type_: Type, node: Node, value: Node | None, *,
               auto: bool) -> None:  # fmt: skip
        if auto and value is not None and type_ == ANY:
            type_ = self.of.value(value)[1]
        if type_[0] == "a" and type_[2] < 0 and value is not None:
            type_ = self._counted(type_, value)
        slot = self._declare(name, type_, node)
        place = (ir.LOCAL, slot)
        if type_[0] == "a" and type_[2] < 0 and value is None:
            self._variable_length(slot, type_, node)
        elif type_[0] == "&" and value is not None:
            target, inner = self.of.referred(*self.of.address(value), self.of.span(node))
            if type_[1] == ANY:
                self.scopes.slots[slot] = name, ("&", inner)
            self.blocks.add((ir.EVAL, (ir.STORE, place, target, ("p", inner), (0, 0))))
        elif (
            type_[0] == "r"
            and type_[1] in self.types.records
            and (self.types.records[type_[1]].methods)
        ):
            self._object(place, type_, value, node)
        elif value is not None and value.type == "argument_list":
            inner_node = value.named_children[0] if value.named_child_count else None
            if type_[0] == "c" and type_[1].endswith("fstream"):
                self._stream(slot, type_, value.named_children, node)
            elif type_[0] != "c" or (inner_node is not None and type_[1] in _STRINGS):
                self.of.initialise(place, type_, inner_node)
        else:
            self.of.initialise(place, type_, value)

    def _stream(self, slot: int, type_: Type, arguments: list[Node], node: Node) -> None:
        self.of._calls.method((ir.LOCAL, slot), "@" + type_[1], "open", arguments, node, type_)

    def _object(self, place: Instr, type_: Type, value: Node | None, node: Node) -> None:
        if value is None:
            self.of._calls.construct(place, type_[1], [], node)
        elif value.type == "argument_list":
            arguments = [c for c in value.named_children if c.type != "comment"]
            self.of._calls.construct(place, type_[1], arguments, node)
        else:
            self.of.initialise(place, type_, value)

    def _counted(self, type_: Type, value: Node) -> Type:
        if value.type == "initializer_list":
            return ("a", type_[1], value.named_child_count)
        expr = self.of.value(value)[0]
        if expr[0] == ir.STR:
            return ("a", type_[1], len(expr[1]) + 1)
        return type_

    def _variable_length(self, slot: int, type_: Type, node: Node) -> None:
        sizes = node if node.type == "array_declarator" else None
        written = sizes.child_by_field_name("size") if sizes is not None else None
        if written is None:
            return
        count = self.of.value(written)[0]
        size = self.types.size(type_[1]) or 1
        self.blocks.add((ir.ALLOCA, slot, count, size, self.of.span(node)))

    def _static(self, name: str, type_: Type, node: Node, value: Node | None) -> None:
        if type_[0] == "a" and type_[2] < 0 and value is not None:
            type_ = self._counted(type_, value)
        unique = f"{self.name}.{name}"
        self.of.statics.append(unique)
        self.scopes.alias(name, -len(self.of.statics))
        self.outer.globals[unique] = type_
        self.globals[unique] = GlobalIR(
            unique, type_, True, "const" in text(node).split(name)[0].split(),
            initialiser(self.outer, unique, type_, value),
        )  # fmt: skip

    # control flow

    def _if(self, node: Node) -> None:
        after = self.blocks.label()
        current: Node | None = node
        while current is not None and current.type == "if_statement":
            then, other = self.blocks.label(), self.blocks.label()
            condition = current.child_by_field_name("condition")
            self._condition(condition, then, other)
            self.blocks.start(then)
            self.statement(current.child_by_field_name("consequence"))
            self.blocks.end((ir.JUMP, after))
            self.blocks.start(other)
            current = current.child_by_field_name("alternative")
            if current is not None and current.type == "else_clause":
                current = next((c for c in current.named_children if c.type != "comment"), None)
        self.statement(current)
        self.blocks.start(after)

    def _condition(self, node: Node | None, then: int, other: int) -> None:
        if node is not None and node.type == "condition_clause":
            value = node.child_by_field_name("value")
            before = node.child_by_field_name("initializer")
            self.statement(before)
            if value is not None and value.type == "declaration":
                self._declaration(value)
                name, _ = self.types.declarator(value.child_by_field_name("declarator"), ANY)
                slot = self.scopes.find(name)
                if slot is not None:
                    expr = self.of.loaded((ir.LOCAL, slot), self.scopes.slots[slot][1],
                                          self.of.span(node))[0]  # fmt: skip
                    self.blocks.end((ir.IF, expr, then, other, self.of.span(node)))
                    return
        self.of.branch(node, then, other)

    def _loop(self, head: int, after: int, next_: int, body: Node | None) -> None:
        depth = self.scopes.depth
        self._breaks.append((after, depth))
        self._continues.append((next_, depth))
        self.statement(body)
        self._breaks.pop()
        self._continues.pop()

    def _while(self, node: Node) -> None:
        head, body, after = (self.blocks.label() for _ in range(3))
        self.blocks.start(head)
        self._condition(node.child_by_field_name("condition"), body, after)
        self.blocks.start(body)
        self._loop(head, after, head, node.child_by_field_name("body"))
        self.blocks.end((ir.JUMP, head))
        self.blocks.start(after)

    def _do(self, node: Node) -> None:
        head, check, after = (self.blocks.label() for _ in range(3))
        self.blocks.start(head)
        self._loop(head, after, check, node.child_by_field_name("body"))
        self.blocks.start(check)
        self.of.branch(node.child_by_field_name("condition"), head, after)
        self.blocks.start(after)

    def _for(self, node: Node) -> None:
        self.scopes.open()
        first = node.child_by_field_name("initializer")
        if first is not None:
            self.statement(first)
        head, body, step, after = (self.blocks.label() for _ in range(4))
        self.blocks.start(head)
        condition = node.child_by_field_name("condition")
        if condition is not None:
            self.of.branch(condition, body, after)
        self.blocks.start(body)
        self._loop(head, after, step, node.child_by_field_name("body"))
        self.blocks.start(step)
        update = node.child_by_field_name("update")
        if update is not None:
            self.statement(update)
        self.blocks.end((ir.JUMP, head))
        self.blocks.start(after)
        objects, slots = self.scopes.close()
        self._destroy(objects)

    def _range(self, node: Node) -> None:
        self.scopes.open()
        head, body, after = (self.blocks.label() for _ in range(3))
        container, type_ = self.of.address(node.child_by_field_name("right"))
        element = type_[2] if type_[0] == "c" else pointee(type_)
        name, declared = self.types.declarator(
            node.child_by_field_name("declarator"), self.types.specified(node)
        )
        slot = self.scopes.declare(name, declared if declared[0] != "?" else element)
        self.blocks.start(head)
        unknown = (ir.UNKNOWN, INT)
        self.blocks.end((ir.IF, unknown, body, after, self.of.span(node)))
        self.blocks.start(body)
        place = (ir.FIELD, container, 0, element)
        value: Instr = place if declared[0] == "&" else (ir.LOAD, place, element, (0, 0))
        self.blocks.add((ir.EVAL, (ir.STORE, (ir.LOCAL, slot), value, element, (0, 0))))
        self._loop(head, after, head, node.child_by_field_name("body"))
        self.blocks.end((ir.JUMP, head))
        self.blocks.start(after)
        self.scopes.close()

    def _switch(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        value, type_ = self.of.value(_inside(condition))
        after = self.blocks.label()
        cases: list[tuple[int, int, int]] = []
        default = [after]
        frame = (cases, default, type_)
        entry = (ir.SWITCH, value, cases, default, self.of.span(node))
        index = self._end_later(entry)
        self._switches.append(frame)
        self._breaks.append((after, self.scopes.depth))
        self.blocks.start(self.blocks.label())
        self.blocks.end((ir.STOP,))
        self.statement(node.child_by_field_name("body"))
        self._breaks.pop()
        self._switches.pop()
        if index is not None:
            self.blocks._ends[index] = (ir.SWITCH, value, tuple(cases), default[0], entry[4])
        self.blocks.start(after)

    def _end_later(self, entry: Instr) -> int | None:
        """Close the block with an end whose cases come later; its index."""
        if not self.blocks.live:
            return None
        self.blocks.end(entry)
        return len(self.blocks._ends) - 1

    def _case(self, node: Node) -> None:
        label = self.blocks.label()
        self.blocks.start(label)
        value = node.child_by_field_name("value")
        if self._switches:
            cases, default, _ = self._switches[-1]
            if value is None:
                default[0] = label
            else:
                found = self.of.value(value)[0]
                number = found[1] if found[0] in (ir.CONST, ir.SIZEOF) else \
                    constant(text(value), self.types)  # fmt: skip
                if isinstance(number, int):
                    cases.append((number, number, label))
                else:
                    cases.append((1, 0, label))  # not a number that is known: any
        for child in node.named_children:
            if child != value:
                self.statement(child)

    def _break(self, node: Node) -> None:
        self._leave(self._breaks)

    def _continue(self, node: Node) -> None:
        self._leave(self._continues)

    def _leave(self, stack: list[tuple[int, int]]) -> None:
        if stack:
            label, depth = stack[-1]
            self._destroy(self.scopes.objects_from(depth))
            self.blocks.end((ir.JUMP, label))

    def _goto(self, node: Node) -> None:
        name = text(node.child_by_field_name("label"))
        if name:
            self.blocks.end((ir.JUMP, self._label(name)))
        else:
            self.blocks.end((ir.STOP,))

    def _label(self, name: str) -> int:
        if name not in self._labels:
            self._labels[name] = self.blocks.label()
        return self._labels[name]

    def _labeled(self, node: Node) -> None:
        label = node.child_by_field_name("label")
        self.blocks.start(self._label(text(label)))
        for child in node.named_children:
            if child != label:
                self.statement(child)

    def _return(self, node: Node) -> None:
        value = next((c for c in node.named_children if c.type != "comment"), None)
        expr = None
        if value is not None:
            if self.result[0] == "&":
                expr = self.of.referred(*self.of.address(value), self.of.span(node))[0]
            elif value.type == "initializer_list":
                expr = self.of.unknown(self.result)[0]
            else:
                expr = self.of.as_type(self.of.value(value), self.result, self.of.span(value))
        objects = self.scopes.objects_from(0)
        if objects and expr is not None:
            temp = self.blocks.temp()
            self.blocks.add((ir.SET, temp, expr))
            expr = (ir.TEMP, temp)
        self._destroy(objects)
        self.blocks.end((ir.RETURN, expr, self.of.span(node)))

    def _try(self, node: Node) -> None:
        body, after = self.blocks.label(), self.blocks.label()
        handlers = [c for c in node.children if c.type == "catch_clause"]
        labels = [self.blocks.label() for _ in handlers]
        if labels:
            self.blocks.end((ir.IF, (ir.UNKNOWN, INT), body, labels[0], self.of.span(node)))
        self.blocks.start(body)
        self.statement(node.child_by_field_name("body"))
        self.blocks.end((ir.JUMP, after))
        for index, handler in enumerate(handlers):
            self.blocks.start(labels[index])
            if index + 1 < len(labels):
                other = self.blocks.label()
                self.blocks.end((ir.IF, (ir.UNKNOWN, INT), other, labels[index + 1], (0, 0)))
                self.blocks.start(other)
            self.statement(handler.child_by_field_name("body"))
            self.blocks.end((ir.JUMP, after))
        self.blocks.start(after)

    def _throw(self, node: Node) -> None:
        for child in node.named_children:
            self.blocks.add((ir.EVAL, self.of.value(child)[0]))
        self.blocks.end((ir.STOP,))

    # preprocessor

    def _ifdef(self, node: Node) -> None:
        name = text(node.child_by_field_name("name"))
        defined = self._defined(name)
        wanted = defined if node.children[0].type == "#ifdef" else not defined
        self._choose(node, wanted=wanted)

    def _defined(self, name: str) -> bool:
        return name in _HERE or (name in self.types.facts.macros and name not in _NOT_HERE)

    def _preproc_if(self, node: Node) -> None:
        written = text(node.child_by_field_name("condition"))
        wanted = True
        if "defined" in written:
            names = _DEFINED.findall(written)
            negated = written.lstrip().startswith("!")
            wanted = any(self._defined(n) for n in names) != negated
        else:
            value = constant(written, self.types)
            wanted = value != 0 if value is not None else False
        self._choose(node, wanted=wanted)

    def _choose(self, node: Node, *, wanted: bool) -> None:
        alternative = node.child_by_field_name("alternative")
        if not wanted:
            self.statement(alternative)
            return
        skipped = {node.child_by_field_name("name"), node.child_by_field_name("condition"),
                   alternative}  # fmt: skip
        for child in node.named_children:
            if child not in skipped:
                self.statement(child)


_STRINGS = frozenset({"string", "wstring", "basic_string"})


def initialiser(
    outer: Outer, name: str, type_: Type, value: Node | None
) -> tuple[Instr, ...] | None:
    """The instructions of the initialiser of a variable of static storage; None without one."""
    if value is None:
        return None
    blocks = Blocks()
    of = Expressions(outer, blocks, Scopes())
    of.initialise((ir.GLOBAL, name), type_, value)
    done, _ = blocks.finish()
    if len(done) != 1 or of.scopes.slots or blocks.temps:
        return ()  # more than stores of constants: nothing is known of it
    return tuple(i for i in done[0][0] if i[0] in (ir.EVAL, ir.CLEAR))


def _function_declarator(node: Node) -> Node | None:
    found = node.child_by_field_name("declarator")
    for _ in range(16):
        if found is None or found.type == "function_declarator":
            return found
        found = found.child_by_field_name("declarator") or (
            found.named_children[0] if found.named_child_count else None
        )
    return None


def _inside(node: Node | None) -> Node | None:
    while node is not None and node.type in ("parenthesized_expression", "condition_clause"):
        node = node.child_by_field_name("value") or (
            node.named_children[0] if node.named_child_count else None
        )
    return node


__all__ = ["Body", "initialiser", "targets"]
