"""Tools that users write: `~/.jarvis/tools/*.py`, in the shape of the built-in ones.

    from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool

    @tool(actions=lambda a: [Action("connect", "https://status.example.com")])
    async def build_state(context: ToolContext, branch: str) -> str:
        \"\"\"State of the last build of a branch.\"\"\"

Loading a file runs it, with all the rights of the user. Files of a workspace (`.jarvis/tools`)
are loaded only when the user trusts it. A file that does not load is named with the reason, and
the others still work.

To join: `Joined([Tools(builtin_tools()), user_toolset(home, roots, trusted=…), …])`, below the
permission gate; a built-in tool keeps its name.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from jarvis_ls.core.files import STATE, kind_of
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.tools.tool import Tool, Tools
from jarvis_ls.runtime.tools.workspace_extras import with_state

FOLDER = "tools"


class UserTools(Tools):
    """The tools that could be loaded."""

    def __init__(self, tools: Sequence[Tool], problems: Sequence[str]) -> None:
        super().__init__(tools)
        self.problems = tuple(problems)
        """Files and tools left out, in words for the user."""


def user_toolset(
    home: Path,
    roots: Sequence[Path] = (),
    *,
    trusted: bool = False,
    taken: Collection[str] = (),
    central: Path | None = None,
    allowed: Callable[[Path], bool] = lambda _: False,
) -> UserTools:
    """Return the user's tools, then those of workspace folders that are trusted, then those of the
    folder `central` of a team: of these only files that are `allowed`.

    Names in `taken` (of built-in tools) are left out, as are names met twice. Blocks while the
    files run; call it off the event loop. Never raises for what is in the files.
    """
    tools: dict[str, Tool] = {}
    problems: list[str] = []
    for folder, root in [
        (home / FOLDER, None),
        *((r / STATE / FOLDER, r) for r in with_state(roots, home)),
    ]:
        files = _files(folder, root, problems)
        if files and root is not None and not trusted:
            problems.append(
                Words("{folder}: not loaded, the workspace is not trusted", folder=folder)
            )
            continue
        for path in files:
            for name, tool in _load(path, problems).items():
                if name in taken or name in tools:
                    problems.append(
                        Words(
                            "{path}: {name} is skipped: a tool of this name exists",
                            path=path,
                            name=name,
                        )
                    )
                else:
                    tools[name] = tool
    for path in _files(central, central.parent, problems) if central is not None else ():
        if not allowed(path):
            problems.append(
                Words(
                    "{path}: not loaded before you have read it: jarvis share allow {name}",
                    path=path,
                    name=path.stem,
                )
            )
            continue
        for name, tool in _load(path, problems).items():
            if name not in taken:
                tools.setdefault(name, tool)
    return UserTools(list(tools.values()), problems)


def _files(folder: Path, root: Path | None, problems: list[str]) -> list[Path]:
    if not folder.is_dir():
        return []
    if root is not None and folder.resolve() != Path(os.path.realpath(root)) / folder.relative_to(
        root
    ):
        problems.append(
            Words("{folder}: not loaded, a link points outside the workspace", folder=folder)
        )
        return []
    try:
        paths = sorted(p for p in folder.glob("*.py") if not p.name.startswith((".", "_")))
    except OSError as error:
        problems.append(Words("{folder}: not loaded: {why}", folder=folder, why=error.strerror))
        return []
    found = []
    for path in paths:
        try:  # the user's own files may be links; those of a workspace may not
            mode = path.lstat().st_mode if root is not None else path.stat().st_mode
        except OSError as error:
            problems.append(Words("{path}: not loaded: {why}", path=path, why=error.strerror))
            continue
        if kind := kind_of(mode):
            problems.append(Words("{path}: not loaded, it is {kind}", path=path, kind=kind))
        else:
            found.append(path)
    return found


def _load(path: Path, problems: list[str]) -> dict[str, Tool]:
    """Return the tools a file makes, by name."""
    key = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    name = f"_jarvis_tools_{key}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        problems.append(Words("{path}: not loaded: not a Python module", path=path))
        return {}
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations of a module are looked up there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's file may raise anything
        sys.modules.pop(name, None)
        problems.append(
            Words(
                "{path}: not loaded: {name}: {why}", path=path, name=type(error).__name__, why=error
            )
        )
        return {}
    tools = {value.spec.name: value for value in vars(module).values() if isinstance(value, Tool)}
    if not tools:
        problems.append(
            Words(
                "{path}: defines no tool; a tool is an async function decorated with @tool",
                path=path,
            )
        )
    return tools
