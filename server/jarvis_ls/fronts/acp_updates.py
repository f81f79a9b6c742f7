"""The records of a session as the Agent Client Protocol writes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import acp
from acp import schema

from jarvis_ls.facade.session_records import (
    CallShown,
    CallState,
    CommandOffered,
    CommandsShown,
    ContextShown,
    ModeShown,
    PlanShown,
    Question,
    Spoken,
    StepState,
    TitleShown,
    TreeShown,
    Update,
)

NODE, TREE = "_jarvis/node", "_jarvis/tree"
"""What `_meta` holds: the agent of the tree that a call is of; all agents of the tree."""
_STATES: Mapping[CallState, schema.ToolCallStatus] = {
    "asked": "pending",
    "running": "in_progress",
    "done": "completed",
    "failed": "failed",
    "denied": "failed",
    "cancelled": "failed",
}
_STEPS: Mapping[StepState, schema.PlanEntryStatus] = {
    "pending": "pending",
    "active": "in_progress",
    "done": "completed",
    "dropped": "completed",
}


def to_acp(update: Update) -> Any:
    """Return the session update of the protocol."""
    if isinstance(update, Spoken):
        return _chunk(update)
    if isinstance(update, CallShown):
        return _call(update)
    if isinstance(update, PlanShown):
        steps = [acp.plan_entry(step.text, status=_STEPS[step.state]) for step in update.steps]
        return acp.update_plan(steps)
    if isinstance(update, ContextShown):
        return schema.UsageUpdate(
            session_update="usage_update", used=update.used, size=update.window
        )
    if isinstance(update, TitleShown):
        return schema.SessionInfoUpdate(session_update="session_info_update", title=update.title)
    if isinstance(update, ModeShown):
        return schema.CurrentModeUpdate(
            session_update="current_mode_update", current_mode_id=update.mode
        )
    if isinstance(update, CommandsShown):
        return schema.AvailableCommandsUpdate(
            session_update="available_commands_update",
            available_commands=list(map(_command, update.commands)),
        )
    assert isinstance(update, TreeShown)
    agents = [dataclasses.asdict(agent) for agent in update.agents]
    return schema.SessionInfoUpdate(session_update="session_info_update", field_meta={TREE: agents})


def question_to_acp(
    question: Question,
) -> tuple[schema.ToolCallUpdate, list[schema.PermissionOption]]:
    """Return the call a question is about, and the answers there are."""
    options = [
        schema.PermissionOption(option_id=option.id, kind=option.kind, name=option.name)
        for option in question.options
    ]
    return schema.ToolCallUpdate(**_fields(question.call)), options


def _chunk(said: Spoken) -> Any:
    content = acp.text_block(said.text)
    if said.speaker == "user":
        made: Any = acp.update_user_message(content)
    elif said.speaker == "thought":
        made = acp.update_agent_thought(content)
    else:
        made = acp.update_agent_message(content)
    made.message_id = said.message
    return made


def _call(call: CallShown) -> schema.ToolCallStart | schema.ToolCallProgress:
    if call.is_new:
        return schema.ToolCallStart(session_update="tool_call", **_fields(call))
    return schema.ToolCallProgress(session_update="tool_call_update", **_fields(call))


def _fields(call: CallShown) -> dict[str, Any]:
    return {
        "tool_call_id": call.id,
        "title": call.title,
        "kind": call.kind,
        "status": _STATES[call.state],
        "content": list(_content(call)),
        "locations": [
            schema.ToolCallLocation(path=place.path, line=place.line) for place in call.locations
        ],
        "raw_input": dict(call.arguments),
        "field_meta": {NODE: call.node},
    }


def _content(call: CallShown) -> Iterator[Any]:
    for change in call.changes:
        yield acp.tool_diff_content(change.path, change.after, change.before)
    if call.text:
        yield acp.tool_content(acp.text_block(call.text))


def _command(command: CommandOffered) -> schema.AvailableCommand:
    hint = schema.UnstructuredCommandInput(hint=command.hint) if command.hint else None
    field = None if hint is None else schema.AvailableCommandInput(hint)
    return schema.AvailableCommand(name=command.name, description=command.description, input=field)
