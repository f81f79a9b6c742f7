"""Hostile files: what a scan of each costs, alone in a process of its own.

npm run bench -- hostile [-- SHAPE...]
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from tests.bench.measure.cost import environment  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402

SIZES = (16_000, 120_000, 1_000_000)
"""Bytes of a file, about."""
LANGUAGES = ("c", "cpp", "rs")
SECONDS_PER_MB = 2.0
"""CPU seconds a file may take for each megabyte it has begun, the start of the process besides."""
MEMORY_MB = 600
FLAW = "#include <stdio.h>\nvoid ask(void) { char b[8]; gets(b); }\n"
RUST_FLAW = "pub unsafe fn ask(p: *const u8) -> u8 { *p.add(9) }\n"


@dataclass(frozen=True)
class Measured:
    """What the scan of a file cost."""

    name: str
    megabytes: float
    seconds: float
    """Of CPU."""
    memory: float
    """Peak, in MB."""
    status: int


def repeat(piece: str, size: int, head: str = "", tail: str = "") -> str:
    """Return a text of about `size` bytes."""
    return (
        head + piece * max(1, size // max(1, len(piece.encode("utf-8", "surrogateescape")))) + tail
    )


def nested(open_: str, close: str, size: int, head: str, tail: str) -> str:
    """Return a text that opens and closes equally often."""
    times = max(1, size // (len(open_) + len(close)))
    return head + open_ * times + close * times + tail


def soup(words: str, size: int) -> str:
    """Return words in random order; the same ones each time."""
    generator, known = random.Random(size), words.split()
    return " ".join(generator.choice(known) for _ in range(size // 5))


_C = "void f(char *p, int n) {\n"
_TOKENS = (
    "{ } ( ) [ ] ; , if else for while do int char * & = + x y 1 #if \n #endif \n struct return"
)
_RUST = "fn f(p: *mut u8, n: usize) {\n"
_RUST_TOKENS = "{ } ( ) [ ] ; , fn let mut if else match => loop unsafe impl < > & * 'a x y 1 # !"

SHAPES: dict[str, tuple[str, Callable[[int], str]]] = {
    # Unclosed and deep.
    "braces": ("c cpp rs", lambda n: "{" * n),
    "parentheses": ("c cpp rs", lambda n: "f(" * (n // 2)),
    "brackets": ("c cpp rs", lambda n: "a[" * (n // 2)),
    "angles": ("cpp rs", lambda n: "a<" * (n // 2)),
    "closing": ("c cpp rs", lambda n: "})]" * (n // 3)),
    "nested-calls": ("c cpp", lambda n: nested("g(", ")", n, _C + "x = ", ";\n}\n")),
    "nested-blocks": ("c cpp", lambda n: nested("{", "}", n, _C, "}\n")),
    "nested-rust": ("rs", lambda n: nested("{", "}", n, _RUST, "}\n")),
    "nested-ifs": ("c cpp", lambda n: repeat("if (n) ", n, _C, ";\n}\n")),
    "else-ifs": ("c cpp", lambda n: repeat("if (n == 1) p++; else ", n, _C, ";\n}\n")),
    "else-ifs-rust": ("rs", lambda n: repeat("if n == 1 {} else ", n, _RUST, "{}\n}\n")),
    "nested-loops": ("c cpp", lambda n: repeat("while (n--) for (;;) ", n, _C, "p[n] = 0;\n}\n")),
    "nested-structs": ("c cpp", lambda n: nested("struct {", "} s;", n, "", "")),
    "nested-modules": ("rs", lambda n: nested("mod m {", "}", n, "", "")),
    "nested-namespaces": ("cpp", lambda n: nested("namespace m {", "}", n, "", "")),
    "nested-lambdas": ("cpp", lambda n: nested("[&]{", "}", n, "auto f = ", ";\n")),
    "nested-closures": ("rs", lambda n: repeat("|x| ", n, "fn f() { let g = ", "1; }\n")),
    "casts": ("c cpp", lambda n: repeat("(int)", n, _C + "n = ", "n;\n}\n")),
    "pointers": ("c cpp", lambda n: repeat("*", n, "int ", "p;\n")),
    "references": ("rs", lambda n: repeat("&", n, "fn f(x: ", "u8) {}\n")),
    "ternaries": ("c cpp", lambda n: repeat("n ? 1 : ", n, _C + "n = ", "0;\n}\n")),
    "sums": ("c cpp", lambda n: repeat("n + ", n, _C + "n = ", "0;\n}\n")),
    "sums-rust": ("rs", lambda n: repeat("n + ", n, _RUST + "let m = ", "0;\n}\n")),
    "signs": ("c cpp rs", lambda n: repeat("- ", n, "int x = ", "1;\n")),
    "commas": ("c cpp", lambda n: repeat("n, ", n, _C + "n = (", "0);\n}\n")),
    "members": ("c cpp", lambda n: repeat("->next", n, _C + "p", ";\n}\n")),
    "methods": ("rs", lambda n: repeat(".iter()", n, _RUST + "p", ";\n}\n")),
    # Many of one thing.
    "frees": (
        "c cpp",
        lambda n: repeat("  if (n & 1) free(p);\n", n, "#include <stdlib.h>\n" + _C, "}\n"),
    ),
    "allocations": (
        "c cpp",
        lambda n: repeat("  p = malloc(n);\n", n, "#include <stdlib.h>\n" + _C, "}\n"),
    ),
    "copies": (
        "c cpp",
        lambda n: repeat("  memcpy(p, p + n, n);\n", n, "#include <string.h>\n" + _C, "}\n"),
    ),
    "prints": ("c cpp", lambda n: repeat("  printf(p);\n", n, "#include <stdio.h>\n" + _C, "}\n")),
    "raw-reads": ("rs", lambda n: repeat("  unsafe { *p.add(n) = 1; }\n", n, _RUST, "}\n")),
    "unwraps": ("rs", lambda n: repeat("  a().unwrap();\n", n, _RUST, "}\n")),
    "labels": ("c cpp", lambda n: repeat("goto l; l:;\n", n, _C, "}\n")),
    "jumps": (
        "c cpp",
        lambda n: (
            _C
            + "".join(f"l{i}: if (n) goto l{(i * 7) % (n // 30)};\n" for i in range(n // 30))
            + "}\n"
        ),
    ),
    "cases": (
        "c cpp",
        lambda n: (
            _C + "switch (n) {\n" + "".join(f"case {i}: p++;\n" for i in range(n // 16)) + "}}\n"
        ),
    ),
    "arms": (
        "rs",
        lambda n: (
            _RUST + "match n {\n" + "".join(f"{i} => {{}}\n" for i in range(n // 12)) + "}}\n"
        ),
    ),
    "locals": (
        "c cpp",
        lambda n: (
            _C + "".join(f"int v{i} = v{i - 1 if i else 0} + n;\n" for i in range(n // 24)) + "}\n"
        ),
    ),
    "arrays": (
        "c cpp",
        lambda n: _C + "".join(f"char a{i}[8]; a{i}[n] = 0;\n" for i in range(n // 28)) + "}\n",
    ),
    "functions": (
        "c cpp",
        lambda n: "".join(f"int f{i}(int n) {{ return f{i // 2}(n); }}\n" for i in range(n // 36)),
    ),
    "functions-rust": (
        "rs",
        lambda n: "".join(f"fn f{i}(n: u8) -> u8 {{ f{i // 2}(n) }}\n" for i in range(n // 36)),
    ),
    "parameters": (
        "c cpp",
        lambda n: "void f(" + ", ".join(f"int p{i}" for i in range(n // 10)) + ") {}\n",
    ),
    "fields": (
        "c cpp",
        lambda n: "struct s {\n" + "".join(f"int m{i};\n" for i in range(n // 12)) + "};\n",
    ),
    "enumerators": (
        "c cpp",
        lambda n: "enum e {" + ",".join(f"E{i}" for i in range(n // 8)) + "};\n",
    ),
    "initialisers": ("c cpp", lambda n: repeat("{1, 2}, ", n, "int a[][2] = {", "};\n")),
    "declarators": ("c cpp", lambda n: repeat("x, ", n, "int ", "y;\n")),
    "generics": (
        "rs",
        lambda n: "fn f<" + ", ".join(f"T{i}: Into<T0>" for i in range(n // 16)) + ">() {}\n",
    ),
    "lifetimes": ("rs", lambda n: repeat("'a + ", n, "fn f<'a>(x: Box<dyn ", "Send>) {}\n")),
    "patterns": ("rs", lambda n: repeat("1 | ", n, _RUST + "match n { ", "2 => {} }\n}\n")),
    # Preprocessor, comments, literals.
    "conditions": ("c cpp", lambda n: repeat("#if A\n", n)),
    "closed-conditions": ("c cpp", lambda n: nested("#if A\n", "#endif\n", n, "", "")),
    "elifs": ("c cpp", lambda n: repeat("#elif A\n", n, "#if B\n", "#endif\n")),
    "macros": (
        "c cpp",
        lambda n: (
            "".join(f"#define M{i} M{i + 1} M{i + 1}\n" for i in range(n // 26)) + "int x = M0;\n"
        ),
    ),
    "macro-calls": ("c cpp", lambda n: repeat("M(", n, "#define M(x) x x\nint x = ", "\n")),
    "long-macro": ("c cpp", lambda n: repeat("1 + ", n, "#define M ", "1\nint x = M;\n")),
    "long-condition": ("c cpp", lambda n: repeat("defined(A) && ", n, "#if ", "1\n#endif\n")),
    "includes": ("c cpp", lambda n: repeat("#include <stdio.h>\n", n)),
    "continuations": ("c cpp", lambda n: repeat("\\\n", n, "int x", ";\n")),
    "attributes": ("rs", lambda n: repeat("#[cfg(a)] ", n, "", "fn f() {}\n")),
    "attributes-c": ("c cpp", lambda n: repeat("__attribute__((unused)) ", n, "", "int x;\n")),
    "rust-macros": ("rs", lambda n: nested("m!(", ")", n, "fn f() { ", "; }\n")),
    "open-comment": ("c cpp rs", lambda n: repeat("x ", n, "/* ")),
    "comments": ("c cpp rs", lambda n: repeat("/* x */", n)),
    "nested-comments": ("rs", lambda n: repeat("/* ", n)),
    "line-comments": ("c cpp rs", lambda n: repeat("// jsec-ignore: x\n", n)),
    "open-string": ("c cpp rs", lambda n: repeat("x ", n, 'char *s = "')),
    "strings": ("c cpp", lambda n: repeat('"x" ', n, "char *s = ", ";\n")),
    "escapes": ("c cpp", lambda n: repeat("\\x41", n, 'char *s = "', '";\n')),
    "raw-string": ("rs", lambda n: repeat("#", n, "const S: &str = r", '"x";\n')),
    "format": (
        "c cpp",
        lambda n: repeat("%s", n, '#include <stdio.h>\nvoid f(void) { printf("', '"); }\n'),
    ),
    "digits": ("c cpp rs", lambda n: repeat("9", n, "int x = ", ";\n")),
    "name": ("c cpp rs", lambda n: repeat("a", n, "int ", ";\n")),
    "blanks": ("c cpp rs", lambda n: repeat(" ", n, "int", "f(void);\n")),
    "blanks-in-call": ("c cpp", lambda n: repeat(" ", n, _C + "free(", "p);\n}\n")),
    "newlines": ("c cpp rs", lambda n: repeat("\n", n, "int", "f(void);\n")),
    "returns": ("c cpp rs", lambda n: repeat("int x;\r", n)),
    "one-line": ("c cpp", lambda n: repeat("if (n) p[n] = 0; ", n, _C.strip(), "}")),
    "letters": ("c cpp rs", lambda n: repeat("é𝒳字", n, "int ", ";\n")),
    "wrong-bytes": ("c cpp rs", lambda n: repeat("\udcff\udc80", n // 2, "int x; ", "\n")),
    "zeros": ("c cpp rs", lambda n: repeat("x\0", n, "int y;\n")),
    "formfeeds": ("c cpp rs", lambda n: repeat("\f\v\x85\u2028", n, "int", "x;\n")),
    "directions": ("c cpp rs", lambda n: repeat("\u202e\u2066", n, "// ", "\n")),
    # Nonsense.
    "soup": ("c cpp", lambda n: soup(_TOKENS, n)),
    "soup-rust": ("rs", lambda n: soup(_RUST_TOKENS, n)),
    "semicolons": ("c cpp rs", lambda n: ";" * n),
    "hashes": ("c cpp rs", lambda n: "#" * n),
    "templates": ("cpp", lambda n: repeat("template <class T> ", n, "", "void f() {}\n")),
    "template-arguments": ("cpp", lambda n: nested("A<", ">", n, "", " x;\n")),
    "scopes": ("cpp", lambda n: repeat("a::", n, "int x = ", "b;\n")),
    "catches": ("cpp", lambda n: repeat("try { g(); } catch (...) { ", n, "void f() ", "")),
    "operators": ("cpp", lambda n: repeat("<< n ", n, "void f(int n) { std::cout ", "; }\n")),
    "unsafe-blocks": ("rs", lambda n: nested("unsafe {", "}", n, _RUST, "}\n")),
    "where": ("rs", lambda n: repeat("T: A, ", n, "fn f<T>() where ", "{}\n")),
    "uses": ("rs", lambda n: nested("a::{", "}", n, "use ", ";\n")),
    "types": ("rs", lambda n: nested("Vec<", ">", n, "type T = ", ";\n")),
}
"""Languages of each shape, and its text for a size."""


def main() -> int:
    """Measure, print the table, return 1 when a target is missed."""
    chosen = set(sys.argv[1:])
    table = Table("Hostile files, each scanned by a process of its own")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        start = least(place)
        results = [scan(file, size) for file, size in files(place, chosen)]
    over = [m for m in results if m.seconds - start > SECONDS_PER_MB * max(1, m.megabytes)]
    for measured in sorted(over, key=lambda m: -m.seconds):
        print(f"  {measured.name}: {measured.seconds - start:.1f} CPU s")
    for measured in results:
        if measured.status != 0:
            print(f"  {measured.name}: exit status {measured.status}")
    table.note("files", len(results))
    table.at_most("more than 2 CPU s for each MB begun", len(over), 0)
    table.at_most("another exit status than 0", sum(m.status != 0 for m in results), 0)
    table.at_most("memory, the most", max(m.memory for m in results), MEMORY_MB, "MB")
    return table.finish()


def files(place: Path, chosen: set[str]) -> Iterator[tuple[Path, int]]:
    """Write the files one after the other; yield each with its size in bytes."""
    for shape, (languages, text) in SHAPES.items():
        if chosen and shape not in chosen:
            continue
        for language in languages.split():
            for size in SIZES:
                flaw = RUST_FLAW if language == "rs" else FLAW
                data = (flaw + text(size)).encode("utf-8", "surrogateescape")
                path = place / f"{shape}-{size // 1000}k.{language}"
                path.write_bytes(data)
                yield path, len(data)
                path.unlink()


def least(place: Path) -> float:
    """Return the CPU seconds of scanning next to nothing."""
    path = place / "least.c"
    path.write_text(FLAW)
    found = min(scan(path, 0).seconds for _ in range(3))
    path.unlink()
    return found


def scan(path: Path, size: int) -> Measured:
    """Scan one file in a process with children of its own, and measure all of them."""
    command = [sys.executable, "-m", "jarvis_ls.cli.jsec", "scan", str(path), "--no-cache"]
    process = subprocess.Popen(
        [*command, "--format", "json", "--jobs", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Measured(
        path.name,
        size / 1e6,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1000,
        process.returncode,
    )


if __name__ == "__main__":
    sys.exit(main())
