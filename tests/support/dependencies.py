"""The files that a file of tests depends on, computed from what it imports, starts and names.

Edges of the graph: an import, also one inside a function, but none for types alone; a string that
is the dotted name of a module (a process started by `-m`), or a command of ours; in a module that
walks packages by `pkgutil`, every module below the packages it imports. In a file of tests also a
string that is a path below the repository or beside the file, or a name in `tests/support`. A
module brings the data files of its folder. What `ALWAYS` holds counts for every file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
SERVER = ROOT / "server"
PACKAGE = "jarvis_ls"

ALWAYS = (ROOT / "requirements.lock", TESTS / "support" / "properties.py")
"""The versions of the tools, and how many examples a property is tried on."""
CATALOGS = {
    "jarvis_ls.lsp.user_messages": ("lsp", "jsec", "harness", "jc2r"),
    "jarvis_ls.jc2r.run.process": ("harness", "jc2r"),
}
"""Modules that put together the paths of catalogs of other packages."""

_QUOTED = re.compile(r"""["'](jarvis_ls(?:\.\w+)+)(\.\{)?""")
_DOTTED = re.compile(r"\b(jarvis_ls(?:\.\w+)+)(\.\{)?")
_STARTED = re.compile(r"""(?:-m["'], |quick\()["'](jarvis_ls)["']()""")
_SCRIPT = re.compile(r"""with_name\(["']([\w-]+)["']\)""")
_SCRIPTS = dict(
    re.findall(
        r'^([\w-]+) = "(jarvis_ls[\w.]+):main"$',
        (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)
"""The modules of the commands that an installation has beside its Python."""
_SIBLING = re.compile(r"""["'](\w+\.py)["']""")
_WALKS = re.compile(r"^import pkgutil$", re.MULTILINE)


def dependencies(test: Path) -> frozenset[Path]:
    """Return the files, with `test` itself, that decide how a file of tests ends."""
    files, modules = _from_tests(test)
    return frozenset({*ALWAYS, *files, *module_files(modules)})


def module_files(modules: Iterable[str]) -> frozenset[Path]:
    """Return the files of modules of the package, and of all that these import."""
    seen: set[str] = set()
    left = list(modules)
    while left:
        module = left.pop()
        if module in seen:
            continue
        seen.add(module)
        left += _leads_to(module)
    return frozenset(file for module in seen for file in _files_of(module))


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)


@cache
def _path(module: str) -> Path:
    folder = SERVER.joinpath(*module.split("."))
    file = folder.with_suffix(".py")
    return file if file.is_file() else folder / "__init__.py"


@cache
def _text(module: str) -> str:
    return _path(module).read_text(encoding="utf-8")


@cache
def _leads_to(module: str) -> frozenset[str]:
    """Return the modules that one brings along: imported, named, walked, and its packages."""
    imported = _graph().find_modules_directly_imported_by(module)
    found = {*imported, *_named(_text(module), _QUOTED)}
    if _WALKS.search(_text(module)):
        found |= {below for package in imported for below in _graph().find_descendants(package)}
    if "." in module:
        found.add(module.rpartition(".")[0])
    siblings = (_path(module).with_name(name) for name in _SIBLING.findall(_text(module)))
    return frozenset(found | {_module(path) for path in siblings if path.is_file()})


def _named(text: str, *patterns: re.Pattern[str]) -> Iterator[str]:
    """Yield the modules whose names stand in a text; all of a package when the name goes on."""
    for pattern in patterns:
        for name, goes_on in pattern.findall(text):
            while name not in _graph().modules:  # a name of what a module holds
                name = name.rpartition(".")[0]
            yield name
            if goes_on:
                yield from _graph().find_descendants(name)
            if pattern is _STARTED:
                yield f"{name}.__main__"


def _module(path: Path) -> str:
    parts = path.relative_to(SERVER).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _files_of(module: str) -> frozenset[Path]:
    path = _path(module)
    catalogs = (SERVER / PACKAGE / part / "locale" for part in CATALOGS.get(module, ()))
    folders = (folder for folder in path.parent.iterdir() if _holds_data(folder))
    data = [file for file in path.parent.iterdir() if file.suffix != ".py" and is_source(file)]
    for folder in (*folders, *catalogs):
        data += filter(is_source, folder.rglob("*"))
    return frozenset({path, *data})


@cache
def _holds_data(folder: Path) -> bool:
    """Return whether a folder of a package is no package but holds data of it."""
    return folder.is_dir() and folder.name != "__pycache__" and not any(folder.rglob("*.py"))


def is_source(path: Path) -> bool:
    """Return whether a path is a file that a test may depend on."""
    return path.is_file() and "__pycache__" not in path.parts and path.name != "README.md"


def _from_tests(test: Path) -> tuple[set[Path], set[str]]:
    """Return what a file of tests leads to: files outside the package, and modules in it."""
    files: set[Path] = set()
    modules: set[str] = set()
    left = [test]
    while left:
        file = left.pop()
        if file in files:
            continue
        files.add(file)
        if file.suffix == ".py":
            more, named = _from_file(file)
            left += more
            modules |= named
    return files, modules


@cache
def _from_file(file: Path) -> tuple[frozenset[Path], frozenset[str]]:
    """Return the files that one of the tests names or imports, and the modules of the package."""
    files: set[Path] = set()
    text = file.read_text(encoding="utf-8")
    modules = set(_named(text, _DOTTED, _STARTED))
    modules |= {_SCRIPTS[name] for name in _SCRIPT.findall(text) if name in _SCRIPTS}
    tree = ast.parse(text)
    for name in _imports(tree):
        if name.partition(".")[0] == PACKAGE:
            modules |= {name} & _graph().modules
        else:
            files |= set(_helpers(file, name))
    for place in _places(tree, file):
        if place.is_relative_to(SERVER / PACKAGE):
            modules |= _below(place)
        files |= set(filter(is_source, place.rglob("*") if place.is_dir() else [place]))
    return frozenset(files), frozenset(modules)


def _below(place: Path) -> set[str]:
    """Return the modules at or below a path of the package."""
    paths = place.rglob("*.py") if place.is_dir() else [place]
    return {_module(path) for path in paths if path.suffix == ".py"}


def _imports(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names that may be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _helpers(file: Path, name: str) -> Iterator[Path]:
    """Yield the file of a module of the tests, with the packages it is in."""
    parts = name.split(".")
    bases = (file.parent, *(folder for folder in file.parents if folder.is_relative_to(ROOT)), ROOT)
    for base in dict.fromkeys(bases):
        for length in range(1, len(parts) + 1):
            path = base.joinpath(*parts[:length])
            yield from filter(Path.is_file, (path.with_suffix(".py"), path / "__init__.py"))


def _places(tree: ast.AST, file: Path) -> Iterator[Path]:
    """Yield files and folders of the repository that strings of a file of tests name: a path, the
    parts of one that `/` joins, as in `ROOT / "tests" / "jsec"`, or a helper in `tests/support`."""
    bases = (ROOT, TESTS, SERVER, file.parent, TESTS / "support")
    for name in _paths(tree):
        for base in bases:
            place = base / name
            if place.is_relative_to(ROOT) and place.exists() and not _MADE & set(place.parts):
                yield place


_MADE = {"node_modules", "out", "dist"}
"""Folders that no one writes by hand."""
_PLACE = re.compile(r"[\w-][\w.-]*(/\w[\w.-]*)*")
_NAME = re.compile(r"[\w-]+\.\w+")


def _paths(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from _joined(node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if ("/" in node.value and _PLACE.fullmatch(node.value)) or _NAME.fullmatch(node.value):
            yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _paths(child)


def _joined(node: ast.expr) -> Iterator[str]:
    """Yield the strings at the end of a path that `/` joins, and what its other parts name."""
    parts: list[str] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        if isinstance(node.right, ast.Constant) and isinstance(node.right.value, str):
            parts.insert(0, node.right.value)
        else:
            yield from _paths(node.right)
            parts.clear()
        node = node.left
    yield from _paths(node)
    name = "/".join(parts)
    if _PLACE.fullmatch(name) and name not in ("tests", "server") and _is_of_sources(node):
        yield name


def _is_of_sources(node: ast.expr) -> bool:
    """Return whether a path begins at a constant or at the file itself, not in a test's folder."""
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return "__file__" in names or any(name.isupper() for name in names)
