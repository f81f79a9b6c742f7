"""`.jarvis/c2rust/config.json`: what the user wants moved to Rust, and how."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from jarvis_ls.core.errors import ConfigError, JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import keep_out_of_git, read_regular, replace_file, state_folder
from jarvis_ls.core.lock import Lock

HEADERS = (".h", ".hh", ".hpp", ".hxx")
FOLDER = "c2rust"


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one project."""

    root_symbols: tuple[str, ...] = ()
    """Functions the Rust side must offer; empty means all that the project never calls."""
    disabled_libraries: tuple[str, ...] = ()
    """Crates that must not be used."""
    additional_notes: str = ""
    """What every prompt ends with."""


def folder_of(root: Path) -> Path:
    """`.jarvis/c2rust` of a project, made when missing. Raises `JarvisError`."""
    folder = state_folder(root, FOLDER)
    keep_out_of_git(folder, "*", "!config.json", "!cases.jsonl")  # these two a user has made
    return folder


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other runs away from a project, by its `.jarvis/c2rust`: two would write the same crate.
    Raises `JarvisError` naming who works on it."""
    lock = Lock.take(folder / "lock")
    if isinstance(lock, str):
        raise JarvisError(
            ("Another run is using this project ({lock}): wait for it to finish, or stop it."),
            lock=lock,
        )
    try:
        yield
    finally:
        lock.release()


def read_config(root: Path) -> Config:
    """Return the settings; defaults when there are none. Raises `ConfigError` naming what is
    wrong.
    """
    path = folder_of(root) / "config.json"
    if not path.exists():
        return Config()
    try:
        data = json.loads(read_regular(path, limit=1_000_000))
    except (SkippedFile, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(data, dict):
        raise ConfigError("{path}: it must be an object.", path=path)
    notes = data.get("additional_notes", "")
    if not isinstance(notes, str):
        raise ConfigError("{path}: additional_notes must be a string.", path=path)
    return Config(
        _names(path, data, "root_symbols"), _names(path, data, "disabled_libraries"), notes
    )


def write_config(root: Path, config: Config) -> None:
    """Replace the settings. Raises `JarvisError`."""
    text = json.dumps(asdict(config), ensure_ascii=False, indent=2) + "\n"
    replace_file(folder_of(root) / "config.json", text.encode())


def with_roots(config: Config, names: Iterable[str]) -> Config:
    """`config` with more root functions; each once, `main` never."""
    known = dict.fromkeys((*config.root_symbols, *(name.strip() for name in names)))
    return replace(config, root_symbols=tuple(n for n in known if n and n != "main"))


def names_in(path: Path, root: Path) -> list[str]:
    """Return the function names in a file: of a header those it declares, of another file one a
    line. Lines that begin with `#` are left out. Raises `UsageError` when it cannot be read.

    Lines that begin with `#` are left out. Raises `UsageError` when it cannot be read.
    """
    if path.suffix.lower() in HEADERS:
        return declared_in(path, root)
    try:
        text = read_regular(path, limit=10_000_000).decode("utf-8", "replace")
    except SkippedFile as error:
        raise UsageError(f"{path}: {error.reason}") from None
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def declared_in(path: Path, root: Path) -> list[str]:
    """Names of the functions a header itself declares or defines, in order."""
    from jarvis_ls.codeintel import clang

    if not path.is_file():
        raise UsageError("{path}: no such file.", path=path)
    language = "c" if path.suffix.lower() == ".h" else "c++"
    arguments = ["-x", f"{language}-header", f"-I{path.parent}", f"-I{root}"]
    unit, problems = clang.parse(path, arguments)
    kinds = clang.cindex().CursorKind
    found: dict[str, None] = {}
    stack = [unit.cursor]
    while stack:
        for cursor in clang.children(stack.pop()):
            file = cursor.location.file
            if file is None or Path(file.name) != path:
                continue
            if cursor.kind in (kinds.FUNCTION_DECL, kinds.CXX_METHOD):
                found[_qualified_name(cursor)] = None
            elif cursor.kind in (
                kinds.NAMESPACE,
                kinds.LINKAGE_SPEC,
                kinds.CLASS_DECL,
                kinds.STRUCT_DECL,
                kinds.UNEXPOSED_DECL,
            ):
                stack.append(cursor)
    if not found and problems:
        raise JarvisError(f"{path}:{problems[0].line}: {problems[0].text}")
    return list(found)


def _qualified_name(cursor: object) -> str:
    names = []
    while cursor is not None and getattr(cursor, "kind", None) is not None:
        if cursor.kind.is_translation_unit():  # type: ignore[attr-defined]
            break
        if cursor.kind.name != "LINKAGE_SPEC" and cursor.spelling:  # type: ignore[attr-defined]
            names.append(str(cursor.spelling))  # type: ignore[attr-defined]
        cursor = cursor.semantic_parent  # type: ignore[attr-defined]
    return "::".join(reversed(names))


def _names(path: Path, data: dict[str, object], key: str) -> tuple[str, ...]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ConfigError("{path}: {key} must be a list of names.", path=path, key=key)
    return tuple(value)
