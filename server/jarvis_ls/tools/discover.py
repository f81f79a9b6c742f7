"""Finding the built-in tools: every module of a package that holds a tool of its own name."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from jarvis_ls.runtime.tools.tool import Tool


def builtin_tools() -> list[Tool]:
    """All tools of this package, by name."""
    from jarvis_ls import tools

    return tools_of(tools)


def tools_of(package: ModuleType) -> list[Tool]:
    """Return the tools of a package, by name: one a module, both with one name.

    Modules without a tool are support for others. Raises `ValueError` for a tool that is not
    named like its module, or a name that comes twice.
    """
    found: dict[str, Tool] = {}
    for entry in sorted(pkgutil.iter_modules(package.__path__), key=lambda e: e.name):
        module = importlib.import_module(f"{package.__name__}.{entry.name}")
        for name, value in vars(module).items():
            if not isinstance(value, Tool) or _is_imported(value, module):
                continue
            if not name == value.spec.name == entry.name:
                raise ValueError(f"{module.__name__}: the tool {value.spec.name} has another name")
            if name in found:
                raise ValueError(f"two tools are named {name}")
            found[name] = value
    return list(found.values())


def _is_imported(value: Tool, module: ModuleType) -> bool:
    return getattr(value.run, "__module__", module.__name__) != module.__name__
