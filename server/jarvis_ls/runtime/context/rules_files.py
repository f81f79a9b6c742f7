"""Rules that people write down for agents: the user's own, the project's, `AGENTS.md`.

    rules = load_rules(roots, user_folder(), trusted=True)
    print(rules.text)            # one <rules> block for the system prompt
    for file in rules.files: ... # where each comes from, and what was left out

In this order, so that what comes later is nearer to the work: the user's (`~/.jarvis/rules`, a
file or a folder of files, then folders the user configured), the project's (`.jarvis/rules`),
those of a central folder that many projects share and that win over all of the same name, then
`AGENTS.md` of each root. A nearer `AGENTS.md`, in a folder below, is shown when a tool
first touches a file there (`Nearby`), and wins for that folder.

Rules are text for the model and nothing else: no rule permits an action, the permission gate
decides below the model. Those of a workspace the user does not trust are not read at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.folders import below, located
from jarvis_ls.runtime.base.messages import ToolCall, ToolResult
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import ToolContext, Toolset, Wrapper, actions_of
from jarvis_ls.runtime.tools.workspace_extras import with_state

AGENTS = "AGENTS.md"
MAX_FILE = 32_000
"""Characters of one file; the rest is left out, and that is said."""
MAX_ALL = 96_000
"""Characters of all rules together."""
MAX_FILES = 100
"""Files of one folder of rules."""
_READ = 1_000_000

CENTRAL_VARIABLE = "JARVIS_CENTRAL_RULES_REPO"
"""Environment variable that names the central folder; it wins over the settings."""

Origin = Literal["user", "configured", "project", "central", "agents"]
_WHOSE = {
    "user": "the user's rules",
    "configured": "the user's rules",
    "project": "rules of the project",
    "central": "rules for all projects",
    "agents": "rules of the project",
}


@dataclass(frozen=True, slots=True)
class RulesSettings:
    """The `[rules]` section of the user's settings; a workspace cannot set any of it."""

    folders: tuple[str, ...] = ()
    """More folders of rules; a file there takes the place of one of the same name in
    `~/.jarvis/rules`. `~` is the user's home; other relative paths start at `~/.jarvis`."""
    peers: tuple[str, ...] = ()
    """Names of files that are read where there is no `AGENTS.md`, such as `CLAUDE.md`."""
    central: str = ""
    """Folder of rules for all projects, or address of a team's repository, which is cloned; a file
    there wins over all of the same name. `~` is the user's home."""


def read_rules_settings(
    table: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> RulesSettings:
    """Return the section. Raises `ConfigError` naming what is wrong."""
    central = (environment or {}).get(CENTRAL_VARIABLE, "") or table.get("central", "")
    if not isinstance(central, str) or central.startswith("-"):
        raise ConfigError("rules.central must be a folder, or the address of a repository.")
    for name, value in table.items():
        if name == "central":
            continue
        if name not in ("folders", "peers"):
            raise ConfigError(
                "Unknown setting rules.{name}; known settings are folders, peers and central.",
                name=name,
            )
        if not isinstance(value, list) or not all(
            isinstance(folder, str) and folder for folder in value
        ):
            raise ConfigError("rules.{name} must be a list of strings.", name=name)
    peers = tuple(table.get("peers", ()))
    if wrong := [name for name in peers if "/" in name or "\\" in name or name in (".", "..")]:
        raise ConfigError(
            "rules.peers: {wrong} must be the name of a file, without a path.", wrong=repr(wrong[0])
        )
    return RulesSettings(tuple(table.get("folders", ())), peers, central)


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One file of rules, read or left out."""

    path: Path
    origin: Origin
    text: str = ""
    """What the model reads; empty when it was left out."""
    folder: str = ""
    """Folder below the root it holds for; empty means everywhere."""
    note: str = ""
    """For the user: why it was left out or cut, what was made visible."""


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules in force, in order."""

    files: tuple[RuleFile, ...]

    @property
    def text(self) -> str:
        """The block for the system prompt; empty when there are no rules."""
        parts = [_part(file) for file in self.files if file.text]
        if not parts:
            return ""
        first = (
            "Rules written down by people follow. Keep them. The user's own rules come before "
            "those of the project; among the project's, the file nearest to the code wins. None "
            "of them can permit what a tool refuses."
        )
        return "\n\n".join(["<rules>", first, *parts, "</rules>"])

    @property
    def notes(self) -> list[str]:
        """The notes for the user: files left out, cut, or with invisible characters."""
        return [f"{file.path}: {file.note}" for file in self.files if file.note]


def rules_text(
    roots: Sequence[Path],
    home: Path,
    trusted: bool,
    *,
    folders: Iterable[Path | str] = (),
    peers: Sequence[str] = (),
) -> str:
    """Return the text of `load_rules`."""
    return load_rules(roots, home, trusted, folders=folders, peers=peers).text


def load_rules(
    roots: Sequence[Path],
    home: Path,
    trusted: bool,
    *,
    folders: Iterable[Path | str] = (),
    peers: Sequence[str] = (),
    central: str = "",
) -> Rules:
    """Return the rules that hold everywhere in the workspace. Never raises; what cannot be read is
    noted.

    `folders` are more folders of the user's; a file there takes the place of one of the same
    name in `~/.jarvis/rules`. `peers` are names the user wants read where there is no
    `AGENTS.md`, such as `CLAUDE.md`. Files of the folder `central` win over all of the same name.
    Without `trusted` only the user's own and the central ones are read.
    """
    own: dict[str, RuleFile] = {}
    for file in _entries(home / "rules", "user"):
        own[file.path.name] = file
    for folder in folders:
        for file in _entries(home / Path(folder).expanduser(), "configured"):
            own.pop(file.path.name, None)
            own[file.path.name] = file
    shared = _entries(home / Path(central).expanduser(), "central") if central else []
    known = {file.path.name for file in shared}
    found = list(own.values())
    agents: list[RuleFile] = []
    own_state = set(roots) - set(with_state(roots, home))
    for root in roots:
        if root not in own_state:
            found += _filter_trusted(_entries(root / STATE / "rules", "project", root), trusted)
        agents += _filter_trusted(_agents(root, root, peers), trusted)
    found = [file for file in found if file.path.name not in known]
    return Rules(tuple(_limit([*found, *shared, *agents])))


def _filter_trusted(files: Iterable[RuleFile], trusted: bool) -> list[RuleFile]:
    """Return files of a workspace, without what they say where it is not trusted."""
    if trusted:
        return list(files)
    why = Words("skipped: the workspace is not trusted")
    return [replace(file, text="", note=why) for file in files]


def nested(path: Path, roots: Sequence[Path], peers: Sequence[str] = ()) -> tuple[RuleFile, ...]:
    """Return the `AGENTS.md` files between a root and `path`, the root's own left out, nearest
    last.
    """
    real = Path(os.path.realpath(path))
    found = below(real, roots)
    if found is None:
        return ()
    root = roots[found[0]]
    between = [folder for folder in (real, *real.parents) if root in folder.parents]
    files = [file for folder in reversed(between) for file in _agents(folder, root, peers)]
    return tuple(_limit(files))


class Nearby(Wrapper):
    """A toolset that tells the model the rules of a folder when a tool first touches a file there.

    One for each conversation: what was told is not told again, until `forget` (after the
    conversation was summarised).
    """

    def __init__(self, wrapped: Toolset, *, peers: Sequence[str] = ()) -> None:
        super().__init__(wrapped)
        self._peers = tuple(peers)
        self._told: set[Path] = set()

    async def run(self, call: ToolCall, context: ToolContext) -> ToolResult:
        """See `Toolset`."""
        result = await self.wrapped.run(call, context)
        known = self.tools().get(call.name)
        if known is None or not context.trusted or result.is_error or not context.roots:
            return result
        fresh = [
            file
            for action in actions_of(known, call) or ()
            if action.kind in ("read", "write")
            for file in nested(located(action.target, context.roots), context.roots, self._peers)
            if file.text and file.path not in self._told
        ]
        if not fresh:
            return result
        files = {file.path: file for file in fresh}
        self._told.update(files)
        told = "\n\n".join(_part(file) for file in files.values())
        return replace(result, text=f"{result.text}\n\n<rules>\n{told}\n</rules>")

    def forget(self) -> None:
        """Tell everything again when it is next touched."""
        self._told.clear()


def _entries(place: Path, origin: Origin, root: Path | None = None) -> list[RuleFile]:
    """Return the rules at a place: one file, or the files of a folder by name."""
    try:
        if not place.is_dir():
            return [_read(place, origin, root)] if place.exists() or place.is_symlink() else []
        if root is not None and place.resolve() != place:
            return [
                RuleFile(place, origin, note=Words("skipped: a link points outside the workspace"))
            ]
        files = sorted(p for p in place.iterdir() if not p.name.startswith(".") and not p.is_dir())
    except OSError as error:
        return [RuleFile(place, origin, note=Words("not read: {why}", why=error.strerror))]
    found = [_read(path, origin, root) for path in files[:MAX_FILES]]
    if len(files) > MAX_FILES:
        found.append(
            RuleFile(
                place, origin, note=Words("only the first {what} files are read", what=MAX_FILES)
            )
        )
    return found


def _agents(folder: Path, root: Path, peers: Sequence[str]) -> list[RuleFile]:
    """Return the `AGENTS.md` of a folder, or the first peer that is in its place."""
    for name in (AGENTS, *peers):
        path = folder / name
        if path.is_symlink() or path.is_file():
            where = "" if folder == root else folder.relative_to(root).as_posix()
            return [replace(_read(path, "agents", root), folder=where)]
    return []


def _read(path: Path, origin: Origin, root: Path | None = None) -> RuleFile:
    if root is None:  # the user's own may be links, as dot files often are
        real, top = Path(os.path.realpath(path)), None
    else:
        real, top = path, os.path.realpath(root)
    try:
        text = read_regular(real, limit=_READ, root=top).decode("utf-8", "replace")
    except SkippedFile as error:
        return RuleFile(path, origin, note=Words("not read: {why}", why=error.reason))
    notes = []
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").strip()
    visible = "\n".join(shown(line) for line in text.split("\n"))
    if visible != text:
        notes.append("it holds invisible characters, which were made visible")
    if len(visible) > MAX_FILE:
        visible = f"{visible[:MAX_FILE]}\n[cut]"
        notes.append(f"only its first {MAX_FILE} characters are used")
    return RuleFile(path, origin, visible, note="; ".join(notes))


def _limit(files: Iterable[RuleFile]) -> Iterable[RuleFile]:
    room = MAX_ALL
    for file in files:
        if len(file.text) > room:
            yield replace(
                file,
                text="",
                note=Words("skipped: more than {what} characters of rules", what=MAX_ALL),
            )
        else:
            room -= len(file.text)
            yield file


def _part(file: RuleFile) -> str:
    where = f", for {file.folder}/" if file.folder else ""
    text = file.text.replace("</rules", "<\\/rules")
    return f"## {shown(str(file.path))} ({_WHOSE[file.origin]}{where})\n{text}"
