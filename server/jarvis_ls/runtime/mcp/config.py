"""Which tool servers there are: read from the user's settings, and from a workspace's.

The user's: `~/.jarvis/mcp.toml` (or `.yaml`), every such file in `~/.jarvis/mcp/`, the file
named by `$JARVIS_MCP`, and the table `mcp_servers` of the settings.

    [mcp_servers.filesystem]
    transport = { type = "stdio", command = "npx -y @acme/server-filesystem /srv/data" }
    env = { LOG_LEVEL = "warn" }     # more environment for the server
    env_keys = ["ACME_TOKEN"]        # variables of ours it may see; no others are passed on
    enabled = true
    auto_start = false               # connect when a tool is first called
    tool_timeout_secs = 180

    [mcp_servers.tickets]
    transport = { type = "http", url = "https://tickets.example.com/mcp" }
    header_keys = { Authorization = "TICKETS_AUTHORIZATION" }   # from our environment

Peers' spelling is understood too: `mcpServers`, `type`, `command` with `args`, `url`, `headers`,
`disabled`, and a YAML list of servers with `name`. A workspace's servers (`.jarvis/mcp.toml`,
`.jarvis/mcp.yaml`, `.mcp.json`) never replace one of the user's and get nothing from our
environment; each needs consent before it is started.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import STATE
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.yaml_files import read_settings
from jarvis_ls.runtime.tools.consent import key_of
from jarvis_ls.runtime.tools.workspace_extras import with_state

VARIABLE = "JARVIS_MCP"
TOOL_SECONDS = 180.0
CONNECT_SECONDS = 30.0
MAX_SERVERS = 50

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ENDS = (".toml", ".yaml", ".yml", ".json")
_KNOWN = frozenset(
    "name transport type command args cwd env env_keys url headers header_keys enabled "
    "enable disabled auto_start timeout tool_timeout_secs connect_timeout_secs tools "
    "description".split()
)


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One tool server."""

    name: str
    origin: Literal["user", "workspace"]
    source: Path | None
    """File it is in; None for the settings."""
    command: tuple[str, ...] = ()
    """Program and arguments; empty for a server that is reached by URL."""
    cwd: str = ""
    env: tuple[tuple[str, str], ...] = ()
    """Environment given in the settings."""
    env_keys: tuple[str, ...] = ()
    """Variables of ours that are passed on."""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    header_keys: tuple[tuple[str, str], ...] = ()
    """Headers whose value is a variable of ours."""
    enabled: bool = True
    auto_start: bool = False
    """Connect at the start of a session."""
    timeout: float = TOOL_SECONDS
    """Seconds a tool may take."""
    connect_timeout: float = CONNECT_SECONDS
    """Seconds connecting may take."""
    only: tuple[str, ...] = ()
    """Names of the server's tools that are offered; empty means all."""

    @property
    def start(self) -> str:
        """The exact command line, or the URL, that reaches the server."""
        return shlex.join(self.command) if self.command else self.url

    @property
    def key(self) -> str:
        """Equal only for servers that are started in exactly the same way."""
        return key_of(
            "mcp-server",
            self.command,
            self.cwd,
            sorted(self.env),
            sorted(self.env_keys),
            self.url,
            sorted(self.headers),
            sorted(self.header_keys),
        )


@dataclass(frozen=True, slots=True)
class Configured:
    """What the settings say."""

    servers: tuple[ServerConfig, ...]
    problems: tuple[str, ...]
    """Files and servers left out, in words for the user."""


def configured_servers(
    home: Path,
    roots: Iterable[Path] = (),
    *,
    trusted: bool = False,
    settings: Any = None,
    environment: Mapping[str, str] | None = None,
) -> Configured:
    """Return the user's servers, and those of a trusted workspace whose name is not taken.

    `settings` is the table `mcp_servers` of the user's own settings. Never raises for what the
    files say.
    """
    environment = os.environ if environment is None else environment
    problems: list[str] = []
    found: dict[str, ServerConfig] = {}

    def add(data: Any, origin: Literal["user", "workspace"], source: Path | None) -> None:
        where = str(source) if source is not None else "settings"
        for name, table in _tables(data, where, problems):
            try:
                server = read_server(name, table, origin, source)
            except ValueError as error:
                problems.append(
                    Words(
                        "{where}: server {name} is skipped: {why}",
                        where=where,
                        name=repr(name),
                        why=error,
                    )
                )
                continue
            key = prefix_of(server.name)
            if key in found:
                problems.append(
                    Words(
                        "{where}: server {name} is skipped: the name is taken",
                        where=where,
                        name=repr(name),
                    )
                )
            elif len(found) >= MAX_SERVERS:
                problems.append(
                    Words(
                        "{where}: server {name} is skipped: more than {what}",
                        where=where,
                        name=repr(name),
                        what=MAX_SERVERS,
                    )
                )
            else:
                found[key] = server

    if settings is not None:
        add(settings, "user", None)
    for path in _user_files(home, environment):
        add(_read(path, None, problems), "user", path)
    for root in roots:
        brought = [root / STATE / name for name in ("mcp.toml", "mcp.yaml")]
        for path in (*(brought if with_state([root], home) else ()), root / ".mcp.json"):
            if not path.is_symlink() and not path.is_file():
                continue
            if not trusted:
                problems.append(Words("{path}: not read, the workspace is not trusted", path=path))
                continue
            add(_read(path, root, problems), "workspace", path)
    return Configured(tuple(found.values()), tuple(problems))


def read_server(
    name: Any, table: Any, origin: Literal["user", "workspace"], source: Path | None
) -> ServerConfig:
    """One server of a settings file. Raises `ValueError` saying what is wrong."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError("a name has up to 32 letters, digits, dots, dashes and underscores")
    if not isinstance(table, dict):
        raise ValueError("it is not a table")
    flat = {**table, **_check(table.get("transport", {}), "transport", dict)}
    if unknown := set(map(str, flat)) - _KNOWN:
        raise ValueError(f"unknown setting {sorted(unknown)[0]!r}")
    command = _command(flat)
    url = _check(flat.get("url", ""), "url", str)
    if bool(command) == bool(url):
        raise ValueError("it needs either a command or a url")
    if url:
        _check_url(url, secret=origin == "workspace" or "header_keys" in flat)
    env_keys = _texts(flat.get("env_keys", []), "env_keys")
    header_keys = _pairs(flat.get("header_keys", {}), "header_keys")
    if origin == "workspace" and (env_keys or header_keys):
        raise ValueError("a workspace's server gets nothing from the user's environment")
    for variable in (*env_keys, *(value for _, value in header_keys)):
        if not _VARIABLE.match(variable):
            raise ValueError(f"{variable!r} is not the name of a variable")
    switch = flat.get("enabled", flat.get("enable", not flat.get("disabled", False)))
    seconds = flat.get("tool_timeout_secs", flat.get("timeout", TOOL_SECONDS))
    return ServerConfig(
        name=name,
        origin=origin,
        source=source,
        command=command,
        cwd=_check(flat.get("cwd", ""), "cwd", str),
        env=_pairs(flat.get("env", {}), "env"),
        env_keys=env_keys,
        url=url,
        headers=_pairs(flat.get("headers", {}), "headers"),
        header_keys=header_keys,
        enabled=_check(switch, "enabled", bool),
        auto_start=_check(flat.get("auto_start", False), "auto_start", bool),
        timeout=_seconds(seconds, "tool_timeout_secs"),
        connect_timeout=_seconds(
            flat.get("connect_timeout_secs", CONNECT_SECONDS), "connect_timeout_secs"
        ),
        only=_texts(flat.get("tools", []), "tools"),
    )


def prefix_of(name: str) -> str:
    """Return the prefix before `__` in the names of a server's tools."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", name).strip("_").lower() or "server"


def _tables(data: Any, where: str, problems: list[str]) -> list[tuple[Any, Any]]:
    """Names and tables of servers, in whichever of the known shapes they are."""
    if data is None:
        return []
    if isinstance(data, dict):
        for key in ("mcp_servers", "mcpServers", "servers"):
            if key in data:
                return _tables(data[key], where, problems)
        if "name" in data and ("command" in data or "url" in data or "transport" in data):
            return [(data["name"], data)]
        return list(data.items())
    if isinstance(data, list):
        named = [(table.get("name"), table) for table in data if isinstance(table, dict)]
        if len(named) < len(data):
            problems.append(
                Words("{where}: {n} servers are not tables", where=where, n=len(data) - len(named))
            )
        return named
    problems.append(Words("{where}: mcp_servers is missing", where=where))
    return []


def _read(path: Path, root: Path | None, problems: list[str]) -> Any:
    try:
        real = path if root is not None else Path(os.path.realpath(path))
        return read_settings(real, root)
    except (SkippedFile, ValueError) as error:
        problems.append(Words("{path}: skipped: {why}", path=path, why=error))
        return None


def _user_files(home: Path, environment: Mapping[str, str]) -> list[Path]:
    files = [home / f"mcp{end}" for end in _ENDS]
    if (home / "mcp").is_dir():
        files += sorted(p for p in (home / "mcp").iterdir() if p.suffix in _ENDS)
    found = [path for path in files if path.is_file()]
    if environment.get(VARIABLE):  # one that is missing is a problem the user wants to know of
        found.append(Path(environment[VARIABLE]).expanduser())
    return found


def _command(flat: dict[str, Any]) -> tuple[str, ...]:
    command, arguments = flat.get("command", ""), flat.get("args")
    if isinstance(command, list):
        words = list(_texts(command, "command"))
    elif not isinstance(command, str):
        raise ValueError("command is not a string")
    elif arguments is None:
        try:
            words = shlex.split(command)  # how words are divided; no shell ever runs it
        except ValueError as error:
            raise ValueError(f"command: {error}") from None
    else:
        words = [command] if command else []
    words += _texts([] if arguments is None else arguments, "args")
    if any("\0" in word for word in words):
        raise ValueError("command holds a NUL")
    return tuple(words)


def _check_url(url: str, *, secret: bool) -> None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"url: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("url must be http or https")
    if parts.username or parts.password:
        raise ValueError("url must not hold a password; name a variable in header_keys")
    near = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme == "http" and secret and not near:
        raise ValueError("url must be https: what is sent there may be secret")


def _check(value: Any, name: str, kind: type) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be {kind.__name__}")
    return value


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} must be a list of texts")
    return tuple(value)


def _pairs(value: Any, name: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be a table of texts")
    for key, pair in value.items():
        plain = isinstance(key, str) and isinstance(pair, str)
        if not plain or any(mark in key + pair for mark in "\0\r\n"):
            raise ValueError(f"{name} must be a table of single lines")
    return tuple(value.items())


def _seconds(value: Any, name: str) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value <= 86_400:
        raise ValueError(f"{name} must be seconds, up to a day")
    return float(value)
