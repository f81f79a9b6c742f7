"""Which file an import means, by the paths that each language looks for."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from jarvis_ls.codeintel.graph.languages import family_of
from jarvis_ls.codeintel.graph.records import Import
from jarvis_ls.codeintel.graph.store import File, SymbolStore

_INDEX = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Names of files that stand for their folder."""
_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts")


def importers_of(store: SymbolStore, target: File) -> list[File]:
    """Return the files that import a file, by path."""
    found: dict[int, File] = {}
    for part in _parts_naming(target):
        for file, item in store.importing(part):
            if file.id != target.id and is_import_of(item, file, target):
                found[file.id] = file
    return sorted(found.values(), key=lambda file: file.path)


def is_import_of(item: Import, importer: File, target: File) -> bool:
    """Return whether an import in one file means another."""
    if family_of(importer.language) != family_of(target.language):
        return False
    match importer.language:
        case "python":
            return _is_python(item, importer.path, target.path)
        case "c" | "cpp":
            return _is_below(target.path, posixpath.normpath(item.module)) or (
                posixpath.normpath(posixpath.join(posixpath.dirname(importer.path), item.module))
                == target.path
            )
        case "go":
            folder = posixpath.dirname(target.path)
            return bool(folder) and (
                item.module == folder
                or item.module.endswith("/" + folder)
                or _last(item.module) == _last(folder)
            )
        case "java":
            module = item.module.replace(".", "/")
            stem = target.path.rpartition(".")[0]
            return _is_below(stem, module) or _is_below(stem, posixpath.dirname(module))
        case "rust":
            return True  # the words of the path were compared already
        case _:
            return _is_script(item.module, importer.path, target.path)


def _parts_naming(target: File) -> Iterator[str]:
    """Yield the words of an import that may mean a file."""
    folder, _, name = target.path.rpartition("/")
    stem = name.partition(".")[0]
    if target.language in ("c", "cpp"):
        yield name.split(".")[0]
        return
    if target.language == "go":
        yield _last(folder)
        return
    yield stem
    if stem in _INDEX and folder:
        yield _last(folder)


def _is_python(item: Import, importer: str, target: str) -> bool:
    module = item.module
    level = len(module) - len(module.lstrip("."))
    names = module.lstrip(".").replace(".", "/")
    stem = target.rpartition(".")[0]
    if stem.endswith("/__init__"):
        stem = stem[: -len("/__init__")]
    wanted = [names] if names else []
    if item.item:
        wanted.append(f"{names}/{item.item}" if names else item.item)
    if not level:
        return any(_is_below(stem, name) for name in wanted)
    folder = importer
    for _ in range(level):
        folder = posixpath.dirname(folder)
    wanted = [posixpath.join(folder, name) for name in wanted] or [folder]
    return stem in wanted or (stem == folder and not names)


def _is_script(module: str, importer: str, target: str) -> bool:
    if not module.startswith("."):
        stem = _stem(target)
        return _is_below(stem, _stem(module)) or _is_below(posixpath.dirname(target), module)
    wanted = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
    return (
        wanted in (target, _stem(target))
        or _stem(wanted)
        in (
            _stem(target),
            posixpath.dirname(target) if _stem(_last(target)) == "index" else None,
        )
        or (_stem(_last(target)) == "index" and wanted == posixpath.dirname(target))
    )


def _stem(path: str) -> str:
    return next((path[: -len(end)] for end in _SCRIPTS if path.endswith(end)), path)


def _is_below(path: str, end: str) -> bool:
    """Return whether a path is `end`, or ends with it behind a slash."""
    return bool(end) and (path == end or path.endswith("/" + end))


def _last(path: str) -> str:
    return path.rpartition("/")[2]
