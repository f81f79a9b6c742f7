"""Whether a provider takes a key, which models it has, and whether one of them answers.

One call tells the first two where a provider lists its models to those with a key only; where it
lists them to anyone, or not at all, a model is asked for a few tokens.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from jarvis_ls.core.deadline import in_time
from jarvis_ls.core.words import Words, mapped
from jarvis_ls.runtime.base.errors import (
    AnswerBroken,
    ModelError,
    ModelRefused,
)
from jarvis_ls.runtime.base.events import ModelWrong
from jarvis_ls.runtime.base.messages import User
from jarvis_ls.runtime.llm.failure_advice import without_secret, wrong_of
from jarvis_ls.runtime.llm.known_providers import KNOWN
from jarvis_ls.runtime.llm.platforms.base import ModelInfo, Platform, Request
from jarvis_ls.runtime.llm.providers import PROVIDERS, Provider
from jarvis_ls.runtime.llm.registry import PlatformRegistry

LIST_SECONDS = 20.0
"""How long a list of models may take."""
TRY_SECONDS = 60.0
"""How long a first word of a model may take."""
QUOTED = 500
"""Characters of a provider's words that are shown."""
LONGEST_LIST = 2000
"""Models of a provider that are offered."""
TRIED_OUTPUT = 16
"""Tokens of an answer when a model is tried: the fewest that every provider takes."""
_OTHER_PURPOSE = re.compile(
    r"(?i)(?:^|[-_/.:])(embed\w*|rerank\w*|whisper\w*|tts|dall-e|moderation|transcribe|realtime|"
    r"audio|image|imagen|sora|speech|asr|ocr|babbage|davinci|veo|cogview|cogvideox?|bge|"
    r"fast-?apply)(?:$|[-_/.:\d])"
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a provider or a model cannot be used."""

    wrong: ModelWrong
    """What a person has to see to."""
    text: str
    """With the provider's own words; holds no key."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a provider says to a key."""

    models: tuple[str, ...] = ()
    """Models that hold conversations; empty when it does not say."""
    is_proven: bool = False
    """Whether the key was examined, or none is needed."""
    problem: Problem | None = None


async def check_key(registry: PlatformRegistry, provider: Provider, key: str) -> Checked:
    """Ask a provider for its models with a key."""
    platform, problem = _connect(registry, provider, key)
    if platform is None:
        return Checked(problem=problem)
    try:
        listed = await _ask(platform.models(), LIST_SECONDS, key)
    finally:
        await platform.close()
    if isinstance(listed, _Missing):
        return Checked()
    if isinstance(listed, Problem):
        return Checked(problem=listed)
    models = tuple(name for name in listed if not _OTHER_PURPOSE.search(name))
    return Checked(models[:LONGEST_LIST], provider.is_here or _lists_to_keys_only(provider))


async def try_model(
    registry: PlatformRegistry, provider: Provider, key: str, model: ModelInfo
) -> Problem | None:
    """Ask a model for a few tokens; return why it gives none."""
    platform, problem = _connect(registry, provider, key)
    if platform is None:
        return problem
    try:
        begun = await _ask(_first_piece(platform, model), TRY_SECONDS, key, is_list=False)
    finally:
        await platform.close()
    return begun if isinstance(begun, Problem) else None


async def _first_piece(platform: Platform, model: ModelInfo) -> None:
    request = Request([User("Say: ok", id="check")], max_output=TRIED_OUTPUT)
    pieces: Any = platform.stream(model, request)
    async with aclosing(pieces):
        async for _piece in pieces:
            return


def _connect(
    registry: PlatformRegistry, provider: Provider, key: str
) -> tuple[Platform | None, Problem | None]:
    try:
        return registry.connect(provider, key), None
    except ModelRefused as error:
        return None, Problem("other", str(error))


class _Missing:
    """A provider has no list of models."""


_T = TypeVar("_T")


async def _ask(
    work: Awaitable[_T], seconds: float, key: str, *, is_list: bool = True
) -> _T | Problem | _Missing:
    """Return the result, or what was wrong."""
    try:
        return await in_time(work, seconds)
    except asyncio.TimeoutError:
        late = Words("The provider did not answer within {seconds} s.", seconds=f"{seconds:g}")
        return Problem("address", late)
    except ModelError as error:
        if is_list and isinstance(error, ModelRefused) and error.lacks in ("", "model"):
            return _Missing()
        # what answers nonsense is most likely something else
        wrong = "address" if isinstance(error, AnswerBroken) else wrong_of(error)
        return Problem(wrong, mapped(str(error), partial(_quote, key)))


def _quote(key: str, text: str) -> str:
    """Return what a provider said as it is shown: without the key, and not without end."""
    text = without_secret(key, text)
    return text if len(text) <= QUOTED else f"{text[:QUOTED]} …"


def _lists_to_keys_only(provider: Provider) -> bool:
    """Return whether a list of models proves the key: known of providers we know alone."""
    ours = PROVIDERS.get(provider.name)
    is_ours = ours is not None and (ours.base, ours.type) == (provider.base, provider.type)
    return is_ours and any(k.name == provider.name and not k.lists_openly for k in KNOWN)
