"""Two states of a workspace, and the graph of the later: what an impact report is made from."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.codeintel.change.repository import Repository, Tree
from jarvis_ls.codeintel.graph.store import SymbolStore
from jarvis_ls.codeintel.graph.workspace import is_source_path, sync_folder, sync_tree
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.files import keep_out_of_git, state_folder
from jarvis_ls.core.work_tree import symbols_file

WORKING = ""
"""Names the files on the disk where a revision is expected."""
STAGED = ":"
"""Names the files of the index."""
_ODD_NAMES = frozenset(
    {errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL}
)
"""What the disk says to names of a damaged tree, such as a file and a folder of the same."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Files that differ between two states; of both only those."""

    before: dict[str, bytes]
    """Contents by path."""
    after: dict[str, bytes]
    """Contents by path."""
    left_out: tuple[str, ...]
    """Paths that differ but are not text, or too large."""


def parse_range(text: str) -> tuple[str, str]:
    """Return the two states that a range such as `A..B`, `A..` or `A` names; without a second the
    files on the disk are meant. Raises `UsageError` for anything else.
    """
    first, dots, second = text.partition("..")
    if second.startswith("."):
        raise UsageError("{range}: three dots are not read; give two revisions", range=text)
    if first.startswith("-") or second.startswith("-"):
        raise UsageError("{range} is not a range of revisions", range=text)
    return first or "HEAD", (second or WORKING) if dots else WORKING


def read_difference(repository: Repository, before: str, after: str) -> Difference:
    """Return the files that differ between two states: revisions, `STAGED` or `WORKING`."""
    old, new = _tree(repository, before), _tree(repository, after)
    found = Difference({}, {}, ())
    left_out = []
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) == new.get(path):
            continue
        is_read = True
        for state, name, contents in ((before, old, found.before), (after, new, found.after)):
            if path not in name:
                continue
            data = _read(repository, state, path, name[path])
            if data is None or b"\0" in data[:8192]:
                is_read = False
            else:
                contents[path] = data
        if not is_read:
            left_out.append(path)
            found.before.pop(path, None)
            found.after.pop(path, None)
    return Difference(found.before, found.after, tuple(left_out))


def open_graph(root: Path, owner: str) -> SymbolStore:
    """Return the graph of a workspace, in its `.jarvis/cache`, or in memory where nothing can be
    written.
    """
    try:
        keep_out_of_git(state_folder(root, "cache"), "*")
        return SymbolStore(symbols_file(root), owner)
    except JarvisError:
        return SymbolStore()


def graph_of(store: SymbolStore, repository: Repository, state: str) -> SymbolStore:
    """Return the graph of a state. The store itself, brought up to date, is that of the disk;
    of another state it is a copy in memory.
    """
    sync_folder(store, repository.root)
    if state == WORKING:
        return store
    tree = _tree(repository, state)
    other = store.copy()
    sources = {path: digest for path, digest in tree.items() if is_source_path(path)}
    sync_tree(other, sources, _reader(repository, sources))
    return other


def write_state(repository: Repository, state: str, folder: Path) -> None:
    """Write the files of a revision or of the index, as far as they can be read, into an empty
    folder of ours. Raises `OSError`."""
    for path, digest in _tree(repository, state).items():
        data = _read(repository, state, path, digest)
        if data is None:
            continue
        file = folder / path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        except OSError as error:
            if error.errno not in _ODD_NAMES:
                raise


def _reader(repository: Repository, tree: Tree) -> Callable[[str], bytes | None]:
    return lambda path: repository.read(tree[path])


def _tree(repository: Repository, state: str) -> Tree:
    if state == WORKING:
        return repository.on_disk()
    return repository.staged() if state == STAGED else repository.tree(state)


def _read(repository: Repository, state: str, path: str, digest: str) -> bytes | None:
    if state == WORKING:
        return repository.read_on_disk(path)
    return repository.read(digest)
