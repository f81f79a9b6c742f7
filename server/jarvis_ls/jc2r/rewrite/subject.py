"""One function of the crate that may be rewritten: its C, its Rust, and where both are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.store import read_records
from jarvis_ls.jc2r.lift.rust import Source, field, name_of, parse_source, variable_of
from jarvis_ls.jc2r.translate.names import spellings

_LARGEST = 64_000_000
_HEAD = b"//! "


@dataclass(frozen=True, slots=True)
class Subject:
    """A function as C and as Rust."""

    file: str
    """C file, relative to the project."""
    name: str
    line: int
    end_line: int
    c: str
    """Its C."""
    module: Path
    """File of its Rust, relative to the crate."""
    rust: str
    """Its Rust, with attributes and comments above it."""

    @property
    def key(self) -> tuple[str, str]:
        """Return what names it in records."""
        return self.file, self.name

    @property
    def inner(self) -> str:
        """Return what its safe form is called when the signature is another."""
        return f"{self.name}_safe"

    @property
    def rust_name(self) -> str:
        """Return what its Rust is called."""
        found = function_of(self.rust, self.name)
        return self.name if found is None else name_of(found[1])


def read_subjects(root: Path, crate: Path, folder: Path) -> list[Subject]:
    """Return the functions of a crate that came from C, callees before callers; `folder` is
    `.jarvis/c2rust`. What is not found in both, and programs' `main`, are left out."""
    modules = dict(_modules(crate))
    sources: dict[Path, Source | None] = {}
    found = []
    for file, name, line, end_line in _in_order(folder):
        module = modules.get(file)
        if module is None or name == "main":
            continue
        if module not in sources:
            sources[module] = _source(crate, module)
        source = sources[module]
        rust = None if source is None else item_text(source, name)
        c = _lines(root / file, line, end_line)
        if rust is not None and c:
            found.append(Subject(file, name, line, end_line, c, module, rust))
    return found


def find_item(source: Source, name: str) -> tuple[int, int] | None:
    """Return the bytes of a function with its attributes and comments; None when there is none."""
    function = named(source, name)
    return None if function is None else (first_of(function).start_byte, function.end_byte)


def named(source: Source, name: str) -> Node | None:
    """Return the function that `name` of C has become; None when there is none."""
    functions = {name_of(function): function for function in reversed(source.functions)}
    return next((functions[word] for word in spellings(name) if word in functions), None)


def item_text(source: Source, name: str) -> str | None:
    """Return the text of a function with its attributes and comments."""
    place = find_item(source, name)
    return None if place is None else source.data[place[0] : place[1]].decode("utf-8", "replace")


def first_of(function: Node) -> Node:
    """Return the first of a function's attributes and documentation, else itself."""
    first = function
    while (before := first.prev_sibling) is not None and (
        before.type in ("attribute_item", "line_comment", "block_comment")
        and before.end_point[0] >= first.start_point[0] - 1
        and not (before.text or b"").startswith(b"//!")
    ):
        first = before
    return first


def function_of(text: str, name: str = "") -> tuple[Source, Node] | None:
    """Return the function `name` of a Rust text, or its first; None when there is none."""
    source = parse_source(Path(), text.encode())
    function = named(source, name) if name else next(iter(source.functions), None)
    return None if function is None else (source, function)


def parameters_of(source: Source, function: Node) -> dict[str, str]:
    """Return the types of a function's parameters by their names, in order."""
    parameters = field(function, "parameters")
    found = {}
    for parameter in parameters.named_children if parameters is not None else ():
        kind = field(parameter, "type") if parameter.type == "parameter" else None
        name = variable_of(source, parameter).decode("utf-8", "replace")
        if kind is not None:
            found[name] = source.text(kind).decode("utf-8", "replace")
    return found


def result_of(source: Source, function: Node) -> str:
    """Return the type of a function's result; empty when there is none."""
    result = field(function, "return_type")
    return "" if result is None else source.text(result).decode("utf-8", "replace")


def replace_item(data: bytes, name: str, text: str) -> bytes | None:
    """Return a file in which a function is another text; None when the function is not there."""
    source = parse_source(Path(), data)
    place = find_item(source, name)
    return None if place is None else data[: place[0]] + text.encode() + data[place[1] :]


def _modules(crate: Path) -> Iterator[tuple[str, Path]]:
    """Yield the C file that each module says it is of."""
    for path in sorted([*(crate / "src").glob("*.rs"), *(crate / "src" / "bin").glob("*.rs")]):
        source = _source(crate, path.relative_to(crate))
        first = b"" if source is None else source.data.partition(b"\n")[0]
        if first.startswith(_HEAD):
            yield first.removeprefix(_HEAD).decode("utf-8", "replace"), path.relative_to(crate)


def _source(crate: Path, module: Path) -> Source | None:
    try:
        return parse_source(crate / module, read_regular(crate / module, limit=_LARGEST))
    except SkippedFile:
        return None


def _lines(path: Path, line: int, end_line: int) -> str:
    try:
        text = read_regular(path, limit=_LARGEST).decode("utf-8", "replace")
    except SkippedFile:
        return ""
    return "\n".join(text.split("\n")[line - 1 : end_line])


def _in_order(folder: Path) -> Iterator[tuple[str, str, int, int]]:
    """Yield file, name and lines of the functions in the order of translation."""
    for step in read_records(folder / "translation_order.jsonl"):
        items = step.get("items") if isinstance(step, dict) else None
        for item in items if isinstance(items, list) else ():
            if not isinstance(item, Mapping) or item.get("category") != "function":
                continue
            values = (item.get("file"), item.get("name"))
            lines = (item.get("start_line"), item.get("end_line"))
            if all(isinstance(v, str) for v in values) and all(isinstance(n, int) for n in lines):
                yield str(values[0]), str(values[1]), int(str(lines[0])), int(str(lines[1]))
