"""From what an agent answers to changes of files, and what refuses them before anything is run.

The rules look at the bytes before and after, never at what the agent says of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from jarvis_ls.codeagent.losses import contents_of, find_losses
from jarvis_ls.codeagent.patch_text import patch_text
from jarvis_ls.codeintel.change.deletion_guard import Limits
from jarvis_ls.codeintel.change.symbol_changes import Change, changed_symbols
from jarvis_ls.codeintel.graph.extract import read_symbols
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.file_change import FileChange, FileState, text_of
from jarvis_ls.runtime.edits.text_file import WorkspacePath, load, new_file
from jarvis_ls.tester.protocol import FilePatch
from jarvis_ls.tester.scope import Scope, clean_path
from jarvis_ls.tools.edit_checks import new_syntax_errors
from jarvis_ls.tools.edit_file import Diff, replace_text

MOST_CANDIDATES = 5
_MOST_EDITS = 100
_SHOWN = 8


class PatchRefused(JarvisError):
    """A patch breaks a rule; the text says which, for the agent too."""


class AgentRecord(BaseModel):
    """What an agent answers; fields that were not wanted are left out."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)


class Edit(AgentRecord):
    """One replacement in one file."""

    file: str
    """Path from the root."""
    search: str
    """Text as it is in the file, with enough lines around that it is only there; empty for a new
    file."""
    replace: str
    """What is there afterwards."""


class ProposedPatch(AgentRecord):
    """One way to repair."""

    id: str = Field(default="", max_length=200)
    """Some words with hyphens, such as `check-for-zero`."""
    description: str = Field(max_length=4000)
    """What it changes and why that repairs the cause."""
    edits: list[Edit] = Field(max_length=_MOST_EDITS)


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch that keeps the rules."""

    id: str
    description: str
    changes: tuple[FileChange, ...]
    """By path."""

    @property
    def text(self) -> str:
        """Return the whole as `git apply` takes it."""
        return patch_text(self.changes)

    def files(self) -> dict[str, str]:
        """Return what the changed files hold afterwards."""
        return {
            change.path: (text_of(change.after.data) or "") if change.after is not None else ""
            for change in self.changes
        }

    def patch_set(self) -> list[FilePatch]:
        """Return the hunks of each file."""
        return [
            FilePatch(file=change.path, patch=_hunks_of(patch_text([change])))
            for change in self.changes
        ]


@dataclass(frozen=True, slots=True)
class Rules:
    """What a patch must keep."""

    scope: Scope
    allows_imports: bool
    tests: frozenset[str]
    """Files of tests that may change: the settings name them."""


def make_patch(folder: Path, proposed: ProposedPatch, rules: Rules) -> Patch:
    """Return the patch that an answer describes. Raises `PatchRefused`, `folder` is only read."""
    texts: dict[str, tuple[FileState | None, str, bytes]] = {}
    for edit in proposed.edits:
        path = clean_path(edit.file)
        if why := rules.scope.why_not(path):
            raise PatchRefused("{file} may not be changed: {why}", file=path, why=why)
        try:
            texts[path] = _apply_edit(folder, path, texts.get(path), edit)
        except ToolRetry as error:
            raise PatchRefused("{file}: {why}", file=path, why=error) from None
    changes = tuple(
        FileChange(path, before, FileState("file", data, before.mode if before else 0o644))
        for path, (before, _, data) in sorted(texts.items())
        if before is None or before.data != data
    )
    if not changes:
        raise PatchRefused("The patch changes nothing.")
    check_changes(changes, rules)
    return Patch(_slug(proposed.id), proposed.description.strip(), changes)


def check_changes(changes: Sequence[FileChange], rules: Rules) -> None:
    """Raise `PatchRefused` for changes that break a rule, whoever has made them."""
    for change in changes:
        if why := rules.scope.why_not(change.path):
            raise PatchRefused("{file} may not be changed: {why}", file=change.path, why=why)
        if not change.is_text or change.after is None:
            raise PatchRefused("{file}: a repair changes texts and deletes none", file=change.path)
        if change.before is not None and change.before.mode != change.after.mode:
            raise PatchRefused("{file}: a repair changes no modes", file=change.path)
    before, after = contents_of(changes)
    if losses := find_losses(changes, Limits()).losses:
        reasons = together([loss.reason for loss in losses[:_SHOWN]], "; ")
        raise PatchRefused("The patch loses code: {losses}", losses=reasons)
    for symbol in changed_symbols(before, after):
        kept = symbol.change is Change.ADDED or not symbol.definition.is_test
        if not kept and symbol.path not in rules.tests:
            raise PatchRefused("The patch changes the test '{name}'", name=symbol.name)
    if not rules.allows_imports and (names := sorted(_new_imports(before, after))):
        raise PatchRefused(
            "The patch imports what was not imported: {names}", names=", ".join(names[:_SHOWN])
        )
    _check_syntax(changes)


def _apply_edit(
    folder: Path, path: str, known: tuple[FileState | None, str, bytes] | None, edit: Edit
) -> tuple[FileState | None, str, bytes]:
    """Return the state before, the text after and its bytes."""
    place = WorkspacePath(folder, 0, path)
    is_new = known is None and not (folder / path).exists()
    if (known is None and is_new) or (known is not None and known[0] is None):
        text = replace_text(known[1] if known is not None else "", Diff(edit.search, edit.replace))
        return None, text, new_file(place, text)
    file = load(place)
    text = known[1] if known is not None else file.text
    text = replace_text(text, Diff(edit.search, edit.replace))
    return FileState("file", file.raw, file.mode & 0o777), text, file.encode(text)


def _new_imports(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    """Return the modules that files ask for and did not before."""
    found: set[str] = set()
    for path, data in after.items():
        was = _imports(path, before.get(path, b"")) if path in before else set()
        found |= _imports(path, data) - was
    return found


def _imports(path: str, data: bytes) -> set[str]:
    symbols = read_symbols(path, data)
    return {item.module for item in symbols.imports} if symbols is not None else set()


def _check_syntax(changes: Iterable[FileChange]) -> None:
    for change in changes:
        before = text_of(change.before.data) if change.before is not None else ""
        after = text_of(change.after.data) if change.after is not None else ""
        faults = new_syntax_errors(change.path, before or "", after or "")
        if faults:
            where = f"{change.path}:{faults[0].line}"
            raise PatchRefused("{where}: syntax error: {what}", where=where, what=faults[0].what)


def _hunks_of(patch: str) -> str:
    """Return a patch of one file without its head."""
    at = patch.find("\n@@ ")
    return patch[at + 1 :] if at >= 0 else ""


def _slug(text: str) -> str:
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in text.casefold()).split()
    return "-".join(words)[:60].strip("-") or "fix"
