"""Run a script in a sandbox, on a copy of the workspace; what it changes there is a proposal."""

from __future__ import annotations

import re
from typing import Annotated, Any

import pydantic

from jarvis_ls.core.words import Words, together
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.base.events import ScriptRun
from jarvis_ls.runtime.sandbox.background import LONGEST as LONGEST_IN_BACKGROUND
from jarvis_ls.runtime.sandbox.background import SERVICE, BackgroundScripts
from jarvis_ls.runtime.sandbox.base import Ran, Sandbox, Script
from jarvis_ls.runtime.sandbox.carrying import carry
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.tools.current_call import current_call
from jarvis_ls.runtime.tools.long_output import shorten
from jarvis_ls.runtime.tools.permissions import shown, shown_target
from jarvis_ls.runtime.tools.tool import Action, ToolContext, tool

READABLE = "readable"
"""Service that returns more folders of this machine that scripts may read."""
LONGEST = 1800
"""Seconds a script may take at most."""

_SHELLS = frozenset({"sh", "bash", "dash", "ash"})
"""Whose scripts the gate understands; zsh and ksh mean other things by the same words."""
_NAMED = 6
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._+-]{0,40}")


def actions(arguments: dict[str, Any]) -> list[Action]:
    """Return the actions of a call.

    A shell script is parsed by the permission gate; any other is what a shell would start, which
    only a rule for any program allows, and its interpreter can be forbidden by name.
    """
    interpreter, script = arguments["interpreter"], arguments["script"]
    if interpreter in _SHELLS:
        found = [Action("execute", script)]
    else:
        found = [
            Action("execute", interpreter),
            Action("execute", f"exec {interpreter} <<'SCRIPT'\n{script}\nSCRIPT"),
        ]
    if arguments["network"]:
        found.append(Action("connect", "any host"))
    return found


async def preview(arguments: dict[str, Any], context: ToolContext) -> ScriptRun:
    """Return what a call would run, and where. Raise `NoSandbox` when it could not run."""
    ladder: Ladder | None = context.services.get("sandbox")
    sandbox = None if ladder is None else await ladder.best(trusted=context.trusted)
    if ladder is not None and context.trusted and context.session:
        ladder.prepare(context.roots, context.session, trusted=context.trusted)
    name = "" if sandbox is None else sandbox.name
    return ScriptRun(
        arguments["interpreter"],
        "\n".join(shown_target(line) for line in arguments["script"].split("\n")),
        shown_target(str(context.roots[0])) if context.roots else "",
        bool(arguments["network"]) or name == "none",
        name,
    )


@tool(
    actions=actions, script=preview, timeout=LONGEST + 3600, sandboxed=True
)  # the script has its own limit; people may ponder
async def execute_script(
    context: ToolContext,
    script: str,
    interpreter: str = "bash",
    timeout: Annotated[int, pydantic.Field(ge=1, le=LONGEST_IN_BACKGROUND)] = 120,
    network: bool = False,
    background: bool = False,
) -> str:
    """Run a script (commands, builds, tests, analyses) and return its output and exit code.

    It runs in a sandbox, in the first workspace folder, on a copy of the workspace as it is now;
    it may write there and below $TMPDIR. It cannot ask for input and has no network unless
    allowed. Files it changes are shown to the user; only what the user accepts is written to the
    workspace. What a build makes (build folders, object files, programs, what git ignores) stays
    in the sandbox for your next script and is never proposed. Changes below .git and processes do
    not outlive it. Of output over 10,000 characters you get both ends, and a file with all of it
    for read_code.

    Args:
        script: Text of the script.
        interpreter: Program that runs it: bash, sh, python3, node, perl, …
        timeout: Seconds until it is ended, with all it started; in the background up to 14,400.
        network: Whether it needs the network; asks the user.
        background: Return its id at once; script_output then reads, waits for or ends it.
    """
    if not _NAME.fullmatch(interpreter):
        raise ToolRetry("interpreter must be the name of a program, such as bash or python3.")
    if not script.strip():
        raise ToolRetry("The script is empty; nothing was run.")
    ladder: Ladder | None = context.services.get("sandbox")
    if ladder is None:
        raise ToolRetry("Scripts cannot be run here: there is no sandbox. Nothing was run.")
    if timeout > LONGEST and not background:
        raise ToolRetry("Only in the background may a script take longer than 1,800 s.")
    sandbox = await ladder.best(trusted=context.trusted, session=context.session)
    here = current_call()
    asked = Script(
        interpreter,
        script,
        float(timeout),
        network,
        session=context.session,
        readable=context.services.get(READABLE, tuple)(),
    )
    if background:
        return await _start(sandbox, asked, context)
    if here is not None:
        here.show(isolation=sandbox.name)
    ran = await sandbox.run(asked, context.roots, None if here is None else here.grow)
    if here is not None:
        here.show(isolation=ran.isolation)
        here.failed = bool(ran.ended) or ran.exit != 0
    return await _report(ran, sandbox.builds, network, context)


async def _start(sandbox: Sandbox, script: Script, context: ToolContext) -> str:
    """Start a script that runs on; what to tell the model."""
    scripts, here = context.services.get(SERVICE), current_call()
    if not isinstance(scripts, BackgroundScripts) or here is None:
        raise ToolRetry("Scripts cannot run in the background here. Nothing was run.")
    started = await scripts.add(here)

    async def report(ran: Ran) -> str:
        return await _report(ran, sandbox.builds, script.network, context, with_output=False)

    started.begin(sandbox, script, context, report)
    return Words(
        "{id} runs in the background. Until it has ended, other scripts run in another copy of the"
        " workspace, without its files and what it builds.",
        id=started.id,
    )


async def _report(
    ran: Ran, builds: bool, network: bool, context: ToolContext, *, with_output: bool = True
) -> str:
    how = (
        Words("It was ended: {why}.", why=ran.ended)
        if ran.ended
        else Words("Exit code {code}.", code=ran.exit)
    )
    reach = Words(
        "network allowed" if network or ran.isolation.startswith("none") else "no network"
    )
    where = Words(
        "Isolation: {isolation}, {reach}. {seconds} s.",
        isolation=ran.isolation,
        reach=reach,
        seconds=f"{ran.seconds:.1f}",
    )
    parts: list[str] = [together([how, where], " ")]
    if with_output:
        output = await shorten(ran.output.rstrip("\n"), context)
        parts.append(output or Words("(no output)"))
    if ran.changes:
        parts.append(await carry(ran.changes, context))
    if ran.built:
        names = ", ".join(shown(path) for path in ran.built[:_NAMED])
        more = f" (+{len(ran.built) - _NAMED})" if len(ran.built) > _NAMED else ""
        parts.append(
            Words("Built, kept in the sandbox and not proposed: {names}.", names=names + more)
        )
    if not builds and ran.exit:
        parts.append(
            Words(
                "In this sandbox no compiled program can be run: modes of files cannot be changed"
                " there. Installing bubblewrap helps."
            )
        )
    if ran.left_out:
        parts.append(together([_sentence(said) for said in ran.left_out], "\n"))
    return together(parts, "\n\n")


def _sentence(said: str) -> str:
    whole = said.startswith("Warning")
    return said if whole else Words("Not carried over: {what}.", what=said)
