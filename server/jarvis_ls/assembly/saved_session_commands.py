"""Commands that put a conversation aside, take it back, or start over.

Put aside, it serves the next session with the same agent and model, once (`saved_session`). The
session itself is kept in any case; this is for going on elsewhere, or with less.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from jarvis_ls.agents.records import ROOT
from jarvis_ls.assembly.conversation_interface import ConversationInterface
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.words import Words, mapped, together
from jarvis_ls.runtime.agent.user_input import Command, InputContext
from jarvis_ls.runtime.base.errors import ModelError
from jarvis_ls.runtime.base.messages import System
from jarvis_ls.runtime.session.saved import Saved, SavedSession
from jarvis_ls.runtime.tools.permissions import shown

FOLDER = "saved"
"""Below the user's folder."""
USER_DATA = "user:"
"""How keys of a session's data begin that are the user's own, not the agents'."""


def aside_commands(conversation: ConversationInterface) -> Iterator[Command]:
    """Yield the commands; what they are about is examined when they run."""

    def clear(_rest: str, _: InputContext) -> str:
        _idle(conversation)
        conversation.begin_anew()
        return Words(
            "The conversation is cleared for the model; its system prompt and rules "
            "stay. The session keeps every message: rewind to one to get it back."
        )

    async def save(_rest: str, _: InputContext) -> str:
        _idle(conversation)
        session = conversation.session
        messages = session.messages(ROOT)
        if not messages:
            return Words("No messages yet; there is nothing to save.")
        data = {k: v for k, v in session.data.items() if k.startswith(USER_DATA)}
        saved = Saved(tuple(messages), length=len(messages), user_data=data)
        place = _place(conversation)
        await asyncio.to_thread(place.save, saved.hidden(session.without_secrets))
        return Words(
            "{n} messages saved; `/restore` restores them in any session.", n=len(messages)
        )

    async def restore(_rest: str, _: InputContext) -> str:
        _idle(conversation)
        restored = await asyncio.to_thread(_place(conversation).restore)
        if restored.saved is None:
            return restored.problem or Words("No conversation was saved with this agent and model.")
        said = [m for m in restored.saved.messages if not isinstance(m, System)]
        known = {
            getattr(kept_message, "id", "") for kept_message in conversation.session.messages(ROOT)
        }
        if said and all(message.id in known for message in said):
            await asyncio.to_thread(_place(conversation).save, restored.saved)
            return Words(
                "The saved messages are already in this conversation; they stay saved for "
                "other sessions."
            )
        for message in said:
            conversation.session.append(ROOT, replace(message, id=""))
        conversation.session.data.update(restored.saved.user_data)
        back = Words("{n} messages restored.", n=len(said))
        if not restored.problem:
            return back
        return together([back, mapped(restored.problem, shown)], "\n")

    yield Command("clear", Words("Clear the conversation"), clear)
    yield Command("save", Words("Save the conversation for another session"), save)
    yield Command("restore", Words("Restore the saved conversation"), restore)


def _place(conversation: ConversationInterface) -> SavedSession:
    """Return where the conversation of this agent with this model is saved."""
    assembly, group = conversation.assembly, conversation.tree.root.info.group
    try:
        first = assembly.models.candidates(group, assembly.environment)[0]
        platform, model = first.provider.name, first.model.name
    except ModelError:
        platform, model = "none", group
    return SavedSession(assembly.home / FOLDER, conversation.options.name, platform, model)


def _idle(conversation: ConversationInterface) -> None:
    if conversation.working:
        raise UsageError("An agent is running; stop it first.")
