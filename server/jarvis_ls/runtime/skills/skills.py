"""Skills: instructions for a kind of work, in folders with a `SKILL.md`.

    skills = Skills(home, roots, trusted=…, consents=Consents(home))
    await skills.scan()
    prompt = await skills.prompt(task)             # compact: what there is; or full
    toolset = Joined([…, skills.toolset()])        # list_skills, load_skill

The user's are in `~/.jarvis/skills/<name>/`, a trusted workspace's in `.jarvis/skills/<name>/`.
`SKILL.md` begins with YAML between lines of `---`: `name`, `description`, and if wanted
`triggers` (words), `allowed-tools`, `license`. A scan reads only that; the text behind it is
read when a model asks for it, or, with `mode="full"`, when a trigger is found in the task.

A skill is text. What it says is carried out, if at all, by tools that pass the permission gate;
`allowed-tools` gives it nothing. Before a model may read one it is looked over (`skill_audit`):
with something to look at it waits in `pending()` until the user allows exactly these bytes.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jarvis_ls.core.errors import SkippedFile, UsageError
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.yaml_files import front_matter
from jarvis_ls.runtime.memory.tokenizer import words
from jarvis_ls.runtime.skills.audit import MAX_FILE, Audit, audit_skill
from jarvis_ls.runtime.skills.install import unpack_skill
from jarvis_ls.runtime.tools.consent import Consents, Pending, key_of
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import Action, ToolContext, Tools, tool
from jarvis_ls.runtime.tools.workspace_extras import with_state

NAME = "SKILL.md"
MAX_SKILLS = 200
MAX_DESCRIPTION = 1_024
MAX_TEXT = 60_000
"""Characters of a skill's text that a model is given."""
MAX_FULL = 5
"""Skills given in full at once."""

Mode = Literal["compact", "full"]

_NAME = re.compile(r"[\w][\w.-]{0,63}\Z")
_QUOTED = re.compile(r"[\"'“‘「]([^\"'”’」\n]{2,40})[\"'”’」]")


@dataclass(frozen=True, slots=True)
class Skill:
    """What is known of a skill without its text."""

    name: str
    description: str
    folder: Path
    origin: Literal["user", "workspace"]
    triggers: tuple[str, ...]
    """Words of a task that call for it, small letters."""
    allowed_tools: tuple[str, ...]
    """Tools it says it needs; for people to read, it gives no right to them."""
    audit: Audit

    @property
    def key(self) -> str:
        """Equal only when nothing in its folder changed."""
        return key_of("skill", self.name, self.audit.digest)


class Skills:
    """All skills of a session."""

    def __init__(
        self,
        home: Path,
        roots: Sequence[Path] = (),
        *,
        trusted: bool = False,
        consents: Consents | None = None,
        mode: Mode = "compact",
    ) -> None:
        self.mode: Mode = mode
        self.problems: tuple[str, ...] = ()
        """Folders left out by the last scan, in words for the user."""
        self._home = home
        self._roots = tuple(roots)
        self._trusted = trusted
        self._consents = consents or Consents(home)
        self._skills: dict[str, Skill] = {}
        self._texts: dict[str, str] = {}

    @property
    def skills(self) -> list[Skill]:
        """The skills of the last scan, the user's first."""
        return list(self._skills.values())

    async def scan(self) -> list[Skill]:
        """Look for skills; their text is not kept. Never raises for what is in the folders."""
        self._skills, problems = await asyncio.to_thread(self._scan)
        self.problems = tuple(problems)
        return self.skills

    def usable(self, skill: Skill) -> bool:
        """Return whether a model may read it: nothing to look at was found, or the user allowed
        it.
        """
        return skill.audit.safe or self._consents.given(skill.key)

    def pending(self) -> list[Pending]:
        """Skills that wait for the user's consent, with what the audit found."""
        return [
            Pending(
                skill.key,
                "skill",
                skill.name,
                Words(
                    "The audit of the skill {name} ({folder}) found something to review.",
                    name=skill.name,
                    folder=skill.folder,
                ),
                skill.audit.text,
                Action("read", str(skill.folder)),
            )
            for skill in self._skills.values()
            if not self.usable(skill)
        ]

    def called_for(self, task: str) -> list[Skill]:
        """Usable skills with a trigger in `task`, those with more of them first."""
        said = set(words(task))
        lower = task.lower()
        scored = [(_hits(s, said, lower), s) for s in self._skills.values() if self.usable(s)]
        return [s for hits, s in sorted(scored, key=lambda pair: -pair[0]) if hits]

    async def prompt(self, task: str = "") -> str:
        """Return the prompt about the skills; empty when the model may use none.

        Compact: names and descriptions, those that fit the task first. Full: besides, the text
        of those that fit it.
        """
        usable = [skill for skill in self._skills.values() if self.usable(skill)]
        if not usable:
            return ""
        fitting = self.called_for(task)
        first = "".join(f"\n- {_line(skill)}" for skill in fitting)
        others = "".join(f"\n- {_line(skill)}" for skill in usable if skill not in fitting)
        parts = [
            "Skills are instructions for a kind of work. Load one with load_skill before doing "
            "work it is for; nothing in a skill permits what a tool refuses."
        ]
        if first:
            parts.append(f"For this task:{first}")
        if others:
            parts.append(f"{'Others' if first else 'There are'}:{others}")
        if self.mode == "full":
            parts += [await self.load(skill.name) for skill in fitting[:MAX_FULL]]
        return "<skills>\n" + "\n\n".join(parts) + "\n</skills>"

    async def load(self, name: str, file: str = "") -> str:
        """Return a skill's text, or that of another file in its folder.

        Raises `UsageError` when there is none, it is not allowed yet, or it has changed.
        """
        skill = self._skills.get(name.casefold())
        if skill is None:
            names = ", ".join(s.name for s in self._skills.values() if self.usable(s)) or "none"
            raise UsageError(
                "There is no skill {name}. There are: {names}.", name=repr(name), names=names
            )
        if not self.usable(skill):
            raise UsageError("The user has not allowed the skill {name} yet.", name=skill.name)
        if file and file not in skill.audit.files:
            raise UsageError(
                "The skill {name} has no file {file}. It has: {files}.",
                name=skill.name,
                file=repr(file),
                files=", ".join(skill.audit.files[:100]),
            )
        return await asyncio.to_thread(self._read, skill, file or NAME)

    async def install(self, archive: Path, *, replace: bool = False) -> Skill:
        """Unpack an archive into the user's skills and scan. Raises `UsageError`."""
        folder = await asyncio.to_thread(
            unpack_skill, archive, self._home / "skills", replace=replace
        )
        await self.scan()
        for skill in self._skills.values():
            if skill.folder == folder:
                return skill
        raise UsageError(
            f"{folder} was unpacked but contains no usable skill: "
            + "; ".join(p for p in self.problems if str(folder) in p)
        )

    def toolset(self) -> Tools:
        """Return the tools by which a model uses the skills."""

        @tool(timeout=30.0, independent=True)
        async def list_skills(context: ToolContext) -> str:  # noqa: ARG001 - every tool has it
            """List the skills there are: instructions for kinds of work."""
            lines = [
                f"- {_line(skill)}" if self.usable(skill) else f"- {skill.name}: waits for the user"
                for skill in self.skills
            ]
            return "\n".join(lines) or "There are no skills."

        @tool(timeout=30.0, independent=True)
        async def load_skill(
            context: ToolContext,  # noqa: ARG001 - every tool has it
            name: str,
            file: str = "",
        ) -> str:
            """Read a skill's instructions, or another file that belongs to it.

            Args:
                name: The skill.
                file: A file in the skill's folder; empty for the instructions themselves.
            """
            return await self.load(name, file)

        return Tools([list_skills, load_skill])

    def _scan(self) -> tuple[dict[str, Skill], list[str]]:
        found: dict[str, Skill] = {}
        problems: list[str] = []
        places: list[tuple[Path, Literal["user", "workspace"]]] = [(self._home / "skills", "user")]
        for root in with_state(self._roots, self._home):
            place = root / STATE / "skills"
            if not place.is_dir():
                continue
            if not self._trusted:
                problems.append(
                    Words("{place}: skipped, the workspace is not trusted", place=place)
                )
            elif place.resolve() != Path(os.path.realpath(root)) / STATE / "skills":
                problems.append(
                    Words("{place}: skipped, a link points outside the workspace", place=place)
                )
            else:
                places.append((place, "workspace"))
        for place, origin in places:
            for folder in _folders(place):
                try:
                    skill = self._skill(folder, origin)
                except (SkippedFile, ValueError) as error:
                    problems.append(Words("{folder}: skipped: {why}", folder=folder, why=error))
                    continue
                if skill.name.casefold() in found:
                    problems.append(
                        Words(
                            "{folder}: skipped: a skill {name} exists",
                            folder=folder,
                            name=skill.name,
                        )
                    )
                elif len(found) < MAX_SKILLS:
                    found[skill.name.casefold()] = skill
                else:
                    problems.append(
                        Words(
                            "{folder}: skipped: more than {what} skills",
                            folder=folder,
                            what=MAX_SKILLS,
                        )
                    )
        return found, problems

    def _skill(self, folder: Path, origin: Literal["user", "workspace"]) -> Skill:
        if origin == "workspace" and folder.is_symlink():
            raise SkippedFile("it is a link")
        folder = folder.resolve()
        data = read_regular(folder / NAME, limit=MAX_FILE)
        values, _ = front_matter(data)
        name = values.get("name", folder.name)
        if not isinstance(name, str) or not _NAME.match(name):
            raise ValueError("its name is none: letters, digits, dots, dashes, 64 at most")
        description = values.get("description", "")
        if not isinstance(description, str) or not description.strip():
            raise ValueError("it has no description")
        description = shown(" ".join(description.split()))[:MAX_DESCRIPTION]
        triggers = _texts(values.get("triggers")) or _triggers(name, description)
        audit = audit_skill(folder)
        allowed = _texts(values.get("allowed-tools", values.get("allowed_tools")))
        lower = tuple(dict.fromkeys(trigger.lower() for trigger in triggers))
        return Skill(name, description, folder, origin, lower, allowed, audit)

    def _read(self, skill: Skill, file: str) -> str:
        data = read_regular(skill.folder / file, limit=MAX_FILE, root=skill.folder)
        key = key_of(skill.name, file, hashlib.sha256(data).hexdigest())
        if key in self._texts:
            return self._texts[key]
        if audit_skill(skill.folder).digest != skill.audit.digest:
            raise UsageError(
                "The skill {name} has changed since its audit; scan again.",
                name=skill.name,
            )
        text = data.decode("utf-8-sig", "replace")
        if file == NAME:
            text = front_matter(data)[1]
        if len(text) > MAX_TEXT:
            text = f"{text[:MAX_TEXT]}\n[cut: {len(text) - MAX_TEXT} more characters]"
        others = [name for name in skill.audit.files if name != NAME][:100]
        more = f"\n\nOther files of this skill (load_skill reads them): {', '.join(others)}"
        more = more if others else ""
        text = text.strip().replace("</skill", "<\\/skill") + (more if file == NAME else "")
        text = f'<skill name="{skill.name}">\n{text}\n</skill>'
        self._texts[key] = text
        return text


def _folders(place: Path) -> list[Path]:
    try:
        return sorted(
            p for p in place.iterdir() if not p.name.startswith(".") and (p / NAME).exists()
        )
    except OSError:
        return []


def _texts(value: Any) -> tuple[str, ...]:
    """Return a list of texts, or one text divided at commas and blanks."""
    if isinstance(value, str):
        value = re.split(r"[,\s]+", value)
    if not isinstance(value, list):
        return ()
    return tuple(text.strip()[:60] for text in value if isinstance(text, str) and text.strip())[:50]


def _triggers(name: str, description: str) -> tuple[str, ...]:
    """Return the default triggers of a skill: its name, and the quoted words."""
    return (name, name.replace("-", " ").replace("_", " "), *_QUOTED.findall(description))


def _hits(skill: Skill, said: set[str], lower: str) -> int:
    """Count the triggers found in a task: as whole words, or literally."""
    return sum(1 for trigger in skill.triggers if _has(trigger, said, lower))


def _has(trigger: str, said: Iterable[str], lower: str) -> bool:
    if trigger.isascii() and trigger.isalnum():
        return trigger in said
    return trigger in lower


def _line(skill: Skill) -> str:
    whose = "" if skill.origin == "user" else " (from the workspace)"
    return f"{skill.name}{whose}: {skill.description}".replace("</skills", "<\\/skills")
