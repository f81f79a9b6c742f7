"""Which files hold tests, by the conventions of each language's test runners."""

from __future__ import annotations

import re

_FOLDERS = frozenset("test tests testing __tests__ spec specs unittest unittests testsuite".split())
_NAME = re.compile(
    r"(?:test|tests)[-_].*|.*[-_](?:test|tests|spec)|.*\.(?:test|spec|cy)|(?:tests?|conftest)"
    r"|.*[a-z0-9]Tests?|.*TestCase|Test[A-Z].*"
)


def is_test_file(path: str) -> bool:
    """Return whether a file, by its path below the workspace, belongs to tests."""
    *folders, name = path.split("/")
    if any(folder.lower() in _FOLDERS for folder in folders):
        return True
    return _NAME.fullmatch(name.rpartition(".")[0]) is not None
