"""Files as the panel shows them: what can follow `@`, what agents read and changed, both sides of
a change."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile, UsageError
from jarvis_ls.core.files import read_regular
from jarvis_ls.lsp.protocol.panel import Completion, ExplorerFile, FileChange, FileText, Side
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import EntryPut, Event, Hunk, ProposedEdit, ToolEntry
from jarvis_ls.runtime.base.folders import mention
from jarvis_ls.runtime.tools.permissions import inside, placed

LISTED_SECONDS = 10.0
"""How long a listing of the workspace is good enough."""
LISTED = 50_000
"""Files of one folder of the workspace that can be completed."""
OFFERED = 50
MAX_BYTES = 8_000_000


@dataclass(slots=True)
class _Listing:
    paths: list[str] = field(default_factory=list)
    """Folders end in `/`."""
    time: float = 0.0


class Mentions:
    """What can follow `@`: files and folders that git does not ignore."""

    def __init__(self) -> None:
        self._listings: dict[Path, _Listing] = {}
        self._turn = asyncio.Lock()

    async def complete(self, text: str, roots: Sequence[Path]) -> list[Completion]:
        """Return the likeliest first: what begins with the text, then names that do, then the
        rest.
        """
        found: list[tuple[int, int, str, int]] = []
        async with self._turn:
            for number, root in enumerate(roots):
                label = f"{root.name}/" if number else ""
                for path in await self._paths(root):
                    ranks = [
                        _rank(fromkey, text) for fromkey in dict.fromkeys((path, label + path))
                    ]
                    rank = min((rank for rank in ranks if rank is not None), default=None)
                    if rank is not None:
                        found.append((rank, len(path), path, number))
        found.sort()
        return [_completion(path, number, roots) for _, _, path, number in found[:OFFERED]]

    async def paths(self, root: Path) -> list[str]:
        """Return the files and folders of one folder of the workspace; folders end in `/`."""
        async with self._turn:
            return await self._paths(root)

    async def _paths(self, root: Path) -> list[str]:
        known = self._listings.setdefault(root, _Listing())
        if not known.time or time.monotonic() - known.time > LISTED_SECONDS:
            known.paths = await asyncio.to_thread(_list_files, root)
            known.time = time.monotonic()
        return known.paths


def explorer_files(
    events: Iterable[Event], targets: Callable[[ToolEntry], Iterable[tuple[str, int]]]
) -> list[ExplorerFile]:
    """Return the files of tool calls: the last changed first, then those read most.

    `targets` gives the files that a call read, each with the number of its folder.
    """
    files: dict[tuple[int, str], _Touched] = {}
    for event in events:
        if not isinstance(event, EntryPut) or not isinstance(event.entry, ToolEntry):
            continue
        entry = event.entry
        if entry.state != "done":
            continue
        for edit in entry.edits:
            files.setdefault((edit.root, edit.path), _Touched()).change(edit, event.node, entry.id)
        if not entry.edits:
            for path, root in targets(entry):
                files.setdefault((root, path), _Touched()).read(event.node)
    order = sorted(
        files.items(), key=lambda item: (not item[1].entries, -len(item[1].entries), item[0])
    )
    return [touched.shown(path, root) for (root, path), touched in order]


@dataclass(slots=True)
class _Touched:
    reads: int = 0
    changed: FileChange = "none"
    added: int = 0
    removed: int = 0
    nodes: dict[str, None] = field(default_factory=dict)
    entries: list[str] = field(default_factory=list)

    def read(self, node: str) -> None:
        self.reads += 1
        self.nodes[node] = None

    def change(self, edit: ProposedEdit, node: str, entry: str) -> None:
        made_here = self.changed == "create" and edit.change == "modify"
        self.changed = "create" if made_here else edit.change
        self.added += sum(len(hunk.new_lines) for hunk in edit.hunks)
        self.removed += sum(len(hunk.old_lines) for hunk in edit.hunks)
        self.nodes[node] = None
        self.entries.append(entry)

    def shown(self, path: str, root: int) -> ExplorerFile:
        return ExplorerFile(
            path,
            root,
            self.reads,
            self.changed,
            self.added,
            self.removed,
            tuple(self.nodes),
            tuple(self.entries),
        )


def read_targets(entry: ToolEntry, roots: Sequence[Path]) -> list[tuple[str, int]]:
    """Files of the workspace that the arguments of a call name."""
    try:
        arguments = json.loads(entry.arguments)
    except ValueError:  # cut because it was long
        return []
    found: list[tuple[str, int]] = []
    for text in _texts(arguments):
        lies = placed(text, roots) if 0 < len(text) < 1000 and "\n" not in text else None
        if lies is not None and (roots[lies[0]] / lies[1]).is_file():
            number, rest = lies
            found.append((rest, number))
    return list(dict.fromkeys(found))


def side_of(edit: ProposedEdit, side: Side, current: str | None, *, written: bool) -> FileText:
    """Return a file before or after an edit; `current` is its text now, None when there is no file,
    and
    `written` says whether the edit was made.

    Where the text now is neither, because it was changed again, only the places of the edit
    are shown.
    """
    if edit.change == "create" and side == "before":
        return FileText("", exists=False)
    if edit.change == "delete" and side == "after":
        return FileText("", exists=False)
    text = None if current is None else current.replace("\r\n", "\n").replace("\r", "\n")
    before, after = _sides(edit, text, written)
    return FileText(before if side == "before" else after)


def _sides(edit: ProposedEdit, text: str | None, written: bool) -> tuple[str, str]:
    from jarvis_ls.runtime.edits.text_change import apply_hunks

    every = [hunk.index for hunk in edit.hunks]
    turned = [_inverse(hunk) for hunk in edit.hunks]
    if text is not None:
        ways = ((edit.hunks, True), (turned, False))
        for hunks, is_before in reversed(ways) if written else ways:
            try:
                other = apply_hunks(text, hunks, every)
            except ToolRetry:
                continue
            return (text, other) if is_before else (other, text)
    return _only_places(edit.hunks), _only_places(turned)


def _inverse(hunk: Hunk) -> Hunk:
    return Hunk(
        hunk.index,
        hunk.new_start,
        hunk.new_lines,
        hunk.old_start,
        hunk.old_lines,
        hunk.before,
        hunk.after,
    )


def _only_places(hunks: Iterable[Hunk]) -> str:
    return "\n⋯\n".join("\n".join([*h.before, *h.old_lines, *h.after]) for h in hunks)


def edit_of(entry: ToolEntry, path: str, root: int) -> ProposedEdit:
    """Return the edit of one file. Raises `UsageError` when the call did not touch it."""
    for edit in entry.edits:
        if (edit.path, edit.root) == (path, root):
            return edit
    raise UsageError(f"This call did not change {path}.")


def text_on_disk(root: Path, path: str) -> str | None:
    """Return the text of a file now; None when there is none that can be read."""
    real = inside(path, [root])
    if real is None:
        return None
    try:
        return read_regular(real, limit=MAX_BYTES).decode("utf-8-sig", "replace")
    except (SkippedFile, OSError):
        return None


def _list_files(root: Path) -> list[str]:
    from jarvis_ls.runtime.edits.snapshots.look import Limits, look

    snapshot = look(str(root), Limits(files=LISTED))
    paths: list[str] = []
    for folder, found in snapshot.folders.items():
        prefix = f"{folder}/" if folder else ""
        paths += [f"{prefix}{name}/" for name in found.folders]
        paths += [f"{prefix}{name}" for name in found.files]
    return paths


def _rank(path: str, text: str) -> int | None:
    """Return how well a path matches the typed text, 0 best; None when it does not."""
    wanted, lower = text.lower().lstrip('"'), path.lower()
    if not wanted:
        return path.rstrip("/").count("/") if path.count("/") < 2 else None
    name = lower.rstrip("/").rpartition("/")[2]
    if lower.startswith(wanted):
        return 0
    if name.startswith(wanted):
        return 1
    if wanted in lower:
        return 2
    letters = iter(lower)
    return 3 if all(letter in letters for letter in wanted) else None


def _completion(path: str, number: int, roots: Sequence[Path]) -> Completion:
    is_folder = path.endswith("/")
    label = path if number == 0 else f"{roots[number].name}/{path}"
    insert = mention(path.rstrip("/"), number, roots)
    return Completion(
        "folder" if is_folder else "file",
        label,
        insert + ("/" if is_folder and '"' not in insert else ""),
    )


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
