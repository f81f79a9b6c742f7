"""Random C programs whose behaviour C defines, many to a file: gcc and the Rust must agree on them.

Each program has a record with bit-fields and a union, static data and three functions, and ends in
one number. Signed sums wrap (`-fwrapv`), amounts of shifts and indices are masked, divisors are
small and not zero, loops count to a bound, and no expression has an effect. Bit-fields are narrower
than `int`, because compilers differ in the type of wider ones.
"""

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
    "_Bool",
)
_COMPARING = ("<", ">", "<=", ">=", "==", "!=", "&&", "||")
_BITS = ("&", "|", "^")


def unit(seeds: list[int]) -> str:
    """A file with `long program_SEED(void)` for each seed."""
    return "\n".join(["#include <string.h>", *(_Program(seed).text() for seed in seeds), ""])


def driver(seeds: list[int]) -> str:
    """A file whose `main` prints what every program ends in."""
    declared = [f"long program_{seed}(void);" for seed in seeds]
    calls = [f'  printf("{seed} %ld\\n", program_{seed}());' for seed in seeds]
    return "\n".join(
        ["#include <stdio.h>", *declared, "int main(void) {", *calls, "  return 0;", "}", ""]
    )


class _Program:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._chance = random.Random(seed)
        self._places = [
            f"r{seed}.a",
            f"r{seed}.b",
            f"r{seed}.c",
            f"r{seed}.d[1]",
            f"r{seed}.e",
            f"r{seed}.g",
            f"r{seed}.f[3]",
            f"x{seed}",
            f"y{seed}[2]",
            f"z{seed}",
        ]
        self._calls: list[str] = []
        self._loops = 0

    def text(self) -> str:
        chance, seed = self._chance, self._seed
        first, second = (chance.choice(TYPES) for _ in range(2))
        third = chance.choice(TYPES[:-1])  # other bytes than 0 and 1 are no `_Bool`
        members = [
            f"{first} a;",
            f"{chance.choice(('int', 'unsigned'))} b : {chance.randint(2, 31)};",
            f"unsigned long c : {chance.randint(1, 31)};",
            f"{second} d[4];",
            f"union {{ {third} e; unsigned char f[8]; unsigned g; }};",
        ]
        chance.shuffle(members)
        lines = [
            f"static struct s{seed} {{ {' '.join(members)} }} r{seed} = "
            f"{{.a = {self._number()}, .d = {{1, [2] = 3}}}};",
            f"static {first} x{seed} = {self._number()};",
            f"static {first} y{seed}[8] = {{{self._number()}, 7}};",
            f"static {second} z{seed};",
        ]
        for number in range(3):
            name = f"f{seed}_{number}"
            head = f"static long {name}({chance.choice(TYPES)} p, {chance.choice(TYPES)} q)"
            lines.append(f"{head} {{ {self._body(['p', 'q'])} }}")
            self._calls.append(name)
        lines.append(f"long program_{seed}(void) {{ {self._body([])} }}")
        return "\n".join(lines)

    def _body(self, parameters: list[str]) -> str:
        chance, seed = self._chance, self._seed
        places, outer = self._places, self._places
        kinds = [chance.choice(TYPES) for _ in range(2)]
        self._places = [*places, *parameters, "m", "n"]
        lines = [
            f"{kinds[0]} m = {self._number()}; {kinds[1]} n = {self._number()};",
            f"struct s{seed} k = r{seed}, *o = &k;",
        ]
        self._places += ["k.a", "o->b", "o->d[3]"]
        lines += [self._statement(2) for _ in range(chance.randint(2, 5))]
        total = " ^ ".join(
            f"(unsigned long){place} * {3 + 2 * n}ul"
            for n, place in enumerate(chance.sample(self._places, 5))
        )
        self._places = outer
        return "\n  ".join([*lines, f"return (long)({total});"])

    def _statement(self, depth: int) -> str:
        chance = self._chance
        form = chance.randrange(12 if depth else 5)
        place, value = chance.choice(self._places), self._value(3)
        if form == 0:
            return f"{place} {chance.choice(('+', '-', '*', *_BITS))}= {value};"
        if form == 1:
            return f"{chance.choice(('++', '--'))}{place};"
        if form == 2:
            return f"{place} {chance.choice(('<<', '>>'))}= {self._value(1)} & 7;"
        if form == 3 and self._calls:  # into a local: C says no order of a call and a place
            called = f"{chance.choice(self._calls)}({self._value(1)}, {self._value(1)})"
            return f"{chance.choice('mn')} = {called};"
        if form <= 4:
            return f"{place} = {value};"
        inner = [self._statement(depth - 1) for _ in range(3)]
        if form == 5:
            return f"if ({value}) {{ {inner[0]} }} else {{ {inner[1]} {inner[2]} }}"
        if form == 6:
            self._loops += 1
            count = f"i{self._loops}"
            return (
                f"for (int {count} = 0; {count} < {chance.randint(1, 6)}; {count}++) {{"
                f" if ({value}) {chance.choice(('continue', 'break'))}; {inner[0]}"
                f" y{self._seed}[{count}] += {count}; {inner[1]} }}"
            )
        if form == 7:
            return (
                f"switch ({value} & 3) {{ case 0: {inner[0]} case 1: {inner[1]} break;"
                f" default: {inner[2]} }}"
            )
        if form == 8:
            self._loops += 1
            label = f"l{self._loops}"
            return f"if ({value}) goto {label}; {inner[0]} {label}: {inner[1]}"
        if form == 9:
            self._loops += 1
            count = f"w{self._loops}"
            return (
                f"{{ int {count} = {chance.randint(1, 5)}; do {{ {inner[0]} {inner[1]} }}"
                f" while (--{count} > 0); }}"
            )
        if form == 10:
            return f"memcpy(&r{self._seed}, o, sizeof *o); k.d[{self._value(1)} & 3] = {value};"
        pointer = f"(y{self._seed} + ({self._value(1)} & 7))"
        return f"*{pointer} {chance.choice(('=', '^=', '+='))} {value};"

    def _value(self, depth: int) -> str:
        chance = self._chance
        if depth == 0 or chance.random() < 0.2:
            return chance.choice((chance.choice(self._places), self._number()))
        left, right = (self._value(depth - 1) for _ in range(2))
        form = chance.randrange(11)
        if form <= 1:
            return f"({left} {chance.choice('+-*')} {right})"
        if form == 2:
            return f"({left} {chance.choice('/%')} {chance.randint(2, 99)})"
        if form == 3:
            return f"({left} {chance.choice(_BITS)} {right})"
        if form == 4:
            return f"({left} {chance.choice(('<<', '>>'))} ({right} & 7))"
        if form == 5:
            return f"({left} {chance.choice(_COMPARING)} {right})"
        if form == 6:
            return f"({left} ? {right} : {self._value(depth - 1)})"
        if form == 7:
            return f"(({chance.choice(TYPES)}){left})"
        if form == 8:
            return f"({chance.choice('!~-')}{left})"
        if form == 9:
            return f"(int)(((double)({left} % 1000) / 8) * (float)({right} % 64))"
        return f"y{self._seed}[{left} & 7]"

    def _number(self) -> str:
        return self._chance.choice(
            (
                str(self._chance.randint(0, 99)),
                str(self._chance.randint(0, 2**31 - 1)),
                f"{self._chance.randint(0, 2**63 - 1)}ul",
                f"'{self._chance.choice('azAZ09')}'",
                f"{self._chance.randint(0, 255):#x}u",
                "(-1)",
                "0",
            )
        )
