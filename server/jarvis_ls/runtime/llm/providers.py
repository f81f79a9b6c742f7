"""Which models there are: providers, groups, keys. Read once from the user's own settings.

    [model_providers.office]
    type = "openai"                      # or "anthropic", or a file in ~/.jarvis/models
    base = "http://localhost:8080/v1"
    env_keys = ["OFFICE_KEY", "OFFICE_KEY_2"]

    [model_groups.balanced]
    models = ["office/large", "deepseek/deepseek-chat"]

    [models."office/large"]
    window = 64000
    input_price = 0.5
    reasoning_effort = "low"
    extra = { top_k = 20 }
    headers = { X-Team = "compilers" }
    env_headers = { X-Gateway-Token = "OFFICE_GATEWAY_TOKEN" }

Keys come from the environment (or the editor's secret storage, which hands them over as
environment); a key in a settings file is refused. A workspace cannot add providers.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.files import shown_folder, user_folder
from jarvis_ls.core.words import Words, either, together
from jarvis_ls.runtime.base.errors import ModelMissing
from jarvis_ls.runtime.llm.known_providers import KNOWN, KnownProvider
from jarvis_ls.runtime.llm.model_settings import read_model
from jarvis_ls.runtime.llm.platforms.base import ModelInfo

SETTINGS = "config.toml"
"""The user's settings file, below the user's folder."""
GROUPS = ("think", "balanced", "act", "image")
ALIASES = {"smart": "think", "normal": "balanced", "cheap": "act"}
_FALLBACK = {"think": "balanced", "act": "balanced", "balanced": "think"}
_NOT_FOR_TALK = re.compile(r"(?i)(?:^|[-_/.])(embed\w*|rerank\w*|fast-?apply|apply)(?:$|[-_/.:\d])")
_SENDS_REASONING = tuple(known.domain for known in KNOWN if known.domain)
"""Domains whose models want their reasoning back, and refuse the conversation without it."""
_ONLY_RESPONSES = re.compile(r"(?i)codex|-pro(?:$|-)|deep-research|computer-use")
"""OpenAI's own models that do not answer chat completions."""
_LOOKS_LIKE_KEY = ("api_key", "key", "token", "secret")


HERE = 900.0
"""Seconds of silence of a server on this machine that are waited for."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models are served."""

    name: str
    """As models are prefixed: `name/model`."""
    type: str = "openai"
    """Which platform speaks to it."""
    base: str | None = None
    """Base URL; None means the platform's own."""
    env_keys: tuple[str, ...] = ()
    """Environment variables that hold keys; all that are set are used in turn."""
    needs_key: bool = True
    """False for local servers that take any key."""
    timeout: float = 0.0
    """Seconds of silence after which a model is given up; 0 leaves it to `patience`."""

    @property
    def patience(self) -> float:
        """Seconds of silence that are waited for, 0 for the platform's own: a server on this
        machine may read a long conversation with a slow processor before it says anything."""
        return self.timeout or (HERE if self.is_here else 0.0)

    @property
    def is_here(self) -> bool:
        """Return whether its address is on this machine."""
        host = urlsplit(self.base or "").hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    @property
    def is_openai(self) -> bool:
        """Return whether it is OpenAI itself."""
        own = self.base is None or urlsplit(self.base).hostname == "api.openai.com"
        return self.type == "openai" and own

    def with_defaults(self, model: ModelInfo) -> ModelInfo:
        """Return a model of this provider, with what is known of all of them where its settings
        leave it open."""
        host = urlsplit(self.base or "").hostname or ""
        back, limit, api = model.reasoning_back, model.max_completion_tokens, model.api
        if back is None and any(host == d or host.endswith("." + d) for d in _SENDS_REASONING):
            back = True
        if limit is None and self.is_openai:
            limit = True
        if not api and self.is_openai and _ONLY_RESPONSES.search(model.name):
            api = "responses"
        return replace(model, reasoning_back=back, max_completion_tokens=limit, api=api)

    def keys(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """Return the keys that are set; one empty key when none is needed."""
        found = tuple(environment[name] for name in self.env_keys if environment.get(name))
        return found or (() if self.needs_key else ("none",))


def _known(known: KnownProvider) -> Provider:
    return Provider(known.name, known.type, known.base, known.env_keys, needs_key=not known.here)


PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        *map(_known, KNOWN),
        Provider(
            "zhipuai-coding-plan",
            base="https://open.bigmodel.cn/api/coding/paas/v4",
            env_keys=("ZHIPU_API_KEY",),
        ),
        Provider("local", base="http://127.0.0.1:11434/v1", needs_key=False),
    )
}
"""Providers known without settings."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to ask a question: a model at a provider with a key."""

    provider: Provider
    model: ModelInfo
    key: str = field(repr=False)
    file: str = ""
    """The settings file that says so, as people write it."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values of its headers that came from the environment."""

    @property
    def label(self) -> str:
        """The name shown to people: `provider/model`."""
        return f"{self.provider.name}/{self.model.name}"


@dataclass(frozen=True, slots=True)
class Models:
    """The user's providers, groups and what is known of single models."""

    providers: dict[str, Provider] = field(default_factory=lambda: dict(PROVIDERS))
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Group name to `provider/model` names, in order of preference."""
    infos: dict[str, ModelInfo] = field(default_factory=dict)
    """By `provider/model`."""
    env_headers: dict[str, dict[str, str]] = field(default_factory=dict)
    """By `provider/model`: headers, and the variables that hold their values."""
    file: str = field(default_factory=lambda: shown_folder(user_folder() / SETTINGS))
    """The settings file, as people write it."""
    wrong: tuple[str, ...] = ()
    """What of the settings could not be used, in words for the user."""

    def candidates(self, group: str, environment: Mapping[str, str]) -> list[Candidate]:
        """Every way to ask `group` (a group, an alias of one, or one `provider/model`).

        Models of one group alternate before keys do. Raises `ModelMissing`, which says what to
        set, when there is none, and `ConfigError` when there is no such group.
        """
        if "/" not in group and group not in (*GROUPS, *ALIASES, *self.groups) and self.groups:
            raise ConfigError(
                (
                    "Unknown model group {group}. Use one of {groups}, or a single model as "
                    "provider/model."
                ),
                group=repr(group),
                groups=", ".join(sorted(self.groups)),
            )
        names = self._names(group)
        if not names and self.wrong:
            raise ModelMissing(
                (
                    "No model is available, because the settings could not be read. {why} "
                    "Correct {file}. Commands work without a model."
                ),
                why=together([_sentence(problem) for problem in self.wrong], " "),
                file=self.file,
            )
        if not names and group != "image":
            raise ModelMissing(
                'No model is configured. Run `jarvis setup` (in the editor: "Jarvis: Set Up a'
                ' Model"), or set JARVIS_MODEL to provider/model. Commands work without a model.'
            )
        if not names:
            raise ModelMissing(
                (
                    "No model is configured. Set JARVIS_MODEL to provider/model, or add a "
                    "[model_groups.{group}] section to {file}. Commands work without a model."
                ),
                group=group,
                file=self.file,
            )
        ways = [self._ways(name, environment) for name in names]
        deepest = max(len(way) for way in ways)
        found = [way[depth] for depth in range(deepest) for way in ways if depth < len(way)]
        if not found:
            variables = sorted({v for name in names for v in self.provider(name).env_keys})
            raise _without_key(self.provider(names[0]), variables)
        return found

    def standing_for(self, group: str) -> str:
        """Return the group (or single model) that is asked when `group` is meant: itself, or what
        replaces one that is not configured.
        """
        wanted = ALIASES.get(group, group)
        if "/" in wanted or wanted == "image" or self.groups.get(wanted):
            return wanted
        others = (_FALLBACK.get(wanted, ""), *GROUPS[:3])
        return next((name for name in others if self.groups.get(name)), wanted)

    def _names(self, group: str) -> tuple[str, ...]:
        name = self.standing_for(group)
        if "/" in name:
            return (name,)
        if name == "image":
            return self.groups.get(name) or self.groups.get(_FALLBACK.get(name, "")) or ()
        return self.groups.get(name, ())

    def _ways(self, name: str, environment: Mapping[str, str]) -> list[Candidate]:
        provider = self.provider(name)
        model = self.infos.get(name) or ModelInfo(name.partition("/")[2])
        variables = self.env_headers.get(name, {})
        secret = {header: environment.get(variable, "") for header, variable in variables.items()}
        if missing := sorted(variables[header] for header, value in secret.items() if not value):
            raise ModelMissing(
                "No value is set for a header of {name}: put one in {variables}.",
                name=name,
                variables=either(missing),
            )
        model = replace(provider.with_defaults(model), headers={**model.headers, **secret})
        return [
            Candidate(provider, model, key, self.file, tuple(secret.values()))
            for key in provider.keys(environment)
        ]

    def provider(self, name: str) -> Provider:
        """Return the provider of a `provider/model`. Raises `ConfigError` when it cannot be
        asked.
        """
        provider, _, model = name.partition("/")
        if provider not in self.providers or not model:
            known = ", ".join(sorted(self.providers))
            raise ConfigError(
                "{name} is not a provider/model; known providers are {known}.",
                name=repr(name),
                known=known,
            )
        if match := _NOT_FOR_TALK.search(model):
            raise ConfigError(
                "{name} is a model for {kind} and cannot hold a conversation; choose a chat model.",
                name=name,
                kind=match[1].lower(),
            )
        return self.providers[provider]


def read_models(
    settings: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    *,
    file: str = "",
    wrong: list[str] | None = None,
) -> Models:
    """Models from the user's settings and the environment.

    `JARVIS_MODEL` (one `provider/model`) becomes the balanced group and wins over settings;
    with only `OPENAI_API_KEY` set nothing is chosen: a model must be named by someone. `file` is
    what the settings file is called. What is wrong is left out, alone, and said in `wrong`, which
    may hold what was wrong with the file before; without that list `ConfigError` is raised,
    naming the section and key.
    """
    environment = os.environ if environment is None else environment
    reading = _Reading(wrong)
    providers = dict(PROVIDERS)
    for name, table in reading.tables(settings, "model_providers"):
        if (provider := reading.tried(_read_provider, name, table)) is not None:
            providers[name] = provider
        else:
            providers.pop(name, None)  # what the user says of it holds, or nothing
    if base := environment.get("OPENAI_BASE_URL"):
        providers["openai"] = Provider("openai", base=base, env_keys=("OPENAI_API_KEY",))
    groups = {}
    for name, table in reading.tables(settings, "model_groups"):
        if (names := reading.tried(_names, f"model_groups.{name}", table)) is not None:
            groups[ALIASES.get(name, name)] = names
    if chosen := environment.get("JARVIS_MODEL"):
        groups["balanced"] = tuple(part.strip() for part in chosen.split(",") if part.strip())
    infos, env_headers = {}, {}
    for name, table in reading.tables(settings, "models"):
        if (info := reading.tried(read_model, name, table)) is not None:
            infos[name], env_headers[name] = info
    models = Models(providers, {}, infos, env_headers)
    if file:
        models = replace(models, file=file)
    for group, names in groups.items():
        usable = tuple(n for n in names if reading.tried(models.provider, n) is not None)
        if usable:
            models.groups[group] = usable
    return replace(models, wrong=tuple(wrong or ()))


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads one thing after the other; what is wrong with one does not hide the others."""

    wrong: list[str] | None

    def tried(self, read: Callable[..., _T], *arguments: Any) -> _T | None:
        """Return the result of `read`; None, with the error collected, when it is wrong."""
        try:
            return read(*arguments)
        except ConfigError as error:
            if self.wrong is None:
                raise
            if str(error) not in self.wrong:
                self.wrong.append(str(error))
            return None

    def tables(
        self, settings: Mapping[str, Any], section: str
    ) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the tables of a section."""
        found = self.tried(_table, section, settings.get(section, {})) or {}
        named = [
            (name, self.tried(_table, f"{section}.{name}", table)) for name, table in found.items()
        ]
        return [(name, table) for name, table in named if table is not None]


def _key_page(provider: Provider) -> str:
    """Return where its keys are made; empty for one that the user's settings describe."""
    is_ours = PROVIDERS.get(provider.name) == provider
    return next((known.key_page for known in KNOWN if is_ours and known.name == provider.name), "")


def _without_key(provider: Provider, variables: list[str]) -> ModelMissing:
    names = either(variables)
    missing = ModelMissing("No API key is set: set {variables}.", "key", variables=names)
    if page := _key_page(provider):
        missing = ModelMissing(
            "No API key is set: set {variables}. Keys are made at {page}.",
            "key",
            variables=names,
            page=page,
        )
    missing.provider = provider.name
    return missing


def _sentence(text: str) -> str:
    return text if text.endswith((".", "。")) else together([text, ""], ".")


def _read_provider(name: str, table: Mapping[str, Any]) -> Provider:
    where = f"model_providers.{name}"
    for key in table:
        if key in _LOOKS_LIKE_KEY:
            raise ConfigError(
                "{where}.{key}: keys do not belong in a settings file; put the key in an "
                "environment variable and name the variable in env_key.",
                where=where,
                key=key,
            )
        if key not in ("type", "name", "base", "env_key", "env_keys", "needs_key", "timeout"):
            raise ConfigError("Unknown setting {where}.{key}.", where=where, key=key)
    keys = table.get("env_keys", [table["env_key"]] if "env_key" in table else [])
    if not isinstance(keys, list) or not all(isinstance(k, str) for k in keys):
        raise ConfigError("{where}.env_keys must be a list of names of variables.", where=where)
    base = table.get("base")
    is_folder = table.get("type") == "replay" and isinstance(base, str)
    if base is not None and not is_folder and not re.match(r"https?://", str(base)):
        raise ConfigError("{where}.base must be an http or https address.", where=where)
    timeout = table.get("timeout", 0)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout >= 0:
        raise ConfigError("{where}.timeout must be a number of seconds.", where=where)
    needs, kind = table.get("needs_key", bool(keys)), table.get("type", "openai")
    if not isinstance(needs, bool):
        raise ConfigError(
            "{where} must be {wanted}, not {written}.",
            where=f"{where}.needs_key",
            wanted=Words("true or false"),
            written=repr(needs),
        )
    if not isinstance(kind, str):
        raise ConfigError("{where} has a wrong type.", where=f"{where}.type")
    return Provider(name, kind, base, tuple(keys), needs, float(timeout))


def _names(where: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    names = table.get("models")
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise ConfigError("{where}.models must be a list of provider/model names.", where=where)
    return tuple(names)


def _table(where: str, found: Any) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise ConfigError("{where} must be a table.", where=where)
    return found
