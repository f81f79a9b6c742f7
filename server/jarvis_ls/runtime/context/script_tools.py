"""Tools that are scripts in the settings: shell, Python, JavaScript, WebAssembly.

    [[scripted_tools]]
    name = "count_lines"
    description = "Count the lines of a file."
    script_type = "python"       # shell, python, javascript, wasm
    script = '''
    import sys
    print(sum(1 for _ in open(sys.argv[1])))
    '''
    timeout = 30                 # seconds
    network = false              # whether it may open connections
    parameters = { type = "object", properties = { path = { type = "string" } } }

They are in the user's settings, in `~/.jarvis/scripted_tools.toml` (or `.yaml`), and in a
trusted workspace's `.jarvis/scripted_tools.toml`. `script` may be the name of a file beside the
settings; a WebAssembly tool is a `.wasm` file, or text in its text form.

A script gets its arguments as data and never as code: in the order of its properties as `$1`,
`sys.argv`, `process.argv`; by name as `ARG_<NAME>`; and all together as JSON in `JARVIS_ARGS`.
It runs in the sandbox (`context.services["sandbox"]`, a `Ladder`), on a copy of the workspace and
without secrets in its environment; without a sandbox it does not run. What it changes in the
workspace is shown before it is written. The gate is shown the whole script.

To join: `Joined([…, scripted_toolset(home, roots, trusted=…, settings=…)])`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import STATE, read_regular
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.yaml_files import read_settings
from jarvis_ls.runtime.llm.platforms.base import ToolSpec
from jarvis_ls.runtime.sandbox.base import Ran, Script
from jarvis_ls.runtime.sandbox.carrying import carry
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.schema_tools import (
    Failed,
    SchemaTool,
    SchemaToolset,
    check_schema,
    is_name,
    usable_schema,
)
from jarvis_ls.runtime.tools.tool import Action, ToolContext
from jarvis_ls.runtime.tools.workspace_extras import with_state

ScriptType = Literal["shell", "python", "javascript", "wasm"]
SECONDS = 60.0
MAX_SCRIPT = 200_000
"""Characters of a script."""
MAX_MODULE = 5_000_000
"""Bytes of a WebAssembly module."""
MAX_ARGUMENTS = 60_000
"""Characters of all arguments of a call; systems limit what a program can be started with."""

PONDERING = 3600.0
"""Seconds a person may take to look at what a script changed."""

_INTERPRETERS: dict[ScriptType, str] = {
    "shell": "sh",
    "python": "python3",
    "javascript": "node",
    "wasm": "sh",
}
_KEYS = {"name", "description", "script_type", "script", "parameters", "timeout", "network"}


@dataclass(frozen=True, slots=True)
class ScriptedTool:
    """One tool of the settings."""

    name: str
    description: str
    script_type: ScriptType
    script: str
    """Its text; of WebAssembly the module as base64."""
    parameters: dict[str, Any]
    timeout: float = SECONDS
    network: bool = False

    @property
    def command(self) -> str:
        """The command that the permission gate shows and decides on."""
        if self.script_type == "shell":
            return self.script
        if self.script_type == "wasm":
            digest = hashlib.sha256(self.script.encode()).hexdigest()[:12]
            return f"wasmtime run {self.name}-{digest}.wasm"
        flag = "-c" if self.script_type == "python" else "-e"
        return shlex.join([_INTERPRETERS[self.script_type], flag, self.script])

    def actions(self, _: dict[str, Any]) -> list[Action]:
        """Return the actions of a call."""
        found = [Action("execute", self.command)]
        return [*found, Action("connect", "any host")] if self.network else found


class ScriptedTools(SchemaToolset):
    """The tools that could be understood."""

    def __init__(self, tools: Sequence[ScriptedTool], problems: Sequence[str]) -> None:
        super().__init__({tool.name: _schema_tool(tool) for tool in tools})
        self.problems = tuple(problems)
        """Files and tools left out, in words for the user."""


def scripted_toolset(
    home: Path,
    roots: Sequence[Path] = (),
    *,
    trusted: bool = False,
    settings: Any = None,
    taken: Collection[str] = (),
) -> ScriptedTools:
    """Return the user's scripted tools, then those of a trusted workspace; a name is used once.

    `settings` is the list `scripted_tools` of the user's own settings. Never raises for what
    the files say; call it off the event loop.
    """
    tools: dict[str, ScriptedTool] = {}
    problems: list[str] = []
    sources: list[tuple[Any, Path, Path | None, str]] = []
    if settings is not None:
        sources.append((settings, home, None, "settings"))
    for folder, root in [(home, None), *((root / STATE, root) for root in with_state(roots, home))]:
        for end in (".toml", ".yaml", ".yml"):
            path = folder / f"scripted_tools{end}"
            if not path.is_file() and not path.is_symlink():
                continue
            if root is not None and not trusted:
                problems.append(Words("{path}: not read, the workspace is not trusted", path=path))
                continue
            try:
                data = read_settings(path if root is not None else path.resolve(), root)
            except (SkippedFile, ValueError) as error:
                problems.append(Words("{path}: skipped: {why}", path=path, why=error))
                continue
            listed = data.get("scripted_tools") if isinstance(data, dict) else data
            sources.append((listed, folder, root, str(path)))
    for listed, folder, root, where in sources:
        if not isinstance(listed, list):
            problems.append(Words("{where}: scripted_tools must be a list of tables", where=where))
            continue
        for number, table in enumerate(listed, 1):
            try:
                tool = read_tool(table, folder, root)
            except (SkippedFile, ValueError) as error:
                problems.append(
                    Words(
                        "{where}: scripted tool {number} is skipped: {why}",
                        where=where,
                        number=number,
                        why=error,
                    )
                )
                continue
            if tool.name in taken or tool.name in tools:
                problems.append(
                    Words(
                        "{where}: {name} is skipped: a tool of this name exists",
                        where=where,
                        name=tool.name,
                    )
                )
            else:
                tools[tool.name] = tool
    return ScriptedTools(list(tools.values()), problems)


def read_tool(table: Any, folder: Path, root: Path | None = None) -> ScriptedTool:
    """One tool of the settings; `folder` is where files it names are.

    Raises `ValueError` or `SkippedFile` saying what is wrong.
    """
    if not isinstance(table, dict):
        raise ValueError("it is not a table")
    if unknown := set(map(str, table)) - _KEYS:
        raise ValueError(f"unknown setting {sorted(unknown)[0]!r}")
    name, described = table.get("name"), table.get("description", "")
    if not isinstance(name, str) or not is_name(name):
        raise ValueError("a name has up to 64 letters, digits, dashes and underscores")
    if not isinstance(described, str) or not described.strip():
        raise ValueError("it has no description")
    kind: ScriptType | None = next(
        (k for k in _INTERPRETERS if k == table.get("script_type")), None
    )
    if kind is None:
        raise ValueError(f"script_type must be one of {', '.join(_INTERPRETERS)}")
    schema = usable_schema(table.get("parameters", {"type": "object"}))
    check_schema(schema)
    names = [_variable(keyword) for keyword in schema["properties"]]
    if len(set(names)) < len(names):
        raise ValueError("two parameters would have the same variable")
    seconds = table.get("timeout", SECONDS)
    if (
        not isinstance(seconds, (int, float))
        or isinstance(seconds, bool)
        or not 0 < seconds <= 3600
    ):
        raise ValueError("timeout must be seconds, up to an hour")
    network = table.get("network", False)
    if not isinstance(network, bool):
        raise ValueError("network must be true or false")
    script = _script(table.get("script"), kind, folder, root)
    described = shown(described.strip())
    return ScriptedTool(name, described, kind, script, schema, float(seconds), network)


async def run_scripted(
    tool: ScriptedTool, context: ToolContext, arguments: Mapping[str, Any]
) -> str:
    """Run the script and return its output. Raise `JarvisError` when it fails."""
    ladder = context.services.get("sandbox")
    if not isinstance(ladder, Ladder):
        raise JarvisError("Scripts cannot be run here: there is no sandbox. Nothing was run.")
    sandbox = await ladder.best(trusted=context.trusted)
    given = [_text(arguments[n]) if n in arguments else "" for n in tool.parameters["properties"]]
    while given and list(tool.parameters["properties"])[len(given) - 1] not in arguments:
        given.pop()
    environment = {f"ARG_{_variable(name)}": _text(value) for name, value in arguments.items()}
    environment["JARVIS_ARGS"] = json.dumps(dict(arguments), ensure_ascii=False)
    if any("\0" in value for value in environment.values()):
        raise JarvisError("An argument contains a NUL character; nothing was run.")
    if sum(map(len, environment.values())) > MAX_ARGUMENTS:
        raise JarvisError(
            "The arguments have more than {most} characters; nothing was run.", most=MAX_ARGUMENTS
        )
    text = _program(tool, given)
    script = Script(_INTERPRETERS[tool.script_type], text, tool.timeout, tool.network, environment)
    here = current_call()
    if here is not None:
        here.show(isolation=sandbox.name)
    ran = await sandbox.run(script, context.roots, None if here is None else here.grow)
    if here is not None:
        here.show(isolation=ran.isolation)
    return await _wording(tool, ran, context)


def _schema_tool(tool: ScriptedTool) -> SchemaTool:
    async def run(context: ToolContext, arguments: dict[str, Any]) -> str:
        return await run_scripted(tool, context, arguments)

    spec = ToolSpec(tool.name, tool.description, tool.parameters)
    return SchemaTool(spec, run, tool.actions, tool.timeout + PONDERING)


def _program(tool: ScriptedTool, given: Sequence[str]) -> str:
    """Return the script with its arguments, each quoted or as JSON, in front of it."""
    if tool.script_type == "shell":
        return f"set -- {shlex.join(given)}\n{tool.script}"
    values = json.dumps(list(given))
    if tool.script_type == "python":
        name = f"{tool.name}.py"
        return (
            f"import json, sys\nsys.argv = [{name!r}, *json.loads({values!r})]\n"
            f"exec(compile({tool.script!r}, {name!r}, 'exec', dont_inherit=True))\n"
        )
    if tool.script_type == "javascript":
        name = json.dumps(f"{tool.name}.js")
        return f"process.argv = [process.argv[0], {name}, ...{values}];\n{tool.script}"
    return _WASM.replace("@MODULE@", tool.script).replace("@ARGS@", shlex.join(given))


_WASM = """
module="${TMPDIR:-/tmp}/jarvis-module-$$.wasm"
base64 -d >"$module" <<'JARVIS_MODULE'
@MODULE@
JARVIS_MODULE
if command -v wasmtime >/dev/null 2>&1; then
    exec wasmtime run --dir=. "$module" @ARGS@
fi
echo "There is no wasmtime on this machine, which WebAssembly tools run on." >&2
exit 127
"""


async def _wording(tool: ScriptedTool, ran: Ran, context: ToolContext) -> str:
    """Return the result of a run for the model. Raise `Failed` when it failed."""
    output = ran.output.rstrip()
    if ran.ended:
        raise Failed(
            "{tool} was stopped: {why}.\n{output}", tool=tool.name, why=ran.ended, output=output
        )
    if ran.exit != 0:
        raise Failed(
            "{tool} failed with exit status {status}.\n{output}",
            tool=tool.name,
            status=ran.exit,
            output=output,
        )
    parts = [output] if output else []
    if ran.changes:
        parts.append(await carry(ran.changes, context))
    parts.extend(f"Not carried over: {said}" for said in ran.left_out)
    return "\n\n".join(parts)


def _script(value: Any, kind: ScriptType, folder: Path, root: Path | None) -> str:
    """Return the text to run: what is in the settings, or in the file they name."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("it has no script")
    named = "\n" not in value and len(value) < 200 and (folder / value).is_file()
    if named:
        path = folder / value
        data = read_regular(
            path if root is not None else path.resolve(),
            limit=MAX_MODULE if kind == "wasm" else MAX_SCRIPT,
            root=root,
        )
    else:
        data = value.encode("utf-8", "replace")
    if kind == "wasm":
        return "\n".join(re.findall(".{1,76}", base64.b64encode(data).decode()))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("its script is not UTF-8") from None
    if len(text) > MAX_SCRIPT or "\0" in text:
        raise ValueError(f"its script is not a text of at most {MAX_SCRIPT} characters")
    return text


def _variable(name: str) -> str:
    return re.sub(r"[^A-Z0-9_]", "_", name.upper())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
