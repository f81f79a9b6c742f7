"""What a person can do about a model that did not answer: said behind the reason."""

from __future__ import annotations

from jarvis_ls.runtime.errors import ModelError, ModelRefused, ModelUnreachable
from jarvis_ls.runtime.models import Candidate

_SETTINGS = "~/.jarvis/config.toml"
_SHORTEST = 8
"""Characters of a key that is looked for; a shorter one may stand in any word."""


def explained(error: ModelError, candidate: Candidate) -> ModelError:
    """The same error; its text now names the model, says what to do, and holds no key."""
    said = str(error)
    if len(candidate.key) >= _SHORTEST:
        said = said.replace(candidate.key, "[redacted]")
    said = f"{candidate.label}: {said}"
    if advice := _advice(error, candidate):
        said = f"{said if said.endswith(('.', '!', '?')) else said + '.'} {advice}"
    error.args = (said,)
    return error


def _advice(error: ModelError, candidate: Candidate) -> str:
    provider = candidate.provider
    if isinstance(error, ModelUnreachable):
        where = provider.base or f"the server of {provider.name}"
        return f"Look at the network, and whether {where} is the right address and runs."
    if not isinstance(error, ModelRefused):
        return ""
    if error.lacks == "key":
        if not provider.env_keys:
            return f"Name the variable of the key in env_keys of {provider.name} in {_SETTINGS}."
        return f"Put a key that is valid in {' or '.join(provider.env_keys)}."
    if error.lacks == "credit":
        return f"Add credit at {provider.name}, or choose another model."
    if error.lacks == "model":
        return f"Look at the name of the model and the base of {provider.name} in {_SETTINGS}."
    return ""
