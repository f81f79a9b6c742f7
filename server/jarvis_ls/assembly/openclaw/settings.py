"""Models and tool servers of an `openclaw.json`, as our settings; keys are never taken.

Model groups are `model_groups` (`{name: {models: [...]}}`), or `agents.defaults.model` and
`imageModel` with their fallbacks. See https://docs.openclaw.ai/gateway/configuration-reference.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.redaction import Redactor, names_secret
from jarvis_ls.runtime.llm.providers import ALIASES, GROUPS, PROVIDERS, Provider
from jarvis_ls.runtime.mcp.config import read_server

Table = dict[str, Any]

_HANDLED = frozenset(
    "model_groups models agents agent mcp mcpServers skills session meta env $schema".split()
)
_APIS = {
    "openai-completions": "openai",
    "openai-responses": "openai",
    "anthropic-messages": "anthropic",
}
_VARIABLE = re.compile(r"\$?\{?([A-Z][A-Z0-9_]*)\}?\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
_PASSED_ON = ("command", "args", "cwd", "url")


@dataclass
class Imported:
    """What becomes of the settings."""

    groups: Table = field(default_factory=dict)
    """Lists of models by group."""
    providers: Table = field(default_factory=dict)
    """Tables of `[model_providers]`."""
    models: Table = field(default_factory=dict)
    """Tables of `[models]`."""
    servers: Table = field(default_factory=dict)
    """Tables of `[mcp_servers]`."""
    not_taken: list[str] = field(default_factory=list)
    """What was left out and why, in words for the user."""

    def leave(self, what: str, why: str) -> None:
        """Note that something is not taken."""
        self.not_taken.append(Words("{what}: {why}", what=what, why=why))


def read_openclaw(settings: Mapping[str, Any], known: Mapping[str, Any]) -> Imported:
    """Return what can be taken of OpenClaw's settings, beside the user's own (`known`), which stay
    as they are."""
    found = Imported()
    _providers(settings, known, found)
    _groups(settings, known, found)
    _servers(settings, found)
    for name in sorted(settings.keys() - _HANDLED):
        found.leave(name, Words("there is nothing like it here"))
    if "env" in settings:
        found.leave("env", Words("keys and other variables belong in your environment"))
    return found


def _table(within: Any, *names: str) -> Table:
    """Return a table below; empty when there is none."""
    for name in names:
        within = within.get(name) if isinstance(within, Mapping) else None
    return dict(within) if isinstance(within, Mapping) else {}


def _providers(settings: Mapping[str, Any], known: Mapping[str, Any], found: Imported) -> None:
    for name, given in _table(settings, "models", "providers").items():
        where = f"models.providers.{name}"
        provider = given if isinstance(given, Mapping) else {}
        api = str(provider.get("api", "openai-completions"))
        if name in _table(known, "model_providers"):
            found.leave(where, Words("you have a provider of this name"))
        elif (
            not _NAME.match(name)
            or api not in _APIS
            or not isinstance(provider.get("baseUrl"), str)
        ):
            found.leave(where, Words("its kind ({api}) is not spoken here", api=api))
        else:
            found.providers[name] = _provider(name, provider, _APIS[api], where, found)
            _models(name, provider, api, found)


def _provider(
    name: str, provider: Mapping[str, Any], kind: str, where: str, found: Imported
) -> Table:
    table: Table = {"type": kind, "base": provider["baseUrl"]}
    key = provider.get("apiKey")
    if variable := _variable(key):
        table["env_keys"] = [variable]
    elif Provider(name, base=table["base"]).is_here:
        table["needs_key"] = False
    else:
        variable = f"{re.sub(r'[^A-Z0-9]', '_', name.upper())}_API_KEY"
        table["env_keys"] = [variable]
        if key:
            found.leave(
                f"{where}.apiKey", Words("keys are not kept in settings: set {name}", name=variable)
            )
    for extra in sorted(provider.keys() - {"baseUrl", "api", "apiKey", "models", "headers"}):
        found.leave(f"{where}.{extra}", Words("there is nothing like it here"))
    return table


def _models(name: str, provider: Mapping[str, Any], api: str, found: Imported) -> None:
    headers, secret = _split(provider.get("headers"))
    for left in secret:
        found.leave(
            f"models.providers.{name}.headers.{left}", Words("it may be a secret: use env_headers")
        )
    models = provider.get("models")
    for model in models if isinstance(models, list) else ():
        identity = model.get("id") if isinstance(model, Mapping) else None
        if not isinstance(identity, str) or not identity:
            continue
        table: Table = {}
        window = model.get("contextWindow")
        if isinstance(window, int) and not isinstance(window, bool) and window > 0:
            table["window"] = window
        if str(model.get("api", api)) == "openai-responses":
            table["api"] = "responses"
        if headers:
            table["headers"] = headers
        if table:
            found.models[f"{name}/{identity}"] = table


def _groups(settings: Mapping[str, Any], known: Mapping[str, Any], found: Imported) -> None:
    for group, models in _given_groups(settings):
        name = ALIASES.get(group, group)
        if name not in GROUPS:
            found.leave(
                f"model_groups.{group}", Words("groups here are {names}", names=", ".join(GROUPS))
            )
        elif name in {ALIASES.get(own, own) for own in _table(known, "model_groups")}:
            found.leave(group, Words("you have chosen models of the group {name}", name=name))
        else:
            usable = list(_usable(models, known, found))
            if usable:
                found.groups.setdefault(name, usable)
    agents = _table(settings, "agents").get("list")
    for agent in agents if isinstance(agents, list) else ():
        if isinstance(agent, Mapping):
            found.leave(
                f"agents.list: {agent.get('id', '?')}", Words("write it as a file in agents/")
            )


def _given_groups(settings: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for group, table in _table(settings, "model_groups").items():
        yield group, _texts(table.get("models") if isinstance(table, Mapping) else None)
    defaults = {**_table(settings, "agent"), **_table(settings, "agents", "defaults")}
    for name, group in (("model", "balanced"), ("imageModel", "image")):
        given = defaults.get(name)
        if isinstance(given, str):
            yield group, [given]
        elif isinstance(given, Mapping):
            yield group, _texts([given.get("primary"), *_texts(given.get("fallbacks"))])


def _usable(models: Collection[str], known: Mapping[str, Any], found: Imported) -> Iterator[str]:
    """Yield models whose provider is known here."""
    names = {*PROVIDERS, *found.providers, *_table(known, "model_providers")}
    for model in models:
        provider, slash, rest = model.partition("/")
        if not slash and model.startswith("minimax-"):
            provider, rest = "minimax-cn", model
        if provider in names and rest:
            yield f"{provider}/{rest}"
        else:
            found.leave(model, Words("its provider is not known here"))


def _servers(settings: Mapping[str, Any], found: Imported) -> None:
    given = {**_table(settings, "mcpServers"), **_table(settings, "mcp", "servers")}
    for name, server in given.items():
        where = f"mcp.servers.{name}"
        table = dict(server) if isinstance(server, Mapping) else {}
        if table.get("transport") == "sse" or table.get("type") == "sse" or table.get("auth"):
            found.leave(where, Words("SSE and OAuth are not spoken here"))
            continue
        ours = {key: table[key] for key in _PASSED_ON if table.get(key)}
        if table.get("workingDirectory"):
            ours["cwd"] = table["workingDirectory"]
        if table.get("enabled") is False or table.get("disabled") is True:
            ours["enabled"] = False
        ours |= _variables(where, "env", table.get("env"), found)
        ours |= _variables(where, "headers", table.get("headers"), found)
        try:
            read_server(name, ours, "user", None)
        except (ValueError, ConfigError) as error:
            found.leave(where, str(error))
            continue
        found.servers[name] = ours
        taken = {
            *_PASSED_ON,
            *"env headers enabled disabled workingDirectory transport type".split(),
        }
        for key in sorted(table.keys() - taken):
            found.leave(f"{where}.{key}", Words("there is nothing like it here"))


def _variables(where: str, kind: str, given: Any, found: Imported) -> Table:
    """Return `env` or `headers` of a server: what is plain, and the names of variables of ours."""
    plain, secret = _split(given)
    ours: Table = {kind: plain} if plain else {}
    keys: Table = {}
    for name, value in secret.items():
        variable = _variable(value)
        if variable and (kind == "headers" or variable == name):
            keys[name] = variable
        elif kind == "env":
            keys[name] = name
            found.leave(
                f"{where}.env.{name}", Words("keys are not kept in settings: set {name}", name=name)
            )
        else:
            found.leave(f"{where}.headers.{name}", Words("it may be a secret: use header_keys"))
    if keys:
        ours |= {"env_keys": sorted(keys)} if kind == "env" else {"header_keys": keys}
    return ours


def _split(given: Any) -> tuple[Table, Table]:
    """Return the texts of a table that are plain, and those that name or may be a secret."""
    plain: Table = {}
    secret: Table = {}
    for name, value in _table(given).items():
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            text = str(value)
            hides = names_secret(name) or "${" in text or Redactor().text(text) != text
            (secret if hides else plain)[name] = text
    return plain, secret


def _variable(text: Any) -> str:
    """Return the variable that a value names, such as `${OFFICE_KEY}`; empty when it is one."""
    found = _VARIABLE.match(text) if isinstance(text, str) else None
    return found[1] if found is not None else ""


def _texts(given: Any) -> list[str]:
    return [text for text in given if isinstance(text, str)] if isinstance(given, list) else []
