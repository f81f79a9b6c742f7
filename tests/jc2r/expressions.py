"""C programs of random expressions whose values C defines, to be run both ways."""

from __future__ import annotations

import random

TYPES = (
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "float",
    "double",
    "_Bool",
)
INTEGER = TYPES[:8]


def program(seed: int, count: int = 120) -> str:
    """A program that prints the values of `count` expressions.

    Signed arithmetic is done on small values, so that nothing overflows; shifts stay in range.
    """
    chance = random.Random(seed)
    lines = ["#include <stdio.h>", "#include <limits.h>"]
    names: list[tuple[str, str]] = []
    for number in range(14):
        kind = chance.choice(TYPES)
        value = (
            chance.randint(0, 90)
            if "unsigned" in kind or kind == "_Bool"
            else (chance.randint(-90, 90))
        )
        names.append((f"v{number}", kind))
        lines.append(f"static {kind} v{number} = {value};")
    lines.append("static int list[8] = {3, 1, 4, 1, 5, 9, 2, 6}; static int *at = list + 4;")
    for number in range(count):
        lines.append(f"static long e{number}(void) {{ {_function(chance, names)} }}")
    lines.append("int main(void) {")
    lines += [f'  printf("%ld\\n", e{number}());' for number in range(count)]
    lines += [f'  printf("%g\\n", (double){name});' for name, _ in names]
    return "\n".join([*lines, "  return 0;", "}", ""])


def _function(chance: random.Random, names: list[tuple[str, str]]) -> str:
    integers = [name for name, kind in names if kind in INTEGER]
    form = chance.randrange(6)
    value = _value(chance, names, 3)
    if form == 0 and integers:
        name = chance.choice(integers)
        operator = chance.choice(("+=", "-=", "^=", "|=", "&="))
        return f"{name} {operator} ({value}) % 13; return {name};"
    if form == 1:
        return (
            f"int s = 0; for (int i = 0; i < 8; i++) {{ if (list[i] > ({value}) % 7) continue;"
            f" s += list[i] * (i + 1); }} return s;"
        )
    if form == 2:
        return (
            f"switch (({value}) % 5) {{ case 0: return 10; case 1: case 2: at[0]++; case 3:"
            f" return at[-1]; default: break; }} return *at;"
        )
    if form == 3 and integers:
        name = chance.choice(integers)
        step = chance.choice((f"{name}++", f"--{name}", f"{name}--", f"++{name}"))
        return f"long r = {step}; {name} = 5; return r;"
    return f"return (long)({value});"


def _value(chance: random.Random, names: list[tuple[str, str]], depth: int) -> str:
    """An integer expression with a small value."""
    if depth == 0 or chance.random() < 0.15:
        name, kind = chance.choice(names)
        return chance.choice(
            (
                name if kind in INTEGER or kind == "_Bool" else f"(int){name}",
                str(chance.randint(0, 60)),
                f"'{chance.choice('azAZ09')}'",
                f"list[{chance.randint(0, 7)}]",
                "(int)sizeof(long)",
            )
        )
    left, right = (f"({_value(chance, names, depth - 1)})" for _ in range(2))
    form = chance.randrange(9)
    if form <= 1:
        small = f"({left} % 100 {chance.choice('+-*')} {right} % 100)"
        return f"(int){small}"
    if form == 2:
        return f"(int)({left} {chance.choice('/%')} ({right} | 1))"
    if form == 3:
        return f"(int)({left} {chance.choice(('&', '|', '^'))} {right})"
    if form == 4:
        return f"((unsigned){left} >> ({right} & 7)) % 1000"
    if form == 5:
        return f"{left} {chance.choice(('<', '>', '<=', '>=', '==', '!=', '&&', '||'))} {right}"
    if form == 6:
        return f"{left} ? {right} : ({_value(chance, names, depth - 1)})"
    if form == 7:
        return f"(int)({chance.choice(INTEGER)})({left})"
    return chance.choice((f"!{left}", f"~{left}", f"-(int)({left} % 1000)", f"(0, {right})"))
