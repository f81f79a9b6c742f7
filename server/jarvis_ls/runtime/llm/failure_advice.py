"""What a person can do about a model that did not answer: said behind the reason."""

from __future__ import annotations

import math
from functools import partial

from jarvis_ls.core.words import Words, either, mapped, together
from jarvis_ls.runtime.base.errors import (
    ModelBusy,
    ModelError,
    ModelMissing,
    ModelRefused,
    ModelUnreachable,
)
from jarvis_ls.runtime.base.events import ModelWrong
from jarvis_ls.runtime.llm.providers import Candidate

WORTH_SAYING = 60.0
"""Seconds of a wait that a provider asks for which a person must be told."""
_SHORTEST = 8
"""Characters of a key that is looked for; a shorter one may be in any word."""


def explained(error: ModelError, candidate: Candidate) -> ModelError:
    """Return the same error; its text now names the model, says what to do, and holds no key. Its
    `brief` leaves out what to do."""
    said = str(error)
    error.provider = candidate.provider.name
    for secret in (candidate.key, *candidate.secrets):
        said = mapped(said, partial(without_secret, secret))
    error.brief = Words("{model}: {said}", model=candidate.label, said=said)
    advice = _advice(error, candidate)
    end = "" if said.endswith((".", "!", "?")) else "."
    error.args = (together([error.brief, advice], f"{end} ") if advice else error.brief,)
    return error


def wrong_of(error: ModelError) -> ModelWrong:
    """Return what a person has to see to."""
    if isinstance(error, ModelRefused):
        return error.lacks or ("none" if isinstance(error, ModelMissing) else "other")
    if isinstance(error, ModelUnreachable):
        return "address"
    return "busy" if isinstance(error, ModelBusy) else "other"


def without_secret(secret: str, text: str) -> str:
    """Return a text without a key or another secret."""
    return text.replace(secret, "[redacted]") if len(secret) >= _SHORTEST else text


def _advice(error: ModelError, candidate: Candidate) -> str:
    provider = candidate.provider
    if isinstance(error, ModelUnreachable):
        if error.refused and provider.is_here:
            return Words(
                (
                    "No server answers at {address} on this machine: start the model server, "
                    "or choose another model."
                ),
                address=provider.base,
            )
        if error.late:
            return Words(
                ("If it is only slow, increase timeout (in seconds) of {provider} in {settings}."),
                provider=provider.name,
                settings=candidate.file,
            )
        where = provider.base or Words("the server of {provider}", provider=provider.name)
        return Words(
            "Check the network, and that {where} is the right address and is running.", where=where
        )
    if isinstance(error, ModelBusy) and (error.retry_after or 0) > WORTH_SAYING:
        minutes = math.ceil((error.retry_after or 0) / 60)
        return Words(
            "It asks to wait {minutes} min: try again then, or choose another model.",
            minutes=minutes,
        )
    if not isinstance(error, ModelRefused):
        return ""
    if error.lacks == "key":
        if not provider.env_keys:
            return Words(
                (
                    "Add the environment variable with the API key to env_keys of {provider} "
                    "in {settings}."
                ),
                provider=provider.name,
                settings=candidate.file,
            )
        return Words("Set a valid key in {names}.", names=either(provider.env_keys))
    if error.lacks == "credit":
        return Words("Add credit at {provider}, or choose another model.", provider=provider.name)
    if error.lacks == "model":
        return Words(
            "Check the model name and the base of {provider} in {settings}.",
            provider=provider.name,
            settings=candidate.file,
        )
    return ""
