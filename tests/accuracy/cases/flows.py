"""Ways in which a value gets from its source to its sink: the data variants.

Each takes a `Twin` and writes its functions. Which of them holds the sink is said there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cases.weave import Twin


@dataclass(frozen=True, slots=True)
class Flow:
    """One data variant."""

    name: str
    """Name of the variant."""
    write: Callable[[Twin], None]
    """Writes a twin."""
    cpp: bool = False
    """Whether it needs C++."""
    several: bool = False
    """Whether the sink lies in a function of its own."""
    apart: bool = False
    """Whether the source does."""


FLOWS: list[Flow] = []


def _flow(
    name: str, *, cpp: bool = False, several: bool = False, apart: bool = False
) -> Callable[[_Write], _Write]:
    def keep(write: _Write) -> _Write:
        FLOWS.append(Flow(name, write, cpp, several, apart))
        return write

    return keep


_Write = Callable[[Twin], None]


@_flow("local copy")
def _copy(twin: Twin) -> None:
    copied = f"{{\n{twin.typed('$c')} = $d;\n{twin.typed('$d')} = $c;\n{twin.sink}\n}}"
    twin.main(twin.owner, twin.source, copied, sink=True)


@_flow("pointer to pointer")
def _pointer(twin: Twin) -> None:
    twin.main(
        twin.owner,
        f"{twin.typed('*$p1')} = &$d;\n{twin.typed('*$p2')} = &$d;",
        f"{{\n{twin.typed('$d')} = *$p1;\n{twin.source}\n*$p1 = $d;\n}}",
        f"{{\n{twin.typed('$d')} = *$p2;\n{twin.sink}\n}}",
        sink=True,
    )


@_flow("union")
def _union(twin: Twin) -> None:
    twin.add(f"typedef union\n{{\n{twin.typed('$m1')};\n{twin.typed('$m2')};\n}} $_union;\n")
    second = f"{{\n{twin.typed('$d')} = $u.$m2;\n{twin.sink}\n}}"
    twin.main(twin.owner, "$_union $u;", twin.source, "$u.$m1 = $d;", second, sink=True)


@_flow("member of a struct")
def _member(twin: Twin) -> None:
    twin.add(f"struct $_record\n{{\nint $m1;\n{twin.typed('$m2')};\n}};\n")
    second = f"{{\n{twin.typed('$d')} = $u.$m2;\n{twin.sink}\n}}"
    start = "struct $_record $u;"
    twin.main(twin.owner, start, twin.source, "$u.$m1 = 1;\n$u.$m2 = $d;", second, sink=True)


@_flow("element of an array")
def _element(twin: Twin) -> None:
    second = f"{{\n{twin.typed('$d')} = $u[2];\n{twin.sink}\n}}"
    start = f"{twin.typed('$u[5]')};"
    twin.main(twin.owner, start, twin.source, "$u[2] = $d;", second, sink=True)


@_flow("bytes copied")
def _bytes(twin: Twin) -> None:
    second = f"{{\n{twin.typed('$c')};\nmemcpy(&$c, &$d, sizeof($d));\n"
    second += f"{{\n{twin.typed('$d')} = $c;\n{twin.sink}\n}}\n}}"
    twin.main(twin.owner, twin.source, second, sink=True)


@_flow("argument", several=True)
def _argument(twin: Twin) -> None:
    twin.function(f"static void $_sink({twin.typed('$d')})", twin.sink, sink=True)
    twin.main(twin.owner, twin.source, "$_sink($d);")


@_flow("function pointer", several=True)
def _function_pointer(twin: Twin) -> None:
    twin.function(f"static void $_sink({twin.typed('$d')})", twin.sink, sink=True)
    held = f"void (*$call)({twin.typed('')}) = $_sink;"
    twin.main(twin.owner, held, twin.source, "$call($d);")


@_flow("function pointer to another file", several=True)
def _far_pointer(twin: Twin) -> None:
    head = f"void $_sink({twin.typed('$d')})"
    twin.add(f"{head};\n")
    held = f"void (*$call)({twin.typed('')}) = $_sink;"
    twin.main(twin.owner, held, twin.source, "$call($d);")
    twin.function(head, twin.sink, file=1, sink=True)


@_flow("return value", apart=True)
def _returned(twin: Twin) -> None:
    head = f"static {twin.typed('$_source')}({twin.typed('$d')})"
    twin.function(head, twin.source, "return $d;")
    twin.main(twin.owner, "$d = $_source($d);", twin.sink, sink=True)


@_flow("return value from another file", apart=True)
def _far_return(twin: Twin) -> None:
    head = f"{twin.typed('$_source')}({twin.typed('$d')})"
    twin.add(f"{head};\n")
    twin.main(twin.owner, "$d = $_source($d);", twin.sink, sink=True)
    twin.function(head, twin.source, "return $d;", file=1)


@_flow("flag of a global for the source", apart=True)
def _source_flag(twin: Twin) -> None:
    twin.add("int $_flag = 0;\n")
    head = f"{twin.typed('$_source')}({twin.typed('$d')})"
    twin.add(f"{head};\n")
    twin.main(twin.owner, "$_flag = 1;\n$d = $_source($d);", twin.sink, sink=True)
    twin.add("extern int $_flag;\n", file=1)
    chosen = f"if ($_flag)\n{{\n{twin.source}\n}}\nelse\n{{\n@say(<text>);\n}}"
    twin.function(head, chosen, "return $d;", file=1)


@_flow("flag of a global for the sink", several=True)
def _sink_flag(twin: Twin) -> None:
    twin.add("static int $_flag = 0;\n")
    chosen = f"if ($_flag)\n{{\n{twin.sink}\n}}\nelse\n{{\n@say(<text>);\n}}"
    twin.function(f"static void $_sink({twin.typed('$d')})", chosen, sink=True)
    twin.main(twin.owner, twin.source, "$_flag = 1;\n$_sink($d);")


@_flow("static global", several=True)
def _static_global(twin: Twin) -> None:
    twin.add(f"static {twin.typed('$_held')};\n")
    second = f"{twin.typed('$d')} = $_held;"
    twin.function("static void $_sink(void)", second, twin.sink, sink=True)
    twin.main(twin.owner, twin.source, "$_held = $d;\n$_sink();")


@_flow("global of another file", several=True)
def _far_global(twin: Twin) -> None:
    twin.add(f"{twin.typed('$_held')};\nvoid $_sink(void);\n")
    twin.main(twin.owner, twin.source, "$_held = $d;\n$_sink();")
    twin.add(f"extern {twin.typed('$_held')};\n", file=1)
    second = f"{twin.typed('$d')} = $_held;"
    twin.function("void $_sink(void)", second, twin.sink, file=1, sink=True)


def _chain(twin: Twin, length: int, files: int) -> None:
    def place(step: int) -> int:
        return step if files > 1 else 0

    static = "" if files > 1 else "static "
    parameter = twin.typed("$d")
    names = [f"$_step{step}" for step in range(length)]
    order = range(length - 1, 0, -1) if files == 1 else range(1, length)
    for step in order:
        body = [twin.sink] if step == length - 1 else [f"{names[step + 1]}($d);"]
        if files > 1 and step < length - 1:
            twin.add(f"void {names[step + 1]}({parameter});\n", file=step)
        head = f"{static}void {names[step]}({parameter})"
        twin.function(head, *body, file=place(step), sink=step == length - 1)
    if files > 1:
        twin.add(f"void {names[1]}({parameter});\n")
    twin.main(twin.owner, twin.source, f"{names[1]}($d);")


@_flow("chain of three functions", several=True)
def _chain_near(twin: Twin) -> None:
    _chain(twin, 3, 1)


@_flow("two files", several=True)
def _chain_two(twin: Twin) -> None:
    _chain(twin, 2, 2)


@_flow("three files", several=True)
def _chain_three(twin: Twin) -> None:
    _chain(twin, 3, 3)


@_flow("four files", several=True)
def _chain_four(twin: Twin) -> None:
    _chain(twin, 4, 4)


@_flow("five files", several=True)
def _chain_five(twin: Twin) -> None:
    _chain(twin, 5, 5)


def _passed(
    twin: Twin, parameter: str, argument: str, unpack: str, before: str = "", own: str = ""
) -> None:
    """Something that holds the data is handed to a sink in another file."""
    head = f"void $_sink({parameter})"
    twin.add(f"{own}{head};\n")
    twin.main(twin.owner, twin.source, before, f"$_sink({argument});")
    twin.add(own, file=1)
    twin.function(head, f"{twin.typed('$d')} = {unpack};", twin.sink, file=1, sink=True)


@_flow("pointer to the value", several=True)
def _pointed(twin: Twin) -> None:
    _passed(twin, twin.typed("*$p"), "&$d", "*$p")


@_flow("pointer to void", several=True)
def _void(twin: Twin) -> None:
    _passed(twin, "void *$p", "&$d", f"*(({twin.typed('*')})$p)")


@_flow("array argument", several=True)
def _array(twin: Twin) -> None:
    filled = f"{twin.typed('$u[5]')};\n$u[2] = $d;"
    _passed(twin, twin.typed("$u[]"), "$u", "$u[2]", before=filled)


@_flow("struct argument", several=True)
def _struct(twin: Twin) -> None:
    own = f"typedef struct $_tag\n{{\n{twin.typed('$m')};\n}} $_record;\n"
    _passed(twin, "$_record $u", "$u", "$u.$m", before="$_record $u;\n$u.$m = $d;", own=own)


@_flow("pointer to a struct", several=True)
def _struct_pointer(twin: Twin) -> None:
    own = f"typedef struct $_tag\n{{\nint $k;\n{twin.typed('$m')};\n}} $_record;\n"
    _passed(twin, "$_record *$u", "&$u", "$u->$m", before="$_record $u;\n$u.$m = $d;", own=own)


@_flow("reference", cpp=True)
def _reference(twin: Twin) -> None:
    second = f"{{\n{twin.typed('$d')} = $r;\n{twin.sink}\n}}"
    named = f"{twin.typed('&$r')} = $d;"
    twin.main(twin.owner, named, twin.source, second, sink=True)


@_flow("reference parameter for the source", cpp=True, apart=True)
def _reference_source(twin: Twin) -> None:
    twin.function(f"static void $_source({twin.typed('&$d')})", twin.source)
    twin.main(twin.owner, "$_source($d);", twin.sink, sink=True)


@_flow("reference parameter in another file", cpp=True, apart=True)
def _reference_far(twin: Twin) -> None:
    head = f"void $_source({twin.typed('&$d')})"
    twin.add(f"{head};\n")
    twin.main(twin.owner, "$_source($d);", twin.sink, sink=True)
    twin.function(head, twin.source, file=1)


@_flow("vector", cpp=True, several=True)
def _vector(twin: Twin) -> None:
    filled = f"vector<{twin.typed('')}> $u;\n$u.insert($u.end(), 1, $d);\n"
    filled += "$u.insert($u.end(), 1, $d);\n$u.insert($u.end(), 1, $d);"
    _passed(twin, f"vector<{twin.typed('')}> $u", "$u", "$u[2]", before=filled)


@_flow("list", cpp=True, several=True)
def _list(twin: Twin) -> None:
    filled = f"list<{twin.typed('')}> $u;\n$u.push_back($d);\n$u.push_back($d);"
    _passed(twin, f"list<{twin.typed('')}> $u", "$u", "$u.back()", before=filled)


@_flow("map", cpp=True, several=True)
def _map(twin: Twin) -> None:
    kind = f"map<int, {twin.typed('')}>"
    filled = f"{kind} $u;\n$u[0] = $d;\n$u[1] = $d;\n$u[2] = $d;"
    _passed(twin, f"{kind} $u", "$u", "$u[2]", before=filled)


def _virtual(twin: Twin, before: str, call: str) -> None:
    head = f"({twin.typed('$d')})"
    base = f"class $Base\n{{\npublic:\nvirtual void $Act{head} const = 0;\n"
    base += "virtual ~$Base() {}\n};\n"
    twin.common = {0: base, 1: base}
    own = f"class $_derived : public $Base\n{{\npublic:\nvoid $Act{head} const;\n}};\n"
    twin.add(own)
    twin.main(twin.owner, twin.source, before, f"{call}($d);")
    twin.add(own, file=1)
    twin.function(f"void $_derived::$Act{head} const", twin.sink, file=1, sink=True)


@_flow("virtual method by reference", cpp=True, several=True)
def _virtual_reference(twin: Twin) -> None:
    _virtual(twin, "const $Base &$o = $_derived();", "$o.$Act")


@_flow("virtual method by pointer", cpp=True, several=True)
def _virtual_pointer(twin: Twin) -> None:
    _virtual(twin, "$Base *$o = new $_derived;", "$o->$Act")
    twin.files[0][-1] = twin.files[0][-1].replace("->$Act($d);", "->$Act($d);\ndelete $o;")


def _object(twin: Twin, use: str) -> None:
    own = f"class $_class\n{{\npublic:\n$_class({twin.typed('$c')});\n~$_class();\n"
    own += f"private:\n{twin.typed('$d')};\n}};\n"
    twin.add(own)
    twin.function(f"$_class::$_class({twin.typed('$c')})", "$d = $c;", twin.source)
    twin.function("$_class::~$_class()", twin.sink, sink=True)
    twin.main(twin.owner, use)


@_flow("constructor and destructor", cpp=True, several=True, apart=True)
def _scope(twin: Twin) -> None:
    _object(twin, "$_class $o($d);")


@_flow("constructor and destructor by new", cpp=True, several=True, apart=True)
def _heap(twin: Twin) -> None:
    _object(twin, "$_class *$o = new $_class($d);\ndelete $o;")
