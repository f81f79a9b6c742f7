"""Result of getc stored in a char and compared with EOF.

## What it does
Finds `char` variables assigned from `getc`, `fgetc` or `getchar` that are compared with `EOF`.

## Why is this bad?
These functions return an `int` so that EOF is distinct from all 256 characters. An unsigned `char`
never equals EOF, which makes the loop infinite; a signed one takes the byte 0xFF for the end of
input.

## Example
```c
char c;
while ((c = getc(file)) != EOF)
    put(c);
```

Use instead:
```c
int c;
while ((c = getc(file)) != EOF)
    put(c);
```

## References
- CWE-253: Incorrect Check of Function Return Value
- CWE-197: Numeric Truncation Error
- SEI CERT C FIO34-C: Distinguish between characters read from a file and EOF
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.c.result_checks import tests_of

READERS = {"getc", "fgetc", "getchar", "getc_unlocked", "getchar_unlocked", "_getch"}
CHARS = frozenset({"char", "unsigned char", "signed char", "uint8_t", "int8_t"})


@rule(
    query=calls(*READERS),
    category="type_safety",
    cwe=(253, 197),
    confidence=0.85,
    severity="medium",
    suggestion="Declare '{variable}' as int.",
    fixable=True,
)
def getc_result_in_char(call: Call) -> Iterator[Report]:
    target, function = call.target, call.function
    if target is None or function is None:
        return
    variable = function.variable(text(target), target.start_byte)
    if variable is None or variable.pointers or variable.arrays or variable.type not in CHARS:
        return
    if not any(test.other in ("EOF", "-1", "(-1)") for test in tests_of(call)):
        return
    yield Report(
        call.node,
        "'{variable}' has type '{type}', which cannot represent EOF.",
        pattern=call.name,
        variable=variable.name,
        type=variable.type,
        fix=_as_int(variable),
    )


def _as_int(variable: Variable) -> Rewrite | None:
    declaration = variable.node.parent
    for _ in range(3):
        if declaration is None or declaration.type == "declaration":
            break
        declaration = declaration.parent
    kind = field(declaration, "type")
    if declaration is None or kind is None or declaration.type != "declaration":
        return None
    if len(declaration.children_by_field_name("declarator")) != 1:
        return None
    return Rewrite(
        "Change the type of '{variable}' to int", [(kind, "int")], variable=variable.name
    )
