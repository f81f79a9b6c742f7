"""What following values costs: a scan, shapes made to be slow, an edit, a change in a tree."""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]  # so that `tests` is found

from jarvis_ls.codeintel.declarations import Facts  # noqa: E402
from jarvis_ls.codeintel.functions import Unit  # noqa: E402
from jarvis_ls.codeintel.languages import LanguageName  # noqa: E402
from jarvis_ls.codeintel.parse import parse  # noqa: E402
from jarvis_ls.codeintel.source import Source  # noqa: E402
from jarvis_ls.jsec.flow.lower.c.file import lower  # noqa: E402
from jarvis_ls.jsec.flow.program.file_outline import outline_of  # noqa: E402
from jarvis_ls.jsec.flow.program.program import Program  # noqa: E402
from jarvis_ls.jsec.scan.file_scanner import analysis_of  # noqa: E402
from tests.bench.measure import cost, tree  # noqa: E402
from tests.bench.measure.jsec import scan  # noqa: E402
from tests.bench.measure.table import Table  # noqa: E402
from tests.lsp.wire import OURS, Wire, wire  # noqa: E402
from tests.support.compiled import compiled  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PARSE_ONLY = Path(__file__).parent / "measure" / "parse_only.py"
TIMES_CPPCHECK = 5
EDITED = (
    (4_000, 20, ("libpng1.6/pngrutil.c",)),
    (22_000, 100, ("sqlite3/src/btree.c", "sqlite3/src/expr.c", "sqlite3/src/select.c")),
)
"""Lines of a file that is edited, milliseconds that an edit may take, and what it is made of."""
EDITS = 60
FILES = 300
CHANGES = 20
N = 200
"""Size of the smallest of each shape; the others are twice and four times that."""


def main() -> int:
    """Measure, print the table, return the exit status."""
    table = Table("What following values costs")
    of_scan(table)
    of_growth(table)
    for lines, limit, sources in EDITED:
        of_edit(table, lines, limit, sources)
    of_tree(table)
    return table.finish()


def of_scan(table: Table) -> None:
    """A whole scan against parsing alone and cppcheck."""
    with tree.copy_of(*tree.PROGRAMS) as root, tempfile.TemporaryDirectory() as folder:
        package = compiled(Path(folder))
        for where in (None, package):  # byte code is there, as in an installed jsec
            scan(root / tree.PROGRAMS[0], "--no-cache", package=where)
        parsed = json.loads(cost.run([cost.python(), PARSE_ONLY, root]).output)
        flow = scan(root, "--jobs", "1", "--no-cache", package=package).cost
        python = scan(root, "--jobs", "1", "--no-cache").cost
        cppcheck = cost.run(
            ["cppcheck", "--quiet", "--enable=warning,style", *parsed["files"]],
            cpu_limit=1.2 * TIMES_CPPCHECK * python.cpu,
        )
    table.note("scan with flow, one job, no cache, compiled", flow.cpu, "CPU s")
    table.note("the same from the wheel that is only Python", python.cpu, "CPU s")
    table.note("parsing alone", parsed["seconds"], "CPU s")
    table.note("cppcheck" + ("" if cppcheck.finished else ", ended here"), cppcheck.cpu, "CPU s")
    table.at_most("scan with flow, compiled / parsing alone", flow.cpu / parsed["seconds"], 6, "x")
    table.at_most("the same, only Python / parsing alone", python.cpu / parsed["seconds"], 15, "x")
    table.at_least("cppcheck / only Python", cppcheck.cpu / python.cpu, TIMES_CPPCHECK, "x")
    table.at_most("memory of the scan with flow", max(flow.memory, python.memory), 600, "MB")


def of_growth(table: Table) -> None:
    """Lowering and following one file of each shape, at n, 2n and 4n."""
    for name, shape in SHAPES.items():
        times = [min(_followed(shape(size)) for _ in range(2)) for size in (N, 2 * N, 4 * N)]
        ratio = max(after / before for before, after in itertools.pairwise(times))
        table.at_most(f"twice as much of: {name} ({1000 * times[0]:.0f} ms at n)", ratio, 2.3, "x")


def of_edit(table: Table, length: int, limit: int, sources: tuple[str, ...]) -> None:
    """Keystrokes in so many lines of a folder, to the diagnostics that flow had its say in."""
    text = _real_file(length, sources)
    lines = [number for number, line in enumerate(text.split("\n")) if line.startswith("   ")]
    with tempfile.TemporaryDirectory() as name, wire(OURS) as server:
        folder = Path(name).resolve()
        (folder / "large.c").write_text(text)
        uri = (folder / "large.c").as_uri()
        server.initialize(folder)
        server.open(uri, text)
        quiet(server, 4)
        times = []
        for version in range(2, EDITS + 2):
            place = {"line": lines[version * 7919 % len(lines)], "character": 4}
            started = time.perf_counter()
            server.change(uri, version, {"range": {"start": place, "end": place}, "text": " "})
            wait(server, {uri: version})
            times.append((time.perf_counter() - started) * 1000)
            quiet(server, 0.3)
    what = f"edit in {length:,} lines to diagnostics, median"
    table.at_most(what, statistics.median(times), limit, "ms")


def of_tree(table: Table) -> None:
    """One function of 300 files changes; two open documents hear of it."""
    with tempfile.TemporaryDirectory() as name, wire(OURS) as server:
        folder = Path(name).resolve()
        for number in range(FILES):
            (folder / f"file{number}.c").write_text(_file_of_tree(number))
        server.initialize(folder)
        uris = [(folder / f"file{number}.c").as_uri() for number in (0, 1)]
        for number, uri in enumerate(uris):
            server.open(uri, _file_of_tree(number))
        server.request("scan", "jarvis/scanWorkspace", {}, 600)
        quiet(server, 5)
        times = []
        for version in range(2, CHANGES + 2):
            text = _file_of_tree(0, long=version % 2 == 0)
            started = time.perf_counter()
            server.change(uris[0], version, {"text": text})
            wait(server, {uris[0]: version, uris[1]: None})
            times.append((time.perf_counter() - started) * 1000)
            quiet(server, 0.3)
    what = f"one function changed among {FILES} files to all diagnostics, median"
    table.at_most(what, statistics.median(times), 150, "ms")


def wait(server: Wire, wanted: dict[str, int | None]) -> None:
    """Wait for the diagnostics of these documents, of a version where one is named."""
    left = dict(wanted)

    def one(message: Any) -> bool:
        params = message.get("params") or {}
        uri = params.get("uri")
        if uri not in left or left[uri] not in (None, params.get("version")):
            return False
        del left[uri]
        return not left

    server.wait_for(one)


def quiet(server: Wire, seconds: float) -> None:
    """Let what is under way end."""
    time.sleep(seconds)
    server.seen.clear()


def _file_of_tree(number: int, *, long: bool = False) -> str:
    """A file that hands a text to the next one, which copies it."""
    size = 64 if long else 4
    return (
        "#include <string.h>\n"
        f"void put_{(number + 1) % FILES}(const char *text);\n"
        f"void put_{number}(const char *text) {{\n    char room[16];\n    strcpy(room, text);\n}}\n"
        f"void start_{number}(void) {{\n    char text[{size}];\n"
        f"    memset(text, 'x', {size - 1});\n    text[{size - 1}] = 0;\n"
        f"    put_{(number + 1) % FILES}(text);\n}}\n"
    ) + "".join(f"int plain_{number}_{n}(int a) {{ return a + {n}; }}\n" for n in range(20))


def _real_file(length: int, names: tuple[str, ...]) -> str:
    sources = tree.sources_of("libpng1.6", "sqlite3")
    text = "".join((sources / name).read_text(encoding="utf-8") for name in names)
    return "\n".join(text.split("\n")[:length]) + "\n"


def _followed(text: str) -> float:
    """Processor seconds to lower a file and to follow each of its functions."""
    language: LanguageName = "cpp" if "namespace" in text else "c"
    source = Source(f"a.{language}", text.encode())
    tree_ = parse(source.data, language)
    began = time.process_time()
    file = lower(Unit(source, language, Facts()), tree_.root_node)
    program = Program([outline_of(file, source.data)], lambda _path, key: file.functions.get(key))
    root = analysis_of(program)
    for function in file.functions.values():
        root(function)
    return time.process_time() - began


def _nested(n: int) -> str:
    return "int f(int a) {\n" + "if (a) {\n" * n + "a++;\n" + "}\n" * n + "return a;\n}\n"


def _else_ifs(n: int) -> str:
    chain = " else ".join(f"if (a == {i}) {{ a = {i + 1}; }}" for i in range(n))
    return f"int f(int a) {{\n{chain}\nreturn a;\n}}\n"


def _switch(n: int) -> str:
    cases = "".join(f"case {i}: a += {i}; break;\n" for i in range(n))
    return f"int f(int a) {{\nswitch (a) {{\n{cases}}}\nreturn a;\n}}\n"


def _locals(n: int) -> str:
    names = "".join(f"int v{i} = a + {i};\nif (v{i} > 3) v{i}--;\n" for i in range(n))
    return f"int f(int a) {{\n{names}return v{n - 1};\n}}\n"


def _circle(n: int) -> str:
    heads = "".join(f"int f{i}(int a);\n" for i in range(n))
    bodies = "".join(
        f"int f{i}(int a) {{ return a ? f{(i + 1) % n}(a - 1) + f{(i + 7) % n}(a) : 0; }}\n"
        for i in range(n)
    )
    return heads + bodies


def _loops(n: int) -> str:
    one = "for (int i = 0; i < a; i++) { if (b[i % 8] > i) b[i % 8] -= i; }\n"
    return "int f(int a) {\nint b[8] = {0};\n" + one * n + "return b[0];\n}\n"


def _jumps(n: int) -> str:
    labels = "".join(f"l{i}: if (a-- > {i}) goto l{(i * 7 + 3) % n};\n" for i in range(n))
    return f"int f(int a) {{\n{labels}return a;\n}}\n"


def _namespaces(n: int) -> str:
    one = "namespace n {\nint f(int a) { return a; }\n"
    return one * n + "}\n" * n + "int g(int a) { return a; }\n" * n


SHAPES: dict[str, Callable[[int], str]] = {
    "ifs inside of each other": _nested,
    "else-ifs": _else_ifs,
    "cases of a switch": _switch,
    "locals": _locals,
    "functions that call each other": _circle,
    "loops": _loops,
    "gotos": _jumps,
    "namespaces": _namespaces,
}

if __name__ == "__main__":
    sys.exit(main())
