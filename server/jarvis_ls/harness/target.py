"""A C function as a program that calls it with arguments made of bytes.

The program includes the unit, so that static functions and types can be used as they are. The first
bytes of an input choose: each choice has its place, and an input of zeros is the plainest case. So
inputs can be listed one by one (`directed`) and changed at random (`target_main.c`), and what is
zero in one does not matter.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jarvis_ls.core.words import Words
from jarvis_ls.harness.inputs import is_length
from jarvis_ls.harness.opaque_handles import RETURNED, Handles, is_ending
from jarvis_ls.harness.signature import Function, Kind, Member, Parameter, Record, Signatures
from jarvis_ls.harness.target_inputs import FILE, RAW, Choice, Target

REPORTED = 77
"""What the sanitizers are told to exit with: `HARNESS_REPORTED` of the driver."""
CPP = "// C++\n"
"""How the text of a target begins that is C++."""
_HERE = Path(__file__).parent
_DRIVER = _HERE / "target_driver.c"
_MAIN = _HERE / "target_main.c"
_DEEPEST = 3
_MOST_CHOICES = 160
"""Choices of one target: structures of structures have many."""
_COUNTS = (16, 1, 2, 3, 4, 7, 8, 32, 64, 100, 255, 256, 1024)
"""Elements of an array, the plainest first."""
_LENGTHS = (1, 0, 2, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 300, 1024, 4096)
"""Of a string."""
_LARGEST_COUNT = 70_000
_ROOM = 65_536
"""Bytes behind a pointer of which nothing is known."""
_NAMING = re.compile(r"(?i)file|path|name|src|source|input|from|archive")
"""Parameters and members that may be the name of a file."""
_OBJECT = -1
"""Place of the object that a method is called on."""
_MOST_CHANGING = 4
"""Functions that may be called on a structure before the one that is examined."""
_TIMES = (1, 2, 16)
"""How often one of them is called; the last fills a small table whose size is a power of two."""
_FILLING = re.compile(r"(?i)add|push|put|insert|append|enqueue|register|load|read|open|set|write")
_PATTERNS = 5
"""Of strings, in the driver."""
_WORDS = ("", "0", "12", "-1", "2147483647", "4294967295", "a=b", "/tmp/a.txt", "[1,2]", "\xe9")


class Unsuitable(Exception):
    """No target can be made of a function; the text is `Words` that say why."""


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers that a parameter is given."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Preconditions:
    """What is known of how a function is called; parameters are named by their place."""

    not_null: frozenset[int] = frozenset()
    """Pointers that no caller passes as null."""
    ranges: Mapping[int, Range] = field(default_factory=dict)
    """Numbers that every caller bounds."""
    values: tuple[int, ...] = ()
    """Numbers worth a try with their neighbours, such as sizes on the way to a finding."""


def make_target(
    function: Function,
    found: Signatures,
    include: str,
    known: Preconditions,
    may_call: Callable[[Function], bool] = lambda _: True,
    *,
    twice: bool = False,
) -> Target:
    """Return a program that calls `function`, which is in the file `include` names.

    `may_call` says which functions of the file may be called to make a structure; with `twice` it
    is called a second time, with new arguments. Raises `Unsuitable`.
    """
    if function.variadic:
        raise Unsuitable(Words("its number of arguments varies"))
    writer = _Writer(function, found, known, may_call)
    body = writer.call(function, "", known)
    tables = writer.tables()
    head = (
        f"{CPP if function.cpp else ''}"
        "/* Made by jsec: calls one function of the file below with arguments made of bytes. */\n"
        f"{'#define HARNESS_TWICE 1' if twice else ''}\n"
        "#define main jsec_main_of_the_unit\n"
        f'#include "{include}"\n'
    )
    text = "\n".join(
        (
            head,
            _DRIVER.read_text(encoding="utf-8"),
            tables,
            "static void harness_case(void)\n{",
            *(f"    {line}" for line in body),
            "}\n",
            _MAIN.read_text(encoding="utf-8"),
        )
    )
    return Target(text, tuple(writer.choices), frozenset(writer.made), frozenset(writer.calls))


class _Writer:
    """Writes C that makes arguments, and notes the choices it asks for."""

    def __init__(
        self,
        function: Function,
        found: Signatures,
        known: Preconditions,
        may_call: Callable[[Function], bool],
    ) -> None:
        self._found = found
        self._handles = Handles(found, may_call)
        self._handled: set[str] = set()
        self._referred = 0
        self._may_call = may_call
        self._numbers = _near((*function.numbers, *known.values))
        self._strings = [_quote(text) for text in function.strings]
        self._strings += [_quote(word.encode("latin-1")) for word in _WORDS]
        positive = [number for number in self._numbers if 0 < number <= _LARGEST_COUNT]
        self._counts = tuple(dict.fromkeys((*_COUNTS, *positive)))[:120]
        self._lengths = tuple(dict.fromkeys((*_LENGTHS, *(n for n in positive))))[:120]
        self._at = 0
        self._variables = itertools.count()
        self._making = 0
        self.choices: list[Choice] = []
        self.made: set[int] = set()
        self.calls: set[str] = set()

    def call(self, function: Function, around: str, known: Preconditions) -> list[str]:
        """Return the statements that call the function to be examined."""
        lines, words = self._arguments(function, around, known, {})
        called = f"{function.name}({', '.join(words)})"
        if function.of_object:
            maker = replace(function, parameters=function.constructor)
            made, with_ = self._arguments(maker, f"{function.of_object}: ", Preconditions(), {})
            object_ = f"{function.of_object} *made = new {function.of_object}({', '.join(with_)});"
            methods = [
                (other, _OBJECT)
                for other in self._found.functions
                if other.of_object == function.of_object and not is_ending(other.name)
            ]
            before = self._calls_before(function.of_object, "made", methods, "an object")
            lines = [*made, object_, "harness_root(made);", *before, *lines]
            called = f"made->{called.removeprefix(f'{function.of_object}::')}"
        if function.result.form == "void":
            return [*lines, "harness_enter();", f"{called};", "harness_leave();"]
        kept = "auto &&" if function.cpp else f"__typeof__({called}) "
        answer = {"integer": "result", "bool": "result", "pointer": "result != NULL"}
        told = None if function.cpp else answer.get(function.result.form)
        return [
            *lines,
            "{",
            "    harness_enter();",
            f"    {kept}result = {called};",
            "    harness_leave();",
            "    harness_keep((const void *)&result, sizeof result);",
            *([f"    harness_answer((long long)({told}));"] if told else []),
            "}",
        ]

    def tables(self) -> str:
        """Return the tables that the statements refer to."""
        numbers = [choice for choice in self.choices if choice.number]
        pointers = [choice for choice in self.choices if choice.pointer]
        cases = "".join(f"    case {c.at}: return {_literal(c.low)};\n" for c in numbers)
        return "\n".join(
            (
                f"enum {{ harness_choices = {self._at} }};",
                _table("unsigned", "harness_counts_known", map(str, self._counts)),
                _table("unsigned", "harness_lengths", map(str, self._lengths)),
                _table("char *const", "harness_words", self._strings),
                f"enum {{ harness_told = {len(self._strings)} }};",
                _table("long long", "harness_known", map(_literal, self._numbers or (0,))),
                _table("unsigned", "harness_number_at", [str(c.at) for c in numbers] or ["0"]),
                f"enum {{ harness_numbers = {len(numbers)} }};",
                _table("unsigned", "harness_pointer_at", [str(c.at) for c in pointers] or ["0"]),
                f"enum {{ harness_pointers = {len(pointers)} }};",
                "HARNESS_BARE static long long harness_low_of(unsigned at)\n{\n    switch (at) {\n"
                f"{cases}    default: return 0;\n    }}\n}}\n",
            )
        )

    def _arguments(
        self, function: Function, around: str, known: Preconditions, given: Mapping[int, str]
    ) -> tuple[list[str], list[str]]:
        """Return statements that make the arguments, and the words of the call; `given` are
        expressions by the place of their parameter."""
        lines: list[str] = []
        words: list[str] = []
        capacity = ""
        for place, parameter in enumerate(function.parameters):
            kind = parameter.kind
            name = f"{around}{parameter.name or f'argument {place + 1}'}"
            if place in given:
                words.append(f"HARNESS_POINTER({given[place]})")
                continue
            if kind.form == "pointer":
                told = capacity and is_length(parameter.name, kind.target)
                if told and kind.target is not None:
                    made, value = self._told_length(name, kind.target, capacity)
                    capacity = ""
                else:
                    is_object = parameter.passed.startswith(("*", "std::"))
                    tied = self._is_tied(function, place) and not is_object
                    may_be_null = place not in known.not_null and not is_object
                    made, value, capacity = self._pointer(name, kind, 0, tied, may_be_null)
                    if not around and value in self._handled:
                        self.made.add(place)
                    capacity = "" if is_object else capacity
                made = [*made, f"harness_root({value});"]
                words.append(self._pass_on(parameter, made, f"HARNESS_POINTER({value})", value))
            elif kind.form in ("integer", "bool") and capacity and is_length(parameter.name, kind):
                made, value = self._part(name, kind, capacity, known.ranges.get(place))
                words.append(self._pass_on(parameter, made, f"HARNESS_NUMBER({value})", value))
            elif kind.form in ("integer", "bool"):
                made, value = self._integer(name, kind, known.ranges.get(place))
                words.append(self._pass_on(parameter, made, f"HARNESS_NUMBER({value})", value))
            elif kind.form == "float":
                made, value = self._fraction(name)
                words.append(self._pass_on(parameter, made, value, value))
            elif kind.form == "function":
                made, value = self._callback(name, kind)
                words.append(value)
            else:
                raise Unsuitable(Words("{name} is {why}", name=name, why=_why(kind)))
            lines += made
        return lines, words

    def _pass_on(self, parameter: Parameter, made: list[str], plain: str, value: str) -> str:
        """Return the argument that a value is handed over as. What a reference gets is kept in
        sight: the caller has what is put there."""
        if not parameter.passed:
            return plain
        passed = parameter.passed.replace("{}", value)
        if not passed.startswith("*new "):
            return passed
        self._referred += 1
        name = f"referred{self._referred}"
        made += [f"auto *{name} = {passed.removeprefix('*')};", f"harness_root({name});"]
        return f"*{name}"

    def _is_tied(self, function: Function, place: int) -> bool:
        """Return whether the parameter behind a pointer says how long it is."""
        after = function.parameters[place + 1 : place + 2]
        return any(
            is_length(parameter.name, parameter.kind)
            or (
                parameter.kind.form == "pointer"
                and is_length(parameter.name, parameter.kind.target)
            )
            for parameter in after
        )

    def _choose(self, size: int, choice: Choice) -> int:
        if len(self.choices) >= _MOST_CHOICES:
            raise Unsuitable(Words("its arguments have too many parts"))
        self.choices.append(choice)
        self._at += size
        return choice.at

    def _integer(
        self, name: str, kind: Kind, known: Range | None = None, say: bool = True
    ) -> tuple[list[str], str]:
        low, high = _limits(kind)
        if known is not None:
            low, high = max(low, known.low), min(high, known.high)
            if low > high:
                low, high = _limits(kind)
        listed = [*(kind.values or ()), 1, 0, 2, -1, low, high, low + 1, high - 1, high // 2 + 1]
        values = list(dict.fromkeys(n for n in (*listed, *self._numbers) if low <= n <= high))
        values = values[:200] or [low]
        variable = f"n{next(self._variables)}"
        count = len(values)
        first = tuple(range(count))
        place = self._choose(9, Choice(self._at, 9, name, first, low=low, number=True))
        lines = [
            f"static const long long {variable}_values[] = {{{', '.join(map(_literal, values))}}};",
            f"long long {variable} = harness_integer({place}, {variable}_values, {count}, "
            f"{_literal(low)}, {_literal(high)});",
        ]
        return [*lines, *([self._say(name, "%lld", variable)] if say else [])], variable

    def _part(
        self, name: str, kind: Kind, capacity: str, known: Range | None
    ) -> tuple[list[str], str]:
        most = _limits(kind)[1]
        if known is not None:
            most = max(0, min(most, known.high))
        variable = f"n{next(self._variables)}"
        place = self._choose(9, Choice(self._at, 9, name, (0, 1, 2, 3), number=True))
        bound = f"({capacity} < {most}u ? (long long){capacity} : {_literal(most)})"
        if most > 1 << 31:
            bound = f"(long long){capacity}"
        lines = [f"long long {variable} = harness_part({place}, {bound});"]
        return [*lines, self._say(name, "%lld", variable)], variable

    def _told_length(self, name: str, kind: Kind, capacity: str) -> tuple[list[str], str]:
        lines, value = self._part(f"*{name}", kind, capacity, None)
        block = f"p{next(self._variables)}"
        return [
            *lines,
            f"void *{block} = malloc({max(1, kind.size)});",
            f"harness_put({block}, 0, &{value}, {max(1, kind.size)});",
        ], block

    def _fraction(self, name: str) -> tuple[list[str], str]:
        variable = f"f{next(self._variables)}"
        values = "0.0, 1.0, -1.0, 1e10, -1e10, 1e308, 1.0e-300, 0.5"
        place = self._choose(9, Choice(self._at, 9, name, tuple(range(9))))
        return [
            f"static const double {variable}_values[] = {{{values}}};",
            f"double {variable} = harness_fraction({place}, {variable}_values, 8);",
            f'if (harness_aloud) fprintf(stderr, "HARNESS: %s = %g\\n", "{_plain(name)}", '
            f"{variable});",
        ], variable

    def _callback(self, name: str, kind: Kind) -> tuple[list[str], str]:
        for function in self._found.functions:
            if function.type == kind.name and function.name != "main" and self._may_call(function):
                return [self._say(name, function.name.replace("%", ""), "0")], function.name
        raise Unsuitable(
            Words("{name} is a pointer to a function, and there is none of its type", name=name)
        )

    def _pointer(
        self, name: str, kind: Kind, depth: int, tied: bool, may_be_null: bool
    ) -> tuple[list[str], str, str]:
        """Return statements, the pointer, and how many elements it has; empty when that says
        nothing."""
        target = kind.target
        if target is None or target.form == "unsupported":
            raise Unsuitable(Words("{name} is {why}", name=name, why=_why(kind)))
        if handle := self._handle(name, kind):
            return (*handle, "")
        variable = f"p{next(self._variables)}"
        null = (1,) if may_be_null else ()
        if target.form == "file":
            return self._stream(name, variable, null)
        if target.form == "opaque":
            raise Unsuitable(Words("{name} is {why}", name=name, why=_why(kind)))
        if target.form == "record":
            return self._structure(name, variable, target, depth, null)
        if target.form == "pointer" and target.target is not None:
            return self._pointers(name, variable, target, depth, null)
        if target.form == "integer" and target.size == 1 and target.signed and not tied:
            return self._string(name, variable, null)
        if target.form == "void" and not tied:
            return self._room(name, variable, null)
        size = max(1, target.size)
        counts = tuple(range(len(self._counts)))
        choice = Choice(self._at, 3, name, null, counts, (0, 1, 2, 3), pointer=bool(null))
        place = self._choose(3, choice)
        count = f"{variable}_count"
        return (
            [
                f"size_t {count};",
                f"void *{variable} = harness_array({place}, harness_choices, {size}, "
                f"harness_counts_known, {len(self._counts)}, &{count});",
                *self._not_null(variable, may_be_null),
                f'harness_say_array("{_plain(name)}", {variable}, {count}, {size});',
            ],
            variable,
            count,
        )

    def _room(self, name: str, variable: str, null: tuple[int, ...]) -> tuple[list[str], str, str]:
        """Return zeros for a pointer of which nothing says to what it is."""
        place = self._choose(1, Choice(self._at, 1, name, null, pointer=bool(null)))
        lines = [
            f"void *{variable} = harness_block({place}, {_ROOM});",
            *self._not_null(variable, bool(null)),
            self._say_pointer(name, variable, str(_ROOM), "bytes of zeros"),
        ]
        return lines, variable, ""

    def _string(
        self, name: str, variable: str, null: tuple[int, ...], *, is_stream: bool = False
    ) -> tuple[list[str], str, str]:
        patterns = tuple(range(_PATTERNS + len(self._strings)))
        lengths = tuple(range(len(self._lengths)))
        last = re.split(r"[ .>*]", name)[-1]
        names_file = not is_stream and _NAMING.search(last) is not None
        if names_file:
            patterns = (*patterns[:1], FILE, *patterns[1:])
        choice = Choice(
            self._at,
            3,
            name,
            null,
            lengths,
            patterns,
            pointer=bool(null),
            contents=names_file or is_stream,
        )
        place = self._choose(3, choice)
        size = f"{variable}_size"
        lines = [
            f"size_t {size};",
            f"char *{variable} = harness_string({place}, harness_choices, harness_lengths, "
            f"{len(self._lengths)}, harness_words, {len(self._strings)}, &{size});",
            *self._not_null(variable, bool(null)),
            f'harness_say_string("{_plain(name)}", {variable});',
        ]
        return lines, variable, size

    def _stream(
        self, name: str, variable: str, null: tuple[int, ...]
    ) -> tuple[list[str], str, str]:
        lines, contents, size = self._string(name, f"{variable}_text", null, is_stream=True)
        at = self.choices[-1].at
        made = (
            f"FILE *{variable} = harness_byte({at}) != 1 && harness_byte({at + 2}) == {RAW} ? "
            f"harness_stream_of_input(harness_choices) : "
            f"harness_stream({contents}, {size} ? {size} - 1 : 0);"
        )
        return [*lines, made], variable, ""

    def _structure(
        self, name: str, variable: str, target: Kind, depth: int, null: tuple[int, ...]
    ) -> tuple[list[str], str, str]:
        record = self._found.records[target.name]
        choice = Choice(self._at, 1, name, null, pointer=bool(null))
        place = self._choose(1, choice)
        lines = [
            f"void *{variable} = harness_block({place}, {record.size});",
            *self._not_null(variable, bool(null)),
            self._say_pointer(name, variable, str(record.size), "bytes"),
        ]
        separator = "->" if depth == 0 else "."
        lines += self._fields(f"{name}{separator}", variable, record, 0, depth + 1)
        return lines, variable, ""

    def _fields(
        self, around: str, variable: str, record: Record, base: int, depth: int
    ) -> list[str]:
        """Return statements that set the members of a structure at an offset of a block."""
        lines: list[str] = []
        capacity = ""
        members: Sequence[Member] = record.members[:1] if record.union else record.members
        for number, member in enumerate(members):
            kind, at = member.kind, base + member.offset // 8
            name = f"{around}{member.name}"
            if member.width or depth > _DEEPEST or len(self.choices) > _MOST_CHOICES // 2:
                continue
            if kind.form in ("integer", "bool"):
                if capacity and is_length(member.name, kind):
                    made, value = self._part(name, kind, capacity, None)
                else:
                    made, value = self._integer(name, kind)
                lines += [*made, f"harness_put({variable}, {at}, &{value}, {kind.size});"]
            elif kind.form == "record":
                inner = self._found.records[kind.name]
                lines += self._fields(f"{name}.", variable, inner, at, depth + 1)
            elif kind.form == "pointer":
                after = members[number + 1 : number + 2]
                tied = any(is_length(next_.name, next_.kind) for next_ in after)
                before = len(self.choices), self._at
                try:
                    made, value, capacity = self._pointer(name, kind, depth, tied, True)
                except Unsuitable:
                    del self.choices[before[0] :]
                    self._at = before[1]
                    continue  # it stays null
                lines += [*made, f"harness_put({variable}, {at}, &{value}, 8);"]
        return ["{", *(f"    {line}" for line in lines), "}"] if lines else []

    def _pointers(
        self, name: str, variable: str, target: Kind, depth: int, null: tuple[int, ...]
    ) -> tuple[list[str], str, str]:
        """Return a place that holds one pointer, and a null pointer behind it."""
        place = self._choose(1, Choice(self._at, 1, name, null, pointer=bool(null)))
        if depth > 1:
            raise Unsuitable(Words("its arguments have too many parts"))
        lines = [
            f"void *{variable} = harness_block({place}, 16);",
            *self._not_null(variable, bool(null)),
            self._say_pointer(name, variable, "2", "pointers"),
        ]
        assert target.target is not None
        if target.target.form not in ("opaque", "unsupported", "void"):
            made, value, _ = self._pointer(f"*{name}", target, depth + 1, False, True)
            lines += [*made, f"harness_put({variable}, 0, &{value}, 8);"]
        return lines, variable, ""

    def _handle(self, name: str, kind: Kind) -> tuple[list[str], str] | None:
        """Return statements that let the file itself make a structure; None when it cannot."""
        if self._making or kind.target is None or kind.target.form not in ("record", "opaque"):
            return None
        for maker in self._handles.makers(kind):
            before = len(self.choices), self._at
            self._making += 1
            try:
                return self._made_by(name, maker.function, maker.place, maker.inside, kind)
            except Unsuitable:
                del self.choices[before[0] :]
                self._at = before[1]
            finally:
                self._making -= 1
        return None

    def _made_by(
        self, name: str, maker: Function, place: int, inside: bool, kind: Kind
    ) -> tuple[list[str], str]:
        """Return statements that let a function make a structure, and perhaps others change it."""
        lines, variable = self._call_of_maker(name, maker, place, inside, kind)
        self.calls.add(maker.name)
        self._handled.add(variable)
        own = self._handles.name_of(kind)
        changing = [
            (function, number)
            for function in self._handles.changing(kind)
            for number, parameter in enumerate(function.parameters)
            if self._handles.name_of(parameter.kind) == own
            and not parameter.kind.const
            and not function.static
        ]
        before = self._calls_before(name, variable, changing, f"what {maker.name} makes")
        return [*lines, *before], variable

    def _calls_before(
        self, name: str, variable: str, changing: list[tuple[Function, int]], what: str
    ) -> list[str]:
        """Return statements that call a function on what was made, or none: which one and how often
        is chosen. With each function comes the parameter that takes it; `_OBJECT` for a method."""
        changing.sort(key=lambda way: _FILLING.search(way[0].name) is None)
        calls: list[list[str]] = []
        for function, place in changing:
            others = [item for n, item in enumerate(function.parameters) if n != place]
            if not all(is_plain(item.kind) for item in others):
                continue
            before = len(self.choices), self._at
            given = {place: variable}
            around = f"{name}: {function.name} "
            nowhere = Preconditions(frozenset(range(len(function.parameters))))
            try:
                lines, words = self._arguments(function, around, nowhere, given)
            except Unsuitable:
                del self.choices[before[0] :]
                self._at = before[1]
                continue
            called = f"{function.name}({', '.join(words)});"
            if place == _OBJECT:
                called = f"{variable}->{called.removeprefix(f'{function.of_object}::')}"
            self.calls.add(function.name)
            after = _plain(function.name)
            once, often = f'"{what} after {after}"', f'"{what} after %lld calls of {after}"'
            calls.append(
                [
                    "for (int time = 0; time < times; time++) {",
                    *(f"    {line}" for line in (*lines, f"(void){called}")),
                    "}",
                    f'harness_say("{_plain(name)}", times == 1 ? {once} : {often}, times);',
                ]
            )
            if len(calls) == _MOST_CHANGING or len(self.choices) > _MOST_CHOICES // 2:
                break
        if not calls:
            return []
        first = tuple(range(1, 1 + len(calls) * len(_TIMES)))
        at = self._choose(1, Choice(self._at, 1, name, first, early=True))
        lines = [
            "{",
            f"    static const int known[] = {{{', '.join(map(str, _TIMES))}}};",
            f"    int way = harness_byte({at}), called = (way - 1) / {len(_TIMES)} % {len(calls)};",
            f"    int times = known[way ? (way - 1) % {len(_TIMES)} : 0];",
            "    switch (way ? called : -1) {",
        ]
        for number, call in enumerate(calls):
            lines += [
                f"    case {number}: {{",
                *(f"        {line}" for line in call),
                "        break;",
                "    }",
            ]
        return [*lines, "    }", "}", f"if (harness_is_gone({variable})) return;"]

    def _call_of_maker(
        self, name: str, maker: Function, place: int, inside: bool, kind: Kind
    ) -> tuple[list[str], str]:
        variable = f"p{next(self._variables)}"
        around = f"{name}: {maker.name} "
        nowhere = Preconditions(frozenset(range(len(maker.parameters))))
        say = self._say(name, f"what {maker.name} makes", "0")
        if place == RETURNED:
            lines, words = self._arguments(maker, around, nowhere, {})
            made = f"void *{variable} = (void *){maker.name}({', '.join(words)});"
            return [*lines, made, f"if ({variable} == NULL) return;", say], variable
        size = kind.target.size if inside and kind.target is not None else 8
        block = f"{variable}_place"
        lines, words = self._arguments(maker, around, nowhere, {place: block})
        made = f"void *{block} = harness_block(HARNESS_MOST, {size});"
        call = f"(void){maker.name}({', '.join(words)});"
        if inside:
            return [made, *lines, call, f"void *{variable} = {block};", say], variable
        taken = f"void *{variable} = *(void **){block};"
        return [made, *lines, call, taken, f"if ({variable} == NULL) return;", say], variable

    def _not_null(self, variable: str, may_be_null: bool) -> list[str]:
        return [] if may_be_null else [f"if ({variable} == NULL) return;"]

    def _say(self, name: str, what: str, value: str) -> str:
        return f'harness_say("{_plain(name)}", "{what}", (long long){value});'

    def _say_pointer(self, name: str, variable: str, value: str, unit: str) -> str:
        said = f'{variable} ? "%lld {unit}" : "NULL"'
        return f'harness_say("{_plain(name)}", {said}, (long long){value});'


def is_plain(kind: Kind) -> bool:
    """Return whether nothing need be known to make a value of a type: a number, a string, a stream,
    a place for a result."""
    forms = ("integer", "bool", "float", "file")
    target = kind.target
    if kind.form == "pointer" and target is not None:
        return target.form in forms
    return kind.form in forms


def _table(type_: str, name: str, values: Iterable[str]) -> str:
    return f"static const {type_} {name}[] = {{{', '.join(values)}}};"


def _near(numbers: Iterable[int]) -> tuple[int, ...]:
    """Return numbers with their neighbours, in order and each once."""
    return tuple(dict.fromkeys(n + d for n in numbers for d in (0, 1, -1)))


def _limits(kind: Kind) -> tuple[int, int]:
    if kind.form == "bool":
        return 0, 1
    bits = 8 * kind.size - int(kind.signed)
    return (-(1 << bits) if kind.signed else 0), (1 << bits) - 1


def _literal(value: int) -> str:
    """Return a number as the driver holds it: of 64 bits with a sign."""
    value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
    return "(-9223372036854775807LL - 1)" if value == -(1 << 63) else f"{value}LL"


def _quote(text: bytes) -> str:
    """Return bytes as a string literal of C."""
    return '"' + "".join(f"\\{byte:03o}" for byte in text.replace(b"\0", b"")) + '"'


def _plain(name: str) -> str:
    return name.replace("\\", "").replace('"', "").replace("%", "")


def _why(kind: Kind) -> str:
    inner = kind.target if kind.target is not None else kind
    return Words(
        "of type {type}, for which no input can be generated", type=inner.name or inner.form
    )
