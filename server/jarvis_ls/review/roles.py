"""What different reviewers look for; the text each reads is `prompts/ROLE.md`."""

from __future__ import annotations

from enum import Enum

from jarvis_ls.core.words import Words


class Role(str, Enum):
    """What a reviewer looks for."""

    SECURITY = "security"
    CORRECTNESS = "correctness"
    TESTS = "tests"
    MAINTAINABILITY = "maintainability"


TITLES: dict[Role, Words] = {
    Role.SECURITY: Words("the reviewer of security"),
    Role.CORRECTNESS: Words("the reviewer of correctness"),
    Role.TESTS: Words("the reviewer of tests"),
    Role.MAINTAINABILITY: Words("the reviewer of maintainability"),
}
"""What each is called."""
