"""One thing that a project teaches, before it is a memory."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

LEARNED = "learned"
"""Tag of memories that were made of lessons, and not by a person or a model."""
RULES = "rules"
"""Tag of lessons that somebody has written down as rules."""
TOGETHER = "changes-together"
"""Tag of lessons on files that change together; see `partners`."""
MAX_TEXT = 2_000
"""Characters of a lesson."""
_NAMED = re.compile(r"`([^`\n]{1,400})`")
_PARTNER = re.compile(r"^- `([^`\n]{1,400})`: (\d{1,6}) of (\d{1,6}) commits$")


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is learnt from one source."""

    source: str
    """What it is known by from one time to the next, such as `commit:` and a name."""
    category: str
    """One of `entry.CATEGORIES`."""
    title: str
    """In a line."""
    content: str
    """For people and models; files it is about stand in backquotes."""
    tags: tuple[str, ...]
    """Besides `LEARNED`."""
    directory: str = ""
    """Folder that it is about; empty means the whole project."""
    time: int = 0
    """When it was so, in seconds since 1970; 0 means now."""

    @property
    def digest(self) -> str:
        """Return the same for lessons that say the same."""
        said = "\0".join((self.category, self.title, self.content, *self.tags, self.directory))
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class Partner:
    """A file that changed as a rule when another did."""

    path: str
    """The file."""
    together: int
    """Commits that changed both."""
    alone: int
    """Commits that changed the other, these among them."""


def named_files(content: str) -> list[str]:
    """Return what stands in backquotes, in order."""
    return _NAMED.findall(content)


def partners(content: str) -> list[Partner]:
    """Return the partners that a memory with the tag `TOGETHER` lists."""
    found = [match.groups() for line in content.split("\n") if (match := _PARTNER.match(line))]
    return [Partner(path, int(together), int(alone)) for path, together, alone in found]


def partner_line(partner: Partner) -> str:
    """Return the line that `partners` reads."""
    return f"- `{partner.path}`: {partner.together} of {partner.alone} commits"
