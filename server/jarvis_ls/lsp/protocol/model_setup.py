"""What setting up a model needs: the asks of the extension, and their answers; `panel` has them in
its unions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jarvis_ls.runtime.base.events import ModelWrong


@dataclass(frozen=True, slots=True)
class ProvidersAsk:
    """Which providers can be set up; looks for servers on this machine."""

    kind: Literal["providers"] = "providers"


@dataclass(frozen=True, slots=True)
class CheckProviderAsk:
    """Check a key at a provider and list its models: the key on trial, else the one that is set."""

    provider: str = ""
    """As models are prefixed; empty with a `base`."""
    base: str = ""
    """Address of a server that no one has named yet."""
    kind: Literal["check_provider"] = "check_provider"


@dataclass(frozen=True, slots=True)
class UseModelAsk:
    """Ask this model from now on: write it to the user's configuration, once it is known to
    answer."""

    provider: str
    """As `ProviderChecked` names it."""
    model: str
    """As the provider spells it."""
    base: str = ""
    """Address of a server that no one has named yet."""
    kind: Literal["use_model"] = "use_model"


@dataclass(frozen=True, slots=True)
class ProviderOffer:
    """A provider that can be set up."""

    name: str
    """As models are prefixed: `name/model`."""
    title: str
    """As people call it, in their language."""
    base: str
    """Base URL; empty means the platform's own."""
    variable: str
    """Environment variable of its key; empty when it needs none."""
    key_page: str
    """Where its keys are made; empty when that is not known."""
    has_key: bool
    """Whether a key is set already."""
    here: bool
    """Whether it runs on this machine, or would."""
    running: bool
    """Whether a server was found on this machine."""
    models: tuple[str, ...] = ()
    """Those of a server that was found."""


@dataclass(frozen=True, slots=True)
class ProviderOffers:
    """The providers that can be set up, those that are ready first."""

    offers: tuple[ProviderOffer, ...]


@dataclass(frozen=True, slots=True)
class ProviderChecked:
    """What a provider said to a key."""

    name: str
    """As models are prefixed; a new one for an address that was not known."""
    variable: str
    """Environment variable of its key; empty when it needs none."""
    models: tuple[str, ...] = ()
    """Models that hold conversations; empty when the provider does not say."""
    wrong: ModelWrong = ""
    """What a person has to see to; empty when the key, or the address, is right."""
    why: str = ""
    """The same in the provider's words."""


@dataclass(frozen=True, slots=True)
class ModelUsed:
    """A model that is asked from now on, or why it is not."""

    label: str = ""
    """`provider/model`; empty when it was not written."""
    file: str = ""
    """The settings file, as people write it."""
    notes: tuple[str, ...] = ()
    """What else holds and may surprise, in the user's language."""
    wrong: ModelWrong = ""
    """What a person has to see to."""
    why: str = ""
    """The same in the provider's words."""
