"""Setting up a model: which providers there are, whether a key works, which models it opens, and
writing the choice to the user's configuration. The panel and `jarvis setup` are faces of it.

It is the user's own configuration: nothing of a workspace is read or written.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from jarvis_ls.assembly.settings_writer import write_model
from jarvis_ls.assembly.shared import SharedState
from jarvis_ls.core.errors import UsageError
from jarvis_ls.core.files import shown_folder
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.llm.known_providers import KNOWN, KnownProvider
from jarvis_ls.runtime.llm.local_servers import find_running, ollama_base
from jarvis_ls.runtime.llm.model_check import Checked, Problem, check_key, try_model
from jarvis_ls.runtime.llm.platforms.base import ModelInfo
from jarvis_ls.runtime.llm.providers import ALIASES, PROVIDERS, Provider

_ENDPOINT = re.compile(r"/(?:chat/completions|completions|models|responses)/?$")
_NO_PAGE = KnownProvider("")


@dataclass(frozen=True, slots=True)
class Offer:
    """A provider that can be chosen."""

    provider: Provider
    title: str
    """As people call it."""
    key_page: str = ""
    """Where its keys are made; empty when that is not known."""
    has_key: bool = False
    """Whether a key is set already."""
    running: tuple[str, ...] | None = None
    """Models of a server that was found on this machine; None when none was."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model that was written to the configuration."""

    label: str
    """`provider/model`."""
    file: str
    """The settings file, as people write it."""
    notes: tuple[str, ...] = ()
    """What else holds and may surprise, in words for the user."""


class ModelSetup:
    """One way through the choices; the settings are those of the assembly it is on."""

    def __init__(self, assembly: SharedState) -> None:
        self._assembly = assembly

    async def offers(self) -> list[Offer]:
        """Return the providers to choose from: servers that run on this machine first, then those
        with a key, then the others. Asks the well-known addresses of this machine.
        """
        known = {k.name: k for k in KNOWN}
        names = [*known, *(n for n in self._assembly.models.providers if n not in PROVIDERS)]
        providers = [self.provider(name) for name in names]
        found = await find_running(providers)
        offers = []
        for provider in providers:
            about = known.get(provider.name, _NO_PAGE)
            has_key = provider.needs_key and bool(provider.keys(self._assembly.environment))
            offers.append(
                Offer(
                    provider,
                    about.title or provider.name,
                    about.key_page,
                    has_key,
                    found.get(provider.name),
                )
            )
        return sorted(offers, key=_rank)

    def provider(self, name: str, base: str = "", variable: str = "") -> Provider:
        """Return a provider by its name, or the one at an address: one that is known, or a new
        one. `variable` is where its key is to be looked for, instead of where it says itself.

        Raises `UsageError` for a name that no one has, and for what is not an address.
        """
        if base:
            found = self._at(_checked_base(base), name)
        elif name in self._assembly.models.providers:
            found = self._assembly.models.providers[name]
            address = ollama_base(self._assembly.environment) if name == "ollama" else None
            if address is not None and found == PROVIDERS[name]:
                found = replace(found, base=address)
        else:
            raise UsageError(
                "There is no provider {name}; known are {known}. Give the address of another.",
                name=repr(name),
                known=", ".join(sorted(self._assembly.models.providers)),
            )
        return replace(found, env_keys=(variable,), needs_key=True) if variable else found

    async def check(self, provider: Provider, key: str) -> Checked:
        """Ask a provider for its models with a key, which is empty where none is needed."""
        return await check_key(self._assembly.registry, provider, key or "none")

    async def choose(
        self, provider: Provider, key: str, model: str, *, is_proven: bool
    ) -> Chosen | Problem:
        """Make a model the one that is asked, once it is known to answer: write it to the user's
        configuration and read that again.

        Raises `JarvisError` when that cannot be done.
        """
        model = model.strip()
        if not model:
            raise UsageError("Name a model.")
        if not provider.env_keys:
            provider = replace(provider, needs_key=False)
        label = f"{provider.name}/{model}"
        models = self._assembly.models
        replace(models, providers={**models.providers, provider.name: provider}).provider(label)
        if not is_proven:
            info = provider.with_defaults(models.infos.get(label) or ModelInfo(model))
            problem = await try_model(self._assembly.registry, provider, key or "none", info)
            if problem is not None:
                return problem
        is_new = models.providers.get(provider.name) != provider
        file = await asyncio.to_thread(
            write_model, self._assembly.home, self._group(), label, provider if is_new else None
        )
        self._assembly.reload()
        return Chosen(label, shown_folder(file), tuple(self._notes(provider, label)))

    def _group(self) -> str:
        """Return the group that is asked; a single model represents none."""
        wanted = self._assembly.options.model_group
        return "balanced" if "/" in wanted else ALIASES.get(wanted, wanted)

    def _notes(self, provider: Provider, label: str) -> list[str]:
        notes: list[str] = []
        environment, group = self._assembly.environment, self._assembly.options.model_group
        asked = self._assembly.models.groups.get(self._group(), ())
        if asked != (label,) and environment.get("JARVIS_MODEL"):
            notes.append(_overridden("JARVIS_MODEL", environment))
        if "/" in group and group != label:
            if environment.get("JARVIS_MODEL_GROUP"):
                notes.append(_overridden("JARVIS_MODEL_GROUP", environment))
            else:
                notes.append(
                    Words(
                        "model_group in [agent] of the settings file is {value}: that is asked"
                        " instead. Remove it there to use your choice.",
                        value=group,
                    )
                )
        if provider.name == "openai" and (base := environment.get("OPENAI_BASE_URL")):
            notes.append(
                Words("OPENAI_BASE_URL is set: the provider openai is asked at {base}.", base=base)
            )
        if (provider.base or "").startswith("http:") and not provider.is_here:
            notes.append(
                Words(
                    "{base} is not encrypted: others on the way can read the key and what is said.",
                    base=provider.base,
                )
            )
        return notes

    def _at(self, base: str, name: str) -> Provider:
        """Return the provider at an address."""
        known = self._assembly.models.providers
        for provider in known.values():
            if (provider.base or "").rstrip("/") == base and name in ("", provider.name):
                return provider
        parts = urlsplit(base)
        host = re.sub(r"[^a-z0-9]+", "-", (parts.hostname or "").lower()).strip("-")
        is_here = Provider("", base=base).is_here
        wanted = name or (f"local-{parts.port or 80}" if is_here else host.removeprefix("api-"))
        if name and name in PROVIDERS:
            return replace(known[name], base=base)
        free = wanted
        number = 1
        while not name and free in known:
            number += 1
            free = f"{wanted}-{number}"
        stem = re.sub(r"\W", "_", free).upper()
        variable = f"{'MODEL_' if stem[:1].isdigit() else ''}{stem}_API_KEY"
        return Provider(free, base=base, env_keys=(variable,), needs_key=True)


def _rank(offer: Offer) -> int:
    """Return where an offer is in the list."""
    if offer.running is not None:
        return 0
    if offer.has_key:
        return 1
    return 3 if offer.provider.is_here else 2


def _checked_base(base: str) -> str:
    base = _ENDPOINT.sub("", base.strip()).rstrip("/")
    try:
        parts = urlsplit(base)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or parts.username is not None or parts.query:
        raise UsageError(
            "{base} is not the address of a model server: it begins with https:// or http://,"
            " without a key in it, for example https://llm.example.com/v1.",
            base=repr(base),
        )
    return base


def _overridden(variable: str, environment: Mapping[str, str]) -> str:
    return Words(
        "{variable} is set to {value}: that is asked instead. Unset it to use your choice.",
        variable=variable,
        value=environment[variable],
    )
