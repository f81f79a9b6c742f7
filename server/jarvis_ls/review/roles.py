"""What different reviewers look for; the text each reads is `prompts/ROLE.md`."""

from __future__ import annotations

from enum import Enum


class Role(str, Enum):
    """What a reviewer looks for."""

    SECURITY = "security"
    CORRECTNESS = "correctness"
    TESTS = "tests"
    MAINTAINABILITY = "maintainability"


TITLES: dict[Role, str] = {
    Role.SECURITY: "the reviewer of security",
    Role.CORRECTNESS: "the reviewer of correctness",
    Role.TESTS: "the reviewer of tests",
    Role.MAINTAINABILITY: "the reviewer of maintainability",
}
"""What models are told each is."""
