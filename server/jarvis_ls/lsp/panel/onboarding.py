"""Setting up a model from the panel: providers, a key on trial, models, the user's configuration.

A key on trial came over the channel of keys; the editor keeps it once a model was chosen with it.
"""

from __future__ import annotations

from collections.abc import Callable

from jarvis_ls.assembly.model_setup import ModelSetup, Offer
from jarvis_ls.lsp.panel.desk import Desk
from jarvis_ls.lsp.protocol import model_setup as wire
from jarvis_ls.runtime.llm.model_check import Checked, Problem
from jarvis_ls.runtime.llm.providers import Provider


class Onboarding:
    """What the extension asks while a model is set up, answered."""

    def __init__(self, desk: Desk, changed: Callable[[], None]) -> None:
        """Answer by `desk`; `changed` is called when other models are asked than before."""
        self._desk = desk
        self._setup = ModelSetup(desk.assembly)
        self._changed = changed
        self._checked: tuple[Provider, str, Checked] | None = None
        self.trial = ""
        """A key that is to be checked, not kept."""

    async def offered(self, _ask: wire.ProvidersAsk) -> wire.ProviderOffers:
        """Return the providers to choose from."""
        self._desk.assembly.reload()
        return wire.ProviderOffers(tuple(map(self._offer, await self._setup.offers())))

    async def check(self, ask: wire.CheckProviderAsk) -> wire.ProviderChecked:
        """Check the key on trial, or the one that is set."""
        provider = self._setup.provider(ask.provider, ask.base)
        key = self._key(provider)
        checked = await self._setup.check(provider, key)
        self._checked = (provider, key, checked)
        problem = checked.problem
        return wire.ProviderChecked(
            provider.name,
            _variable(provider),
            checked.models,
            problem.wrong if problem else "",
            self._desk.say(problem.text) if problem else "",
        )

    async def use(self, ask: wire.UseModelAsk) -> wire.ModelUsed:
        """Write the chosen model to the user's configuration."""
        provider = self._setup.provider("" if ask.base else ask.provider, ask.base)
        key, model = self._key(provider), ask.model.strip()
        known, with_key, checked = self._checked or (None, "", Checked())
        is_same = known == provider and with_key == key
        is_listed = provider.is_here or model in checked.models
        done = await self._setup.choose(
            provider, key, model, is_proven=is_same and checked.is_proven and is_listed
        )
        if isinstance(done, Problem):
            return wire.ModelUsed(wrong=done.wrong, why=self._desk.say(done.text))
        self._changed()
        return wire.ModelUsed(done.label, done.file, tuple(map(self._desk.say, done.notes)))

    def _key(self, provider: Provider) -> str:
        """Return the key on trial, or the first one that is set; empty without any."""
        set_keys = provider.keys(self._desk.assembly.environment) if provider.env_keys else ()
        return self.trial or (set_keys[0] if set_keys else "")

    def _offer(self, offer: Offer) -> wire.ProviderOffer:
        provider = offer.provider
        return wire.ProviderOffer(
            provider.name,
            self._desk.say(offer.title),
            provider.base or "",
            _variable(provider),
            offer.key_page,
            offer.has_key,
            provider.is_here,
            offer.running is not None,
            offer.running or (),
        )


def _variable(provider: Provider) -> str:
    return provider.env_keys[0] if provider.env_keys else ""
