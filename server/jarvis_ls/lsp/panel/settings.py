"""What the panel shows of models, commands and settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jarvis_ls.assembly.settings_file import DIRECTIVE, FILE, SCHEMA
from jarvis_ls.core.errors import JarvisError
from jarvis_ls.lsp.protocol.panel import (
    CommandItem,
    Completion,
    ModelChoice,
    ModelState,
    ProviderItem,
    SettingGroup,
    SettingLine,
    SettingsShown,
)

if TYPE_CHECKING:
    from jarvis_ls.assembly.bootstrap import Assembly
    from jarvis_ls.assembly.conversation import Conversation
    from jarvis_ls.lsp.user_messages import Messages

TEMPLATE = f"""\
{DIRECTIVE}\
# Settings of Jarvis for this user. Keys never stand here: put them into environment
# variables, or have them kept by "Jarvis: Set Up a Model" or `jarvis setup`.

# Which models answer, the preferred one first. Names are provider/model.
#[model_groups.balanced]
#models = ["deepseek/deepseek-chat"]

# A provider of your own: any server that speaks the protocol of OpenAI.
#[model_providers.office]
#base = "http://localhost:8080/v1"
#env_keys = ["OFFICE_KEY"]
#timeout = 600

# What is known of a model: tokens it takes, price of a million tokens.
#[models."office/large"]
#window = 64000
#input_price = 0.5

# What agents may do without being asked, must ask for, or must not do.
#[[permissions]]
#effect = "allow"
#tool = "execute_script"
#target = "cargo test*"

# How many agents of one agent work at the same time, what a session may spend before you are
# asked, and which models answer for each kind of agent.
#[agents]
#parallel = 4
#tokens = 2000000
#cost = 5.0
#[agents.groups]
#root = "think"
#child = "balanced"
#act = "act"
"""


class Commands:
    """The commands of the input line, as they are offered before a session has begun."""

    def __init__(self, say: Messages) -> None:
        self._items = (
            CommandItem(
                "/auto",
                say(
                    "Plan a task, split it and let several agents work on it; without a task,"
                    " resume"
                ),
                "[TASK]",
                needs_model=True,
            ),
            CommandItem(
                "/change",
                say("Let an agent change code in a copy, and show the patch before it is written"),
                "TASK",
                needs_model=True,
            ),
            CommandItem("/scan", say("Scan the workspace for security flaws")),
            CommandItem("/findings", say("List findings (optional filter)"), "[WORDS]"),
            CommandItem("/explain", say("Explain a rule"), "RULE"),
            CommandItem("/memory", say("List memories (optional filter)"), "[WORDS|save]"),
            CommandItem("/sessions", say("List sessions (optional filter)"), "[WORDS]"),
            CommandItem("/model", say("List models, or choose one"), "[GROUP]"),
            CommandItem("/mode", say("Plan only, ask before changes, or accept edits"), "[MODE]"),
            CommandItem("/agents", say("List the agents that files describe")),
            CommandItem(
                "/background", say("List scripts in the background, or stop one"), "[stop ID]"
            ),
            CommandItem("/title", say("Rename this session"), "TITLE"),
            CommandItem("/clear", say("Clear the conversation")),
            CommandItem(
                "/compact", say("Compact the conversation into a summary"), needs_model=True
            ),
            CommandItem("/save", say("Save the conversation for another session")),
            CommandItem("/restore", say("Restore the saved conversation")),
            CommandItem("/tools", say("List the tools that agents may use"), "[WORD]"),
            CommandItem("/tasks", say("List predefined tasks, or start one"), "[NAME]"),
            CommandItem("/skills", say("List skills, or show one"), "[NAME]"),
            CommandItem("/servers", say("List tool servers, or connect one"), "[NAME]"),
            CommandItem("/rules", say("Show the rules files in use")),
            CommandItem("/status", say("Show the session status")),
            CommandItem("/help", say("List the commands")),
        )

    def items(self) -> tuple[CommandItem, ...]:
        """All of them."""
        return self._items

    def complete(self, text: str) -> tuple[Completion, ...]:
        """Those that begin with what was typed behind the slash."""
        return tuple(
            Completion(
                "command",
                command.name,
                f"{command.name} " if command.argument else command.name,
                command.title,
            )
            for command in self._items
            if command.name[1:].startswith(text.lower().strip())
        )


def model_state(assembly: Assembly, current: str, say: Messages) -> ModelState:
    """Return the models, and whether `current` can be asked."""
    choices = []
    names = assembly.groups()
    models = dict.fromkeys(group for name in names for group in assembly.models.groups[name])
    for name, members in [
        *((name, assembly.models.groups[name]) for name in names),
        *((model, (model,)) for model in models),
    ]:
        choices.append(ModelChoice(name, tuple(members), not assembly.missing_model(name)))
    why = assembly.missing_model(current)
    advice = "" if not why else _advice(assembly, current, why, say)
    return ModelState(not why, assembly.models.standing_for(current), tuple(choices), advice)


async def settings_shown(
    assembly: Assembly, conversation: Conversation | None, say: Messages
) -> SettingsShown:
    """Return what is configured, and where."""
    environment = assembly.environment
    providers = tuple(
        ProviderItem(
            provider.name,
            provider.type,
            provider.base or "",
            provider.env_keys,
            bool(provider.keys(environment)),
        )
        for provider in assembly.models.providers.values()
    )
    groups = [
        SettingGroup(say("Models"), tuple(_model_lines(assembly, say))),
        SettingGroup(say("Problems"), tuple(_problems(assembly, conversation, say))),
    ]
    if conversation is not None:
        groups += await _of_session(conversation, say)
    shown = tuple(group for group in groups if group.lines)
    return SettingsShown(str(assembly.home / FILE), TEMPLATE, str(SCHEMA), providers, shown)


def _advice(assembly: Assembly, current: str, why: str, say: Messages) -> str:
    from jarvis_ls.runtime.base.errors import ModelMissing

    try:
        assembly.group(current)
    except ModelMissing:
        if not assembly.groups() and "/" not in current and not assembly.models.wrong:
            return say(
                "Choose a provider, enter its key and pick a model. A model server on this machine"
                " needs no key. Slash commands work without a model."
            )
        if assembly.models.wrong and not assembly.groups():
            return say(why)
        return say("The model has no API key. {detail}", detail=why)
    except JarvisError:
        return say(why)
    return ""


def _model_lines(assembly: Assembly, say: Messages) -> Iterable[SettingLine]:
    for name in assembly.groups():
        why = assembly.missing_model(name)
        names = ", ".join(assembly.models.groups[name])
        yield SettingLine(name, names, say(why), "warning" if why else "info")
    if not assembly.groups():
        yield SettingLine(say("none"), "", "", "warning")


def _problems(
    assembly: Assembly, conversation: Conversation | None, say: Messages
) -> Iterable[SettingLine]:
    problems = [*assembly.problems, *(conversation.problems if conversation is not None else ())]
    for text in dict.fromkeys(problems):
        yield SettingLine("", say(text), level="error")


async def _of_session(conversation: Conversation, say: Messages) -> list[SettingGroup]:
    counts = await conversation.statistics()
    rules = tuple(
        SettingLine(str(file.path), "", level="info")
        for file in conversation.rules.files
        if file.text
    )
    session = (
        SettingLine(say("Tools"), f"{counts.tools} / {counts.tools_total}"),
        SettingLine(say("Memories of the project"), str(counts.project_memories)),
        SettingLine(say("Memories of the user"), str(counts.global_memories)),
    )
    return [SettingGroup(say("This session"), session), SettingGroup(say("Rules files"), rules)]
