"""The conversation of `jarvis multi`: what is said goes to the main agent of a team."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from jarvis_ls.agents.node import Ending
from jarvis_ls.agents.team_config import read_team
from jarvis_ls.assembly.team import Team
from jarvis_ls.assembly.workplace import Additions
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.talk import Talk
from jarvis_ls.core.errors import JarvisError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from jarvis_ls.assembly.bootstrap import Assembly
    from jarvis_ls.assembly.conversation import Conversation
    from jarvis_ls.runtime.base.options import AgentOptions


def run_team(options: argparse.Namespace) -> ExitStatus:
    """Let the agents of a file work; returns the exit status."""
    if not options.folder.is_dir():
        raise UsageError("{folder}: no such folder", folder=options.folder)
    return asyncio.run(TeamTalk(options).run())


class TeamTalk(Talk):
    """The talk with a team."""

    message_option = "-i"

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self._attended = self._attended and not options.non_interactive
        self._team = Team(read_team(options.config))

    async def _open_session(
        self,
        assembly: Assembly,
        session: str | None,
        roots: Sequence[Path],
        options: AgentOptions,
        additions: Additions,
        trusted: bool,
    ) -> Conversation:
        """See `Talk`."""
        conversation = await super()._open_session(
            assembly, session, roots, options, self._team.additions(additions), trusted
        )
        try:
            self._team.join(conversation, keep_model=bool(self._options.model))
        except JarvisError:
            await conversation.close()
            raise
        return conversation

    async def _say(self, conversation: Conversation, text: str) -> str:
        """See `Talk`."""
        if text.lstrip().startswith(("/", "!")):
            return await super()._say(conversation, text)
        if why := self._missing(conversation):
            self._screen.say(why, "red")
            self._ending = Ending("failed", error=why)
            return "missing"
        ending = self._ending = await self._team.run(text)
        if ending.state == "completed" and not self._team.main_speaks and self._lines_out is None:
            self._screen.drop()
            self._screen.answer(ending.text)
        return ending.state
