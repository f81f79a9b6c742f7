"""Asking the person at the terminal: consent with its scope, edits hunk by hunk, questions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from jarvis_ls.cli.choices import choices_in_words, chosen
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.screen import Screen, diff_lines, visible
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import ProposedEdit
from jarvis_ls.runtime.tools.interaction import Interaction, Next, Review
from jarvis_ls.runtime.tools.permissions import Answer, Asked, Scope, shown, shown_target

Read = Callable[[str], Awaitable[str]]
"""Shows a prompt and gives the line typed; raises `EOFError` when there will be none any more
and `KeyboardInterrupt` on Ctrl-C."""

PERMIT = Words("Allow? [y]es once, [s]ession, [w]orkspace, [u]ser always, [n]o: ")
PERMIT_ONCE = Words("Allow? [y]es once, [n]o: ")
SCOPES: dict[str, Scope] = {"y": "call", "s": "session", "w": "workspace", "u": "user"}
REVIEW = Words("Apply? [y]es all, [n]o, [h]unk by hunk: ")
HUNK = Words("Apply this hunk? [y]es, [n]o, [r]est, [q]uit: ")
INSTEAD = Words("What should it do instead? (optional) ")


class Terminal(Interaction):
    """A person at a terminal, asked one thing at a time."""

    def __init__(
        self, screen: Screen, read: Read, forget: Callable[[], None] = lambda: None
    ) -> None:
        """`forget` drops what was typed and not read: words typed before a person could see the
        question are no consent."""
        self._screen = screen
        self._read = read
        self._forget = forget
        self._one_at_a_time = asyncio.Lock()
        self._in_turn = asyncio.Event()
        self._waiting = 0
        self._nobody_waits = asyncio.Event()
        self._nobody_waits.set()
        self.interrupt: Callable[[], None] = lambda: None
        """Called when the person answers a question with Ctrl-C."""

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Questions are asked within this only, else the person is typing; at its end all have been
        asked, those of scripts in the background too."""
        self._in_turn.set()
        try:
            yield
        finally:
            await self._nobody_waits.wait()
            self._in_turn.clear()

    @contextlib.asynccontextmanager
    async def _asking(self) -> AsyncIterator[None]:
        self._waiting += 1
        self._nobody_waits.clear()
        try:
            await self._in_turn.wait()
            async with self._one_at_a_time:
                yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._nobody_waits.set()

    async def permit(self, node: str, call: str, asked: Asked) -> Answer:
        """See `Interaction`."""
        async with self._asking():
            if asked.script is not None:
                self._screen.say_script(asked.script)
            else:
                self._screen.say(Words("? Allow {tool} to:", tool=asked.tool), "bold")
                for action in asked.actions:
                    kind = speak(Words(action.kind))
                    self._screen.say(f"    {kind} {shown_target(action.target)}", "yellow")
            if asked.reason:
                self._screen.say(f"    {shown(speak(asked.reason))}", "dim")
            self._forget()
            letter = await self._choose(PERMIT if asked.lasting else PERMIT_ONCE)
            if letter != "n":
                return Answer(True, SCOPES[letter])
            return Answer(False, note=await self._note())

    async def review(self, node: str, call: str, edits: Sequence[ProposedEdit]) -> Review:
        """See `Interaction`."""
        async with self._asking():
            for edit in edits:
                for line, colour in diff_lines(edit):
                    self._screen.say(line, colour)
            self._forget()
            letter = await self._choose(REVIEW)
            if letter == "y":
                return Review.all_of(edits)
            if letter == "n":
                return Review({}, await self._note())
            return Review(await self._hunks(edits))

    async def question(
        self, node: str, text: str, choices: Sequence[str] = (), default: str = ""
    ) -> str:
        """See `Interaction`."""
        async with self._asking():
            self._screen.say(f"? {visible(speak(text))}", "bold")
            for number, choice in enumerate(choices, 1):
                self._screen.say(f"    {number}. {visible(speak(choice))}")
            while True:
                line = (
                    await self._line(f"[{visible(speak(default))}] " if default else "> ")
                ).strip()
                if not line and (default or not choices):
                    return default
                if not choices:
                    return line
                if line.isdecimal() and 1 <= int(line) <= len(choices):
                    return choices[int(line) - 1]
                if (said := {speak(choice): choice for choice in choices}.get(line)) is not None:
                    return said

    async def next_action(self, node: str) -> tuple[Next, str]:
        """See `Interaction`: the turn ends; what is typed next begins another."""
        return "complete", ""

    async def _hunks(self, edits: Sequence[ProposedEdit]) -> dict[str, tuple[int, ...]]:
        accepted: dict[str, list[int]] = {}
        rest = False
        for edit in edits:
            head, *lines = diff_lines(edit)
            starts = [at for at, (line, _) in enumerate(lines) if line.startswith("@@ ")]
            for hunk, (start, end) in zip(
                edit.hunks, zip(starts, [*starts[1:], len(lines)], strict=True), strict=True
            ):
                if not rest:
                    for line, colour in [head, *lines[start:end]]:
                        self._screen.say(line, colour)
                    letter = await self._choose(HUNK)
                    if letter == "q":
                        return {path: tuple(found) for path, found in accepted.items()}
                    rest = letter == "r"
                    if letter == "n":
                        continue
                accepted.setdefault(edit.path, []).append(hunk.index)
        return {path: tuple(found) for path, found in accepted.items()}

    async def _choose(self, prompt: str) -> str:
        """One of the letters in brackets; only it or its whole word is an answer."""
        prompt = speak(prompt)
        while not (letter := chosen(prompt, await self._line(prompt))):
            self._screen.say(
                Words("Please answer {choices}.", choices=choices_in_words(prompt)), "yellow"
            )
        return letter

    async def _note(self) -> str:
        return (await self._line(speak(INSTEAD))).strip()

    async def _line(self, prompt: str) -> str:
        """One line. Ctrl-C and the end of the input end the turn."""
        self._screen.end_line()
        try:
            return await self._read(prompt)
        except (KeyboardInterrupt, EOFError):
            self.interrupt()
            raise asyncio.CancelledError from None
