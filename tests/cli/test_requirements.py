"""What a command imports, at once or later, comes with what its users are told to install."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


@pytest.mark.parametrize(
    ("command", "extras"),
    [
        ("jsec", ()),
        ("proving", ("agent", "migrate")),
        ("repairing", ("agent", "migrate")),
        ("verifying", ("agent", "migrate")),
        ("mcp", ("agent",)),
        ("acp", ("agent",)),
        ("jc2r", ("migrate",)),
        ("rewriting", ("agent", "migrate")),
        ("evolving", ("agent", "migrate")),
        ("preparing", ("agent", "migrate")),
        ("replacing", ("agent", "migrate")),
        ("whole_way", ("agent", "migrate")),
        ("jarvis", ("agent",)),
        ("test_repair_command", ("agent",)),
        ("jca", ("agent",)),
        ("language_server", ("agent", "migrate")),
    ],
)
def test_everything_a_command_imports_is_installed_with_it(
    command: str, extras: tuple[str, ...]
) -> None:
    brought = installed_with(extras)
    distributions = packages_distributions()
    missing = {
        module
        for module in imported_by(f"jarvis_ls.cli.{command}")
        if not brought & {canonicalize_name(one) for one in distributions.get(module, [module])}
    }
    assert not missing


SAYS_WHAT_IS_MISSING = frozenset(
    {
        "jarvis_ls.cli.evolving",
        "jarvis_ls.cli.polishing",
        "jarvis_ls.cli.preparing",
        "jarvis_ls.cli.proving",
        "jarvis_ls.cli.repairing",
        "jarvis_ls.cli.replacing",
        "jarvis_ls.cli.rewriting",
        "jarvis_ls.cli.verifying",
        "jarvis_ls.cli.whole_way",
        "jarvis_ls.jsec.cluster.hosts",
        "jarvis_ls.jsec.proof.symbolic.refutation",
        "jarvis_ls.facade.proving",
        "jarvis_ls.codeintel.clang",
        "jarvis_ls.runtime.sandbox.engine",
    }
)
"""Loaded where it is said which extras are needed when those are missing."""
ONLY_WITH_AGENTS = frozenset({"jarvis_ls.runtime.tools.tool"})
"""Imports packages of the extra `agent` in functions that only agents call."""


def imported_by(module: str) -> set[str]:
    """Packages of others that a module imports, or a module of ours that it imports."""
    graph = grimp.build_graph(
        "jarvis_ls",
        include_external_packages=True,
        exclude_type_checking_imports=True,
        cache_dir=None,
    )
    seen, queue = {module}, [module]
    while queue:
        new = (
            graph.find_modules_directly_imported_by(queue.pop())
            - seen
            - SAYS_WHAT_IS_MISSING
            - ONLY_WITH_AGENTS
        )
        seen |= new
        queue += new
    known = sys.stdlib_module_names
    return {one for one in seen if not one.startswith("jarvis_ls") and one not in known}


def installed_with(extras: tuple[str, ...]) -> set[str]:
    """Names of what the project asks for with these extras, and of what that needs."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"]]
    for extra in extras:
        asked += project["optional-dependencies"][extra]
    found: set[str] = set()
    queue = [Requirement(one) for one in asked]
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        if name not in found:
            found.add(name)
            queue += needs_of(requirement)
    return found


def needs_of(requirement: Requirement) -> list[Requirement]:
    """What an installed package needs here; nothing of one that only another Python needs."""
    try:
        told = [Requirement(text) for text in requires(requirement.name) or []]
    except PackageNotFoundError:
        return []
    return [one for one in told if one.marker is None or one.marker.evaluate({"extra": ""})]
