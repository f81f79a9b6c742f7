"""Takes over what can be taken of an OpenClaw folder: models, tool servers, skills, sessions.

Nothing of the user's is replaced, nothing of OpenClaw's is changed or run, and what is not taken is
said. A second import takes only what is new.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.assembly.openclaw.sessions import read_transcript, write_session
from jarvis_ls.assembly.openclaw.settings import Imported, read_openclaw
from jarvis_ls.assembly.settings_file import read_settings
from jarvis_ls.assembly.settings_writer import Table, change_settings
from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.model_json import read_model_json
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.session.store import SessionStore
from jarvis_ls.runtime.skills.install import unpack_skill

FILES = ("openclaw.json", "moltbot.json", "clawdbot.json")
"""Names of its settings, the newest first."""
KEPT = "imported.json"
"""File of the user's folder: sessions taken before, by OpenClaw's ids."""
_LARGEST = 4_000_000
_MOST_SESSIONS = 1_000


@dataclass
class Report:
    """What an import has done."""

    taken: list[str] = field(default_factory=list)
    """In words for the user."""
    not_taken: list[str] = field(default_factory=list)
    """With the reason."""


def import_openclaw(path: Path, home: Path, *, dry: bool = False) -> Report:
    """Take over a folder of OpenClaw, or its settings file; with `dry` only say what would be.

    Raises `UsageError` when it is none, `JarvisError` when nothing can be written. Blocks.
    """
    folder, file = _find(path)
    report = Report()
    settings = _read(file) if file is not None else {}
    _settings(settings, home, report, dry=dry)
    if folder is not None:
        _skills(folder, settings, home, report, dry=dry)
        _sessions(folder, home, report, dry=dry)
    return report


def _find(path: Path) -> tuple[Path | None, Path | None]:
    """Return the folder and the settings file that a path means."""
    if path.is_file():
        return None, path
    file = next((path / name for name in FILES if (path / name).is_file()), None)
    if file is None and not (path / "agents").is_dir() and not (path / "skills").is_dir():
        raise UsageError("{path} is neither a folder nor a settings file of OpenClaw.", path=path)
    return path, file


def _read(file: Path) -> Mapping[str, Any]:
    try:
        found = read_model_json(read_regular(file, limit=_LARGEST).decode("utf-8"))
    except SkippedFile as error:
        raise UsageError("{path}: {why}.", path=file, why=error.reason) from None
    except ValueError as error:
        raise UsageError("{path}: {why}.", path=file, why=error) from None
    if not isinstance(found, dict):
        raise UsageError("{path}: settings are a JSON object.", path=file)
    return found


def _settings(settings: Mapping[str, Any], home: Path, report: Report, *, dry: bool) -> None:
    known = read_settings(home)
    found = read_openclaw(settings, known)
    for name in [name for name in found.servers if name in known.get("mcp_servers", {})]:
        del found.servers[name]
        found.leave(f"mcp.servers.{name}", Words("you have a server of this name"))
    for name in [name for name in found.models if name in known.get("models", {})]:
        del found.models[name]
    report.taken += _told(found)
    report.not_taken += found.not_taken
    sections = {
        "model_providers": found.providers,
        "models": found.models,
        "model_groups": {name: {"models": models} for name, models in found.groups.items()},
        "mcp_servers": found.servers,
    }
    if dry or not any(sections.values()):
        return

    def change(own: Table, table: Any) -> None:
        for section, added in sections.items():
            place = table(own, section) if added else {}
            for name, values in added.items():
                place[name] = values

    change_settings(home, change)


def _told(found: Imported) -> Iterator[str]:
    for group, models in found.groups.items():
        yield Words("model group {name}: {models}", name=group, models=", ".join(models))
    for name, table in found.providers.items():
        yield Words("provider {name}: {address}", name=name, address=table["base"])
    for name, server in found.servers.items():
        start = server.get("url") or " ".join([server["command"], *server.get("args", [])])
        yield Words("tool server {name}: {start}", name=name, start=start)


# Skills ------------------------------------------------------------------------------------------


def _skills(
    folder: Path, settings: Mapping[str, Any], home: Path, report: Report, *, dry: bool
) -> None:
    for place in dict.fromkeys((folder / "skills", folder / "workspace" / "skills")):
        for skill in sorted(place.iterdir()) if place.is_dir() else ():
            if not (skill / "SKILL.md").is_file() or skill.is_symlink():
                continue
            if (home / "skills" / skill.name).exists():
                why = Words("you have a skill of this name")
                report.not_taken.append(Words("skill {name}: {why}", name=skill.name, why=why))
                continue
            try:
                _install(skill, home, dry=dry)
            except (JarvisError, OSError) as error:
                report.not_taken.append(Words("skill {name}: {why}", name=skill.name, why=error))
            else:
                report.taken.append(Words("skill {name}", name=skill.name))
    skills = settings.get("skills")
    load = skills.get("load") if isinstance(skills, dict) else None
    for other in load.get("extraDirs", []) if isinstance(load, dict) else ():
        report.not_taken.append(
            Words("skills in {folder}: {why}", folder=other, why=Words("copy them to skills/"))
        )


def _install(skill: Path, home: Path, *, dry: bool) -> None:
    """Pack a skill without its links, and unpack it as one from elsewhere: that checks it."""
    with tempfile.TemporaryDirectory() as temporary:
        archive = Path(temporary) / f"{skill.name}.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for place, folders, files in os.walk(skill):
                folders.sort()
                for name in sorted(files):
                    path = Path(place) / name
                    if path.is_file() and not path.is_symlink():
                        packed.write(path, path.relative_to(skill.parent))
        unpack_skill(archive, Path(temporary) / "skills" if dry else home / "skills")


# Sessions ----------------------------------------------------------------------------------------


def _sessions(folder: Path, home: Path, report: Report, *, dry: bool) -> None:
    kept = _kept(home)
    titles = _titles(folder)
    store = SessionStore(home)
    paths = sorted(folder.glob("agents/*/sessions/*.jsonl"))
    for path in paths[_MOST_SESSIONS:]:
        report.not_taken.append(Words("session {name}: {why}", name=path.name, why=_TOO_MANY))
    for path in paths[:_MOST_SESSIONS]:
        found = read_transcript(path)
        if isinstance(found, str):
            report.not_taken.append(Words("session {name}: {why}", name=path.name, why=found))
        elif found.id in kept:
            why = Words("it was taken before")
            report.not_taken.append(Words("session {name}: {why}", name=path.name, why=why))
        elif not found.said:
            why = Words("it has no messages")
            report.not_taken.append(Words("session {name}: {why}", name=path.name, why=why))
        else:
            if not dry:
                kept[found.id] = write_session(store, found, titles.get(found.id, ""))
                replace_file(home / KEPT, json.dumps(kept, indent=1).encode(), mode=0o600)
            report.taken.append(
                Words("session {name}: {n} messages", name=path.name, n=len(found.said))
            )
            if found.calls:
                why = Words("{n} calls of tools", n=found.calls)
                report.not_taken.append(Words("session {name}: {why}", name=path.name, why=why))


_TOO_MANY = Words("only the first {n} are read", n=_MOST_SESSIONS)


def _kept(home: Path) -> dict[str, str]:
    try:
        kept = json.loads((home / KEPT).read_bytes())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _titles(folder: Path) -> dict[str, str]:
    """Return what sessions are called, by their ids."""
    found = {}
    for index in folder.glob("agents/*/sessions/sessions.json"):
        try:
            entries = json.loads(read_regular(index, limit=_LARGEST)).values()
        except (SkippedFile, ValueError, AttributeError):
            continue
        for entry in entries:
            if isinstance(entry, dict) and isinstance(entry.get("sessionId"), str):
                title = entry.get("displayName") or entry.get("subject")
                found[entry["sessionId"]] = title if isinstance(title, str) else ""
    return found
