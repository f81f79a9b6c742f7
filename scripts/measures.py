"""Measure the shape of the code: import circles, names, docstrings, parameters, lengths of pages.

Run ``npm run check -- --measures``; with ``--list NAME`` the places behind one number are printed.
The status is 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "server" / "jarvis_ls"
LIMITS = {
    "circles": 0,
    "dodges": 0,
    "participles": 2.0,
    "one": 0,
    "fmt": 0,
    "re-exports": 0,
    "D401": 0,
    "what": 0,
    "parameters": 0,
    "README.md": 700,
    "server/ARCHITECTURE.md": 900,
    "CHANGELOG.md": 150,
}
"""The largest value of each measure; participles in per cent of all functions, pages in words, the
changelog in lines."""
IRREGULAR = frozenset(
    "begun born bought bound brought built caught chosen come cut done drawn driven felt found "
    "forgotten given gone grown heard held hidden kept known laid lain led left lent lost made "
    "meant met paid put read ridden risen run said seen sent set shown shut spent split spoken "
    "stolen struck sung sunk taken taught thought thrown told torn understood undone won worn "
    "wound woven written".split()
)
NOUNS_AND_VERBS = frozenset(
    "cut put read run set shut split left need feed seed speed shed".split()
)
"""Words that end like a participle, or are written like one, and are verbs or nouns as well."""
PARTICIPLE = re.compile(r"[a-z]{2,}ed$")
QUESTIONS = ("What", "Whether", "Where", "Which", "How", "Why", "Who", "Whose")


def circles() -> list[str]:
    """Return the circles of modules, imports for type checking included."""
    graph = {module: set(imports(module)) for module in modules()}
    return [" <-> ".join(sorted(knot)) for knot in components(graph) if len(knot) > 1]


def dodges() -> list[str]:
    """Return imports inside functions that would close a circle if they stood at the top."""
    graph = {module: set(imports(module)) for module in modules()}
    top = {module: set(imports(module, inner=False)) for module in modules()}
    found = []
    for module, wanted in graph.items():
        for target in wanted - top[module]:
            if module in reachable(top, target):
                found.append(f"{module} -> {target}")
    return found


def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(module: str, inner: bool = True) -> Iterator[str]:
    """Yield the modules of the package that a module imports, without `inner` at the top only."""
    known = _KNOWN
    tree = _tree(known[module])
    for node in ast.walk(tree) if inner else _top(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                target = whole if whole in known else node.module
                if target in known and target != module:
                    yield target
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in known and a.name != module)


def _top(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes outside of functions."""
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _top(child)


def components(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the strongly connected components (Tarjan, 1972), without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[set[str]] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(graph.get(target, ())))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    knot = set()
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        knot.add(member)
                        if member == node:
                            break
                    found.append(knot)
    return found


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return what can be reached from a module, itself included."""
    seen, waiting = {start}, [start]
    while waiting:
        for target in graph.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every function of the package with its place."""
    for path in _KNOWN.values():
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}", node


def participles() -> list[str]:
    """Return functions that are named by a bare participle."""
    return [place for place, node in functions() if _is_participle(node.name.strip("_"))]


def _is_participle(name: str) -> bool:
    if name in NOUNS_AND_VERBS:
        return False
    return name in IRREGULAR or bool(PARTICIPLE.match(name))


def one() -> list[str]:
    """Return variables and parameters that are called `one`."""
    found = []
    for path in _KNOWN.values():
        for node in ast.walk(_tree(path)):
            stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            name = node.id if stored else node.arg if isinstance(node, ast.arg) else ""  # type: ignore[attr-defined]
            if name == "one":
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")  # type: ignore[attr-defined]
    return found


def formatter_switches() -> list[str]:
    """Return lines that switch the formatter off, in every Python file of the repository."""
    return [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in ("server", "tests", "scripts")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if "# fmt: " in line
    ]


def re_exports() -> list[str]:
    """Return modules that offer the names of others by `__all__`."""
    return [
        str(path.relative_to(ROOT))
        for path in _KNOWN.values()
        if re.search(r"^__all__", path.read_text("utf-8"), re.MULTILINE)
    ]


def question_docstrings() -> list[str]:
    """Return docstrings of functions that begin with a question word."""
    return [
        place
        for place, node in functions()
        if (ast.get_docstring(node) or "").startswith(QUESTIONS)
    ]


def many_parameters() -> list[str]:
    """Return functions with more than eight parameters, `self` left out.

    The signature of a tool is the flat schema that models read: tools are not counted.
    """
    found = []
    for place, node in functions():
        if any(ast.unparse(decorator).startswith("tool(") for decorator in node.decorator_list):
            continue
        arguments = node.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        if len([name for name in names if name not in ("self", "cls")]) > 8:
            found.append(place)
    return found


def docstrings_without_verb() -> list[str]:
    """Return what ruff's D401 finds."""
    command = [sys.executable, "-m", "ruff", "check", "--select", "D401", "--isolated"]
    command += ["--output-format", "concise", "server"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return [line for line in ran.stdout.splitlines() if " D401 " in line]


def words(page: str) -> int:
    """Return how many words a page has; 0 where there is none."""
    path = ROOT / page
    return len(path.read_text("utf-8").split()) if path.exists() else 0


def main() -> int:
    """Print each measure beside its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", metavar="NAME", help="print the places behind one measure")
    options = parser.parse_args()
    places = {
        "circles": circles,
        "dodges": dodges,
        "participles": participles,
        "one": one,
        "fmt": formatter_switches,
        "re-exports": re_exports,
        "D401": docstrings_without_verb,
        "what": question_docstrings,
        "parameters": many_parameters,
    }
    if options.list:
        print("\n".join(places[options.list]()))
        return 0
    values: dict[str, float] = {name: len(find()) for name, find in places.items()}
    values["participles"] = round(100 * values["participles"] / sum(1 for _ in functions()), 2)
    values |= {page: words(page) for page in ("README.md", "server/ARCHITECTURE.md")}
    values["CHANGELOG.md"] = len((ROOT / "CHANGELOG.md").read_text("utf-8").splitlines())
    missed = 0
    for name, limit in LIMITS.items():
        good = values[name] <= limit
        missed += not good
        print(f"{'ok    ' if good else 'MISSED'} {name:24} {values[name]:>8g}   at most {limit:g}")
    return 1 if missed else 0


_KNOWN = modules()
_TREES: dict[Path, ast.Module] = {}


def _tree(path: Path) -> ast.Module:
    if path not in _TREES:
        _TREES[path] = ast.parse(path.read_text("utf-8"))
    return _TREES[path]


if __name__ == "__main__":
    sys.exit(main())
