"""`jarvis setup`: provider, key, model; asked at the terminal, or said by options.

A key that is typed is checked before it is kept, in a file that only the user can read; what is
written is the user's own configuration, and nothing of the folder is read.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jarvis_ls.cli.choices import choices_in_words, chosen
from jarvis_ls.cli.exit_status import ExitStatus
from jarvis_ls.cli.language import speak
from jarvis_ls.cli.screen import Screen, visible, wants_colour
from jarvis_ls.core.errors import JarvisError, UsageError
from jarvis_ls.core.files import shown_folder
from jarvis_ls.core.words import Words, either

if TYPE_CHECKING:
    from jarvis_ls.assembly.model_setup import Chosen, Offer
    from jarvis_ls.runtime.llm.model_check import Checked, Problem
    from jarvis_ls.runtime.llm.providers import Provider

LISTED = 20
"""Models that are shown at once; of more, those that hold a typed word."""
AFTER = Words("[r]etry, other [k]ey, other [p]rovider, [q]uit: ")
USE_SET = Words("A key is set in {variable}. Use it? [y]es, [n]o: ")


def add_command(commands: Any) -> None:
    """Add `jarvis setup`."""
    parser = commands.add_parser("setup", help="choose a provider and a model, and set the key")
    add = parser.add_argument
    add("--provider", metavar="NAME", help="for example deepseek; any name with --base-url")
    add("--base-url", metavar="URL", default="", help="address of an OpenAI-compatible server")
    add("--key-env", metavar="VARIABLE", default="", help="environment variable with the key")
    add("--model", metavar="NAME", default="", help="model, as the provider spells it")
    parser.set_defaults(run=run_setup)


def run_setup(options: argparse.Namespace) -> ExitStatus:
    """Set up a model; returns the exit status."""
    return asyncio.run(_Setup(options).run())


class _Quit(Exception):
    """The user wants no model now."""


class _Setup:
    def __init__(self, options: argparse.Namespace) -> None:
        from jarvis_ls.assembly.bootstrap import build
        from jarvis_ls.assembly.model_setup import ModelSetup
        from jarvis_ls.runtime.llm.model_check import Problem

        self._problem = Problem
        self._options = options
        self._attended = sys.stdin.isatty() and sys.stdout.isatty()
        self._screen = Screen(sys.stdout, sys.stdout, colour=wants_colour(sys.stdout))
        self._assembly = build()
        self._setup = ModelSetup(self._assembly)
        self._prompt: Any = None

    async def run(self) -> ExitStatus:
        for problem in self._assembly.problems:
            self._screen.say(problem, "red")
        try:
            if self._attended:
                return await self._asking()
            return await self._run_unattended()
        except (_Quit, EOFError):
            return ExitStatus.FAILURE
        finally:
            await self._assembly.close()

    # -- by options ------------------------------------------------------------------------------

    async def _run_unattended(self) -> ExitStatus:
        given = self._options
        if not given.provider and not given.base_url:
            raise UsageError(
                "The session is not interactive: use --provider and --model, or run it at "
                "a terminal."
            )
        provider = self._choose_named()
        key = self._key_of(provider)
        checked = await self._setup.check(provider, key)
        if checked.problem is not None:
            raise JarvisError(checked.problem.text)
        if not given.model:
            if not checked.models:
                raise UsageError("The provider does not list its models: name one with --model.")
            raise UsageError(
                "Name a model with --model: {models}.", models=", ".join(checked.models[:LISTED])
            )
        done = await self._choose(provider, key, given.model, checked)
        if isinstance(done, self._problem):
            raise JarvisError(done.text)
        return self._tell(provider, done, "")

    def _choose_named(self) -> Provider:
        given = self._options
        return self._setup.provider(given.provider or "", given.base_url, given.key_env)

    def _key_of(self, provider: Provider) -> str:
        """Return the key that is set for a provider. Raises `UsageError` when none is."""
        keys = provider.keys(self._assembly.environment)
        if keys:
            return keys[0] if provider.env_keys else ""
        if self._options.base_url and not self._options.key_env:
            return ""  # a server that takes anyone
        raise UsageError("No API key is set: set {variables}.", variables=either(provider.env_keys))

    async def _choose(
        self, provider: Provider, key: str, model: str, checked: Checked
    ) -> Chosen | Problem:
        proven = checked.is_proven and (model in checked.models or provider.is_here)
        return await self._setup.choose(provider, key, model, is_proven=proven)

    # -- at the terminal -------------------------------------------------------------------------

    async def _asking(self) -> ExitStatus:
        given = self._options
        offer: Offer | None = None
        provider = self._choose_named() if given.provider or given.base_url else None
        while True:
            if provider is None:
                provider, offer = await self._ask_provider()
            typed, key = await self._ask_key(provider, offer)
            status = await self._check_and_choose(provider, key, typed=typed)
            if status is not None:
                return status
            provider, offer = None, None

    async def _check_and_choose(
        self, provider: Provider, key: str, *, typed: bool
    ) -> ExitStatus | None:
        """Go on with a provider until a model is chosen; None for another provider."""
        while True:
            self._screen.say(Words("Checking …"), "dim")
            checked = await self._setup.check(provider, key)
            problem = checked.problem
            if problem is None:
                model = await self._ask_model(checked.models)
                done = await self._choose(provider, key, model, checked)
                if not isinstance(done, self._problem):
                    return self._tell(provider, done, key if typed else "")
                problem = done
            self._screen.say(visible(speak(problem.text)), "red")
            letter = await self._letter(AFTER)
            if letter == "q":
                raise _Quit
            if letter == "p":
                return None
            if letter == "k":
                typed, key = True, await self._ask_new_key(provider)

    async def _ask_provider(self) -> tuple[Provider, Offer | None]:
        offers = await self._setup.offers()
        self._screen.say(Words("Which provider?"), "bold")
        for number, offer in enumerate(offers, 1):
            self._screen.say(f"{number:>4}. {_line(offer)}")
        other = speak(Words("Other address"))
        self._screen.say(f"{len(offers) + 1:>4}. {other}")
        named = [f"{speak(offer.title)} {offer.provider.name}" for offer in offers]
        while True:
            said = (await self._line(Words("Number or name: "))).strip()
            chosen = _choice_of([*named, other], said)
            if chosen is not None and chosen < len(offers):
                return offers[chosen].provider, offers[chosen]
            if chosen == len(offers):
                base = await self._line(Words("Address, such as https://llm.example.com/v1: "))
                try:
                    return self._setup.provider("", base), None
                except UsageError as error:
                    self._screen.say(str(error), "red")
                    continue
            self._screen.say(Words("Please type a number or a name of the list."), "yellow")

    async def _ask_key(self, provider: Provider, offer: Offer | None) -> tuple[bool, str]:
        """Return whether a key was typed, and the key; an empty one where none is needed."""
        if not provider.needs_key:
            return False, ""
        if set_keys := provider.keys(self._assembly.environment):
            question = Words(USE_SET.template, variable=either(provider.env_keys))
            if self._options.key_env or await self._letter(question) == "y":
                return False, set_keys[0]
        if offer is not None and offer.key_page:
            self._screen.say(Words("Keys are made at {page}", page=offer.key_page), "dim")
        key = await self._ask_new_key(provider)
        return bool(key), key

    async def _ask_new_key(self, provider: Provider) -> str:
        is_known = provider.name in self._assembly.models.providers
        prompt = Words("API key: ") if is_known else Words("API key (empty: none is needed): ")
        while True:
            key = (await self._line(prompt, secret=True)).strip()
            if key or not is_known:
                return key

    async def _ask_model(self, models: Sequence[str]) -> str:
        if self._options.model:
            model, self._options.model = self._options.model, ""
            return str(model)
        if not models:
            self._screen.say(Words("The provider does not list its models."), "yellow")
        shown = list(models[:LISTED])
        while True:
            for number, name in enumerate(shown, 1):
                self._screen.say(f"{number:>4}. {visible(name)}")
            if len(models) > len(shown):
                self._screen.say(Words("{n} of {all} models", n=len(shown), all=len(models)), "dim")
            said = (await self._line(Words("Model (number, or name): "))).strip()
            if said.isdecimal() and 1 <= int(said) <= len(shown):
                return shown[int(said) - 1]
            found = [name for name in models if said.lower() in name.lower()]
            if said and (said in models or not found):
                return said
            shown = found[:LISTED]

    def _tell(self, provider: Provider, done: Chosen, typed: str) -> ExitStatus:
        """Keep a key that was typed, and say what was done."""
        variable = provider.env_keys[0] if provider.env_keys else ""
        notes = list(done.notes)
        if typed:
            from jarvis_ls.runtime.llm.stored_keys import store_key

            file = store_key(self._assembly.home, variable, typed)
            self._screen.say(
                Words("Key saved in {file}, which only you can read.", file=shown_folder(file))
            )
            if os.environ.get(variable, typed) != typed:
                notes.append(
                    Words(
                        "{variable} of the environment holds another key, and is used instead."
                        " Unset it to use the saved one.",
                        variable=variable,
                    )
                )
        self._screen.say(Words("Model saved in {file}.", file=done.file))
        for note in notes:
            self._screen.say(note, "yellow")
        self._screen.say(
            Words("Ready: {model}. Start a conversation with `jarvis`.", model=done.label), "green"
        )
        return ExitStatus.SUCCESS

    async def _letter(self, prompt: str) -> str:
        prompt = speak(prompt)
        while not (letter := chosen(prompt, await self._line(prompt))):
            self._screen.say(
                Words("Please answer {choices}.", choices=choices_in_words(prompt)), "yellow"
            )
        return letter

    async def _line(self, prompt: str, *, secret: bool = False) -> str:
        """Return a typed line; a secret one is not shown."""
        from prompt_toolkit import PromptSession
        from prompt_toolkit.output import create_output

        if self._prompt is None:
            self._prompt = PromptSession(output=create_output(sys.stdout))
        line: str = await self._prompt.prompt_async(speak(prompt), is_password=secret)
        return line


def _choice_of(names: Sequence[str], said: str) -> int | None:
    """Return the place in a list of what was typed: its number from 1, its last word, which is the
    provider's name, or a part that only one has; None when it is none of them."""
    if said.isdecimal():
        return int(said) - 1 if 1 <= int(said) <= len(names) else None
    said = said.casefold()
    known = [name.casefold() for name in names]
    exact = [place for place, name in enumerate(known) if said == name.split()[-1]]
    parts = [place for place, name in enumerate(known) if said and said in name]
    return next((found[0] for found in (exact, parts) if len(found) == 1), None)


def _line(offer: Offer) -> str:
    """Return how a provider is listed."""
    title = speak(offer.title)
    if offer.running is not None:
        found = Words("runs here, {n} models", n=len(offer.running))
        return f"{title}  ({speak(found)})"
    if offer.has_key:
        return f"{title}  ({speak(Words('key is set'))})"
    if offer.provider.is_here:
        return f"{title}  ({speak(Words('not running'))})"
    return title
