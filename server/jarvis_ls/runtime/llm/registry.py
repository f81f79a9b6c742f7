"""Which kinds of platform there are: the built-in ones, and the user's own.

A file in `~/.jarvis/models/` that holds a subclass of `Platform` adds one kind, under the
class's `name` or the file's:

    class Office(Platform):
        name = "office"

        def __init__(self, base_url: str | None, api_key: str) -> None: ...
        async def stream(self, model, request): yield ...
        async def models(self): ...

It is used by a `[model_providers.NAME]` section with `type = "office"`. These files run with
the user's rights, so they are taken from the user's own folder only, never from a workspace.
One that cannot be used is reported with its reason and left out; the others work.
"""

from __future__ import annotations

import importlib.util
import inspect
import logging
import os
import stat
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, get_args

from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.errors import AnswerBroken, ModelError, ModelRefused, ModelUnreachable
from jarvis_ls.runtime.base.messages import FileRef
from jarvis_ls.runtime.base.redaction import Redactor
from jarvis_ls.runtime.llm.call_log import Logged
from jarvis_ls.runtime.llm.platforms.base import Delta, ModelInfo, Platform, Request
from jarvis_ls.runtime.llm.providers import Candidate, Provider

logger = logging.getLogger(__name__)

Make = Callable[[str | None, str], Platform]
"""Makes a connection from a base URL and a key."""


@dataclass(frozen=True, slots=True)
class BrokenPlatform:
    """A file of the user's that adds no platform."""

    file: Path
    reason: str
    """In words for the user."""


class PlatformRegistry:
    """Kinds of platform, and the connections in use; keep one per process."""

    def __init__(self, home: Path | None = None, redactor: Redactor | None = None) -> None:
        """`home` is the user's folder, `~/.jarvis`; without it there are only built-in kinds.
        `redactor` keeps keys out of the logs of calls, and learns those that are used."""
        self._home = home
        self._redactor = redactor or Redactor.of_environment()
        self._kinds: dict[str, Make] = dict(_BUILT_IN)
        self._open: dict[tuple[str, str, str | None, str], Platform] = {}
        self.broken: tuple[BrokenPlatform, ...] = ()
        """Files that were left out."""
        if home is not None:
            found = load(home / "models")
            self.broken = found.broken
            for name, kind in found.kinds.items():
                self.register(name, partial(_users, name, kind))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of all kinds, as `type` in settings."""
        return tuple(sorted(self._kinds))

    def register(self, name: str, make: Make) -> None:
        """Add a kind, or put another in the place of one."""
        self._kinds[name] = make

    def platform_for(self, candidate: Candidate) -> Platform:
        """Return the connection for a candidate; candidates with the same address and key share
        one. Its calls are logged (see `call_log`).

        Raises `ModelRefused`, which says what there is, when its provider's type is not known
        or the user's class cannot be made.
        """
        provider = candidate.provider
        place = (provider.name, provider.type, provider.base, candidate.key)
        self._redactor.learn([candidate.key, *candidate.secrets])
        if place not in self._open:
            made = self.connect(provider, candidate.key)
            self._open[place] = Logged(
                made, provider.name, redactor=self._redactor, home=self._home
            )
        return self._open[place]

    async def close(self) -> None:
        """Give up all connections."""
        platforms, self._open = list(self._open.values()), {}
        for platform in platforms:
            await platform.close()

    def connect(self, provider: Provider, key: str) -> Platform:
        """Return a connection of its own, whose calls are not logged; who asks for it closes it.

        Raises `ModelRefused`, see `platform_for`.
        """
        make = self._kinds.get(provider.type)
        if make is None:
            broken = next((b for b in self.broken if b.file.stem == provider.type), None)
            why = (
                Words(" {file} cannot be used: {why}.", file=broken.file, why=broken.reason)
                if broken
                else ""
            )
            raise ModelRefused(
                ("There is no platform {type} for the provider {name}; there are {kinds}.{why}"),
                type=repr(provider.type),
                name=provider.name,
                kinds=", ".join(self.kinds),
                why=why,
            )
        try:
            made = make(provider.base, key)
        except Exception as error:
            raise ModelRefused(
                "The platform {type} could not be created: {why}.",
                type=repr(provider.type),
                why=_last_line(error, key),
            ) from error
        if provider.patience:
            made.wait(provider.patience)
        return made


class UserPlatform(Platform):
    """A platform of the user's; whatever goes wrong in it becomes a `ModelError`."""

    def __init__(self, name: str, wrapped: Platform, key: str) -> None:
        self.name = name
        self.wrapped = wrapped
        self._key = key

    async def stream(self, model: ModelInfo, request: Request) -> AsyncIterator[Delta]:
        """See `Platform.stream`."""
        stream: Any = self.wrapped.stream(model, request)
        try:
            async with aclosing(stream):
                async for delta in stream:
                    if not isinstance(delta, get_args(Delta)):
                        raise TypeError(f"it gave a {type(delta).__name__}, which is not a delta")
                    yield delta
        except Exception as error:
            raise self._as_model_error(error) from error

    async def models(self) -> list[str]:
        """See `Platform`."""
        try:
            return list(await self.wrapped.models())
        except Exception as error:
            raise self._as_model_error(error) from error

    async def upload(self, name: str, data: bytes) -> FileRef:
        """See `Platform`."""
        try:
            return await self.wrapped.upload(name, data)
        except Exception as error:
            raise self._as_model_error(error) from error

    async def close(self) -> None:
        """See `Platform`; one that cannot give its connections up keeps no one from ending."""
        try:
            await self.wrapped.close()
        except Exception:
            logger.exception("the platform %s could not be closed", self.name)

    def _as_model_error(self, error: Exception) -> ModelError:
        if isinstance(error, ModelError):
            return error
        words = f"The platform {self.name!r} failed: {_last_line(error, self._key)}"
        if isinstance(error, OSError):
            return ModelUnreachable(words)
        return AnswerBroken(words)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a folder of platforms holds."""

    kinds: Mapping[str, type[Platform]] = field(default_factory=dict)
    broken: tuple[BrokenPlatform, ...] = ()


def load(folder: Path) -> Loaded:
    """Return the platforms in a folder's Python files, by name; none when there is no folder."""
    kinds: dict[str, type[Platform]] = {}
    broken: list[BrokenPlatform] = []
    for file in _files(folder):
        try:
            for name, kind in _platforms(file):
                if name in kinds:
                    raise ImportError(f"there is a platform {name!r} already, in another file")
                kinds[name] = kind
        except ImportError as error:
            broken.append(BrokenPlatform(file, str(error)))
    return Loaded(kinds, tuple(broken))


def problem_of(kind: type) -> str:
    """Return why a class cannot be used as a platform; empty when it can."""
    if not issubclass(kind, Platform):
        return "it is no subclass of jarvis_ls.runtime.llm.platforms.base.Platform"
    missing = sorted(getattr(kind, "__abstractmethods__", ()))
    if missing:
        return f"it lacks {' and '.join(missing)}"
    if not inspect.isasyncgenfunction(kind.stream):
        return "its stream is no async generator (`async def` with `yield`)"
    if not inspect.iscoroutinefunction(kind.models):
        return "its models is no coroutine (`async def`)"
    for method, wanted in (("stream", 2), ("models", 0)):
        if not _takes(getattr(kind, method), wanted + 1):
            return f"its {method} must take {wanted} arguments"
    if not _takes(kind.__init__, 3):
        return "its __init__ must take a base URL and a key"
    return ""


def _platforms(file: Path) -> Iterator[tuple[str, type[Platform]]]:
    """Yield the platforms of a file. Raise `ImportError` with the reason in words."""
    module = _module(file)
    own = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__
    ]
    kinds = [value for value in own if issubclass(value, Platform)]
    if not kinds:
        raise ImportError("there is no subclass of Platform in it")
    for kind in kinds:
        if problem := problem_of(kind):
            raise ImportError(f"{kind.__name__}: {problem}")
        yield kind.name or file.stem, kind


def _module(file: Path) -> Any:
    name = f"jarvis_user_platform_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ImportError(_last_line(error)) from error
    finally:
        sys.dont_write_bytecode = before
    return module


def _files(folder: Path) -> list[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    return [
        Path(entry.path)
        for entry in entries
        if entry.name.endswith(".py")
        and not entry.name.startswith(("_", "."))
        and stat.S_ISREG(entry.stat().st_mode)
    ]


def _takes(method: Any, number: int) -> bool:
    try:
        inspect.signature(method).bind(*range(number))
    except (TypeError, ValueError):
        return False
    return True


def _last_line(error: BaseException, secret: str = "") -> str:
    text = traceback.format_exception_only(type(error), error)[-1].strip()
    return text.replace(secret, "[redacted]") if secret else text


def _users(name: str, kind: Make, base: str | None, key: str) -> Platform:
    return UserPlatform(name, kind(base, key), key)


def _openai(base: str | None, key: str) -> Platform:
    from jarvis_ls.runtime.llm.platforms.openai import OpenAICompatible

    return OpenAICompatible(base, key)


def _anthropic(base: str | None, key: str) -> Platform:
    from jarvis_ls.runtime.llm.platforms.anthropic import Anthropic

    return Anthropic(base, key)


def _replay(base: str | None, key: str) -> Platform:
    from jarvis_ls.runtime.llm.platforms.replay import Replay

    return Replay(base, key)


_BUILT_IN: dict[str, Make] = {"openai": _openai, "anthropic": _anthropic, "replay": _replay}
