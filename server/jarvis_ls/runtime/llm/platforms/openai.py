"""Any endpoint that speaks OpenAI's protocols, through the `openai` SDK.

Chat completions are what nearly all speak (`openai_chat`); models that have only the Responses API
are asked by that (`openai_responses`). What a model takes is known or learned (`openai_dialect`).

The SDK neither retries a stream nor notices that one ended early, lets JSON errors of broken
events through, and its time-outs are per read. Here every fault becomes a `ModelError`, an
answer has an idle and a total deadline, and what carries no finish reason is `truncated`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jarvis_ls.runtime.base.errors import (
    AnswerBroken,
    ContextTooLong,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnreachable,
)
from jarvis_ls.runtime.base.messages import FileRef, Finish
from jarvis_ls.runtime.llm.platforms.base import (
    Delta,
    FinishDelta,
    ModelInfo,
    Platform,
    Request,
)
from jarvis_ls.runtime.llm.platforms.faults import (
    cause_of,
    no_credit,
    of_status,
    too_long,
    too_long_said,
    unreachable,
)
from jarvis_ls.runtime.llm.platforms.openai_chat import (
    WholeAnswer,
    chat_deltas,
    chat_parameters,
)
from jarvis_ls.runtime.llm.platforms.openai_dialect import Dialects
from jarvis_ls.runtime.llm.platforms.openai_reasoning import Details
from jarvis_ls.runtime.llm.platforms.openai_responses import (
    Responded,
    response_parameters,
)
from jarvis_ls.runtime.llm.platforms.streaming import (
    LONGEST,
    NO_FILE,
    Deadlines,
    Measure,
    events_of,
    unsaid,
    within,
)

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

_QUOTED = 500
"""Characters of what a provider behind a router said that are shown."""


class OpenAICompatible(Platform):
    """One endpoint with one key."""

    name = "openai"

    def __init__(
        self,
        base_url: str | None,
        api_key: str,
        *,
        deadlines: Deadlines | None = None,
        longest: int = LONGEST,
    ) -> None:
        """`base_url` None means OpenAI's own; local servers take any key. An answer of more
        than `longest` characters is given up."""
        self.base_url = base_url
        self._key = api_key
        self._deadlines = deadlines or Deadlines()
        self._longest = longest
        self._client_: AsyncOpenAI | None = None
        self._dialects = Dialects()

    def wait(self, seconds: float) -> None:
        """See `Platform`."""
        self._deadlines = Deadlines.patient(seconds)

    async def models(self) -> list[str]:
        """Names of the models the endpoint offers, the newest first. Raises a `ModelError`."""
        try:
            if self._client_ is None:
                await asyncio.to_thread(import_module, "openai")
            listed = [model async for model in self._client.models.list()]
            listed.sort(key=lambda model: (-(model.created or 0), model.id))
            return [model.id for model in listed]
        except Exception as error:
            raise as_model_error(error) from error

    async def upload(self, name: str, data: bytes) -> FileRef:
        """See `Platform`."""
        from openai import Omit

        upload = self._client.files.create(
            file=(name, data), purpose="user_data", extra_headers=unsaid(Omit())
        )
        try:
            made = await within(upload, self._deadlines.first, NO_FILE)
            return FileRef(str(made.id), name)
        except Exception as error:
            raise as_model_error(error) from error

    async def close(self) -> None:
        """Give up connections."""
        if self._client_ is not None:
            await self._client_.close()
            self._client_ = None

    async def stream(self, model: ModelInfo, request: Request) -> AsyncIterator[Delta]:
        """See `Platform.stream`."""
        measure = Measure(self._longest)
        finish: Finish | None = None
        while True:
            model = self._dialects.of(model)
            begun = False
            try:
                if self._client_ is None:  # to load the SDK takes its time, not the model's
                    await asyncio.to_thread(import_module, "openai")
                async with aclosing(self._deltas(model, request)) as deltas:
                    async for delta in deltas:
                        begun = True
                        if isinstance(delta, FinishDelta):
                            finish = delta.reason
                        else:
                            measure.take(delta)
                            yield delta
            except Exception as error:
                if not begun and self._dialects.learn(model, error):
                    continue  # it said what it wants instead
                raise as_model_error(error) from error
            break
        yield FinishDelta(finish or "truncated")

    async def _deltas(self, model: ModelInfo, request: Request) -> AsyncGenerator[Delta, None]:
        responses = model.api == "responses"
        begin = self._begin_response if responses else self._begin_chat
        responded, details = Responded(model), Details(Measure(self._longest))
        events = events_of(lambda: begin(model, request), self._deadlines)
        async with aclosing(events):
            async for event in events:
                found = responded.take(event) if responses else chat_deltas(event, model)
                if not responses:
                    details.take(event)
                for delta in found:
                    yield delta
        for delta in details.deltas():
            yield delta

    @property
    def _client(self) -> AsyncOpenAI:
        if self._client_ is None:
            from openai import AsyncOpenAI, Timeout

            wait = self._deadlines
            self._client_ = AsyncOpenAI(
                base_url=self.base_url,
                api_key=self._key,
                max_retries=0,  # the model group decides whether and where to try again
                timeout=Timeout(wait.total, connect=wait.connect),
            )
        return self._client_

    async def _begin_chat(self, model: ModelInfo, request: Request) -> Any:
        stream = await self._client.chat.completions.create(
            **_as_they_are(chat_parameters(model, request), "messages", "tools"),
            extra_headers=self._headers(model),
        )
        is_whole = stream.response.headers.get("content-type", "").startswith("application/json")
        return WholeAnswer(stream) if is_whole else stream

    def _begin_response(self, model: ModelInfo, request: Request) -> Awaitable[Any]:
        begun: Awaitable[Any] = self._client.responses.create(
            **_as_they_are(response_parameters(model, request), "input", "tools"),
            extra_headers=self._headers(model),
        )
        return begun

    def _headers(self, model: ModelInfo) -> dict[str, Any]:
        from openai import Omit

        return {**unsaid(Omit()), **model.headers}


def _as_they_are(parameters: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return parameters of which some are sent as they are: of others the SDK compares each part
    with its types, which takes a third of the CPU time of an agent's call."""
    large = {name: parameters[name] for name in names if name in parameters}
    extra = {**large, **parameters.get("extra_body", {})}
    return {**parameters, **dict.fromkeys(large, ()), "extra_body": extra}


def as_model_error(error: BaseException) -> ModelError:
    """Convert an exception of the SDK or of the connection to what the caller should do."""
    import openai

    if isinstance(error, ModelError):
        return error
    if isinstance(error, openai.APIStatusError):
        if error.code == "context_length_exceeded":
            return too_long_said(error.status_code, error.message)
        if error.code == "insufficient_quota":  # sent as 429, and yet waiting does not help
            return no_credit(error.status_code, error.message)
        return of_status(error.status_code, _said(error), error.response.headers)
    if isinstance(error, openai.APIConnectionError):
        return unreachable(error)
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return AnswerBroken("The model sent invalid JSON.")
    if isinstance(error, openai.APIError):
        if too_long(str(error)):
            return ContextTooLong("The conversation is too long: {said}", said=error.message)
        return ModelBusy("The model failed in the middle of an answer: {said}", said=error.message)
    if isinstance(error, openai.OpenAIError):
        return ModelRefused(str(error))
    if isinstance(error, (TypeError, AttributeError, ValueError, KeyError)):
        return AnswerBroken("The model sent an invalid answer: {why}.", why=error)
    return ModelUnreachable("The connection to the model was lost: {why}.", why=cause_of(error))


def _said(error: APIStatusError) -> str:
    """Return the words of a refusal, with those of the provider that a router had asked."""
    body = error.body if isinstance(error.body, dict) else {}
    metadata = body.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return f"{error.message}: {raw[:_QUOTED]}" if isinstance(raw, str) and raw else error.message
