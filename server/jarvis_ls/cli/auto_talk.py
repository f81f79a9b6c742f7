"""The conversation of `jarvis auto`: what is said is a task for auto mode."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from jarvis_ls.agents.node import Ending
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.talk import Talk
from jarvis_ls.core.errors import UsageError

if TYPE_CHECKING:
    from jarvis_ls.assembly.conversation import Conversation


def run_auto(options: argparse.Namespace) -> ExitStatus:
    """Let agents work on a task, or on the rest of one; returns the exit status."""
    if not options.folder.is_dir():
        raise UsageError("{folder}: no such folder", folder=options.folder)
    return asyncio.run(AutoTalk(options).run())


class AutoTalk(Talk):
    """The talk of auto mode."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self._attended = self._attended and not options.non_interactive

    def _read_message(self) -> str | None:
        """See `Talk`; empty resumes the session."""
        return "" if self._options.message is None else super()._read_message()

    async def _say(self, conversation: Conversation, text: str) -> str:
        """See `Talk`."""
        if why := self._missing(conversation):
            self._screen.say(why, "red")
            self._ending = Ending("failed", error=why)
            return "missing"
        options, auto = self._options, conversation.auto
        given = {
            name: value
            for name in ("timeout", "interval", "retries")
            if (value := getattr(options, name)) is not None
        }
        auto.settings = replace(auto.settings, **given)
        await conversation.begin_auto(text)
        self._ending = await auto.wait()
        return self._ending.state
