"""The JSON schema of the user's `config.toml`: a table for each section that is read.

Keys, types and sentences come from the records that the readers fill, limits and names from the
tables that the readers check by. `tests/assembly/test_settings_schema.py` compares what the schema
and the readers accept.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any, get_args

from schema_text import Schema, sentence_under, whole

from jarvis_ls.agents import settings as tree
from jarvis_ls.agents.auto_settings import LARGEST, AutoSettings
from jarvis_ls.agents.node import TYPES, TreeSettings
from jarvis_ls.assembly.settings import SECTIONS
from jarvis_ls.runtime.agent.command_hooks import CommandHook
from jarvis_ls.runtime.base import options
from jarvis_ls.runtime.base.tracing import TelemetrySettings
from jarvis_ls.runtime.context.rules_files import RulesSettings
from jarvis_ls.runtime.context.script_tools import ScriptedTool, ScriptType
from jarvis_ls.runtime.llm import model_settings, providers
from jarvis_ls.runtime.llm.platforms.base import ModelInfo
from jarvis_ls.runtime.mcp.config import ServerConfig
from jarvis_ls.runtime.sandbox.base import Rung, SandboxSettings
from jarvis_ls.runtime.tools.permissions import EFFECTS, PermissionRule

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}
PAIRS: Schema = {"type": "object", "additionalProperties": TEXT}
ADDRESS: Schema = {"type": "string", "pattern": "^https?://"}
NAME: Schema = {"type": "string", "pattern": r"\S"}
COUNT: Schema = {"type": "integer", "minimum": 1}
AMOUNT: Schema = {"type": "number", "minimum": 0}
_TYPES: dict[str, Schema] = {
    "str": TEXT,
    "bool": FLAG,
    "int": {"type": "integer", "minimum": 0},
    "float": AMOUNT,
    "tuple[str, ...]": TEXTS,
}


def table(properties: dict[str, Schema], required: Iterable[str] = (), *, more: Any = False) -> Any:
    """Return the schema of a table; of other keys `more` is the schema."""
    needed = {"required": list(required)} if required else {}
    return {
        "type": "object",
        "properties": properties,
        **needed,
        "additionalProperties": more,
    }


def named(of: Schema) -> Schema:
    """Return the schema of tables with names of the user's."""
    return {"type": "object", "additionalProperties": of}


def above(limit: float, most: float | None = None, kind: str = "number") -> Schema:
    """Return the schema of a number above a limit."""
    found: Schema = {"type": kind, "minimum": limit, "exclusiveMinimum": True}
    return found if most is None else {**found, "maximum": most}


def counted(most: int, least: int = 1) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", "minimum": least, "maximum": most}


def fields(record: type, keys: Iterable[str] | None = None, **known: Schema) -> dict[str, Schema]:
    """Return the keys of a record with their sentences; where none is `known`, by its type."""
    types = {field.name: str(field.type) for field in dataclasses.fields(record)}
    found = {}
    for key in types if keys is None else keys:
        schema = known[key] if key in known else _TYPES[types[key].removesuffix(" | None")]
        text = re.sub(r"(^|\. )None\b", r"\1Left out", sentence_under(record, key))
        text = re.sub(r"\bNone\b", "left out", text)
        found[key] = {**schema, "description": text} if text else schema
    return found


def agent() -> Schema:
    """`[agent]`."""
    limits = {
        name: {"type": "number", "minimum": low, "maximum": high}
        for name, (low, high) in options._LIMITS.items()
    }
    kinds: Schema = {"enum": [options.NORMAL, options.CODE]}
    return table(fields(options.AgentOptions, agent_type=kinds, **limits))


def agents() -> Schema:
    """`[agents]`."""
    numbers = {key: counted(most) for key, most in tree._NUMBERS.items()}
    return table(
        {
            **fields(TreeSettings, numbers, **numbers),
            "tokens": {**COUNT, "description": "Tokens of a session before you are asked."},
            "cost": {**above(0), "description": "Cost of a session before you are asked."},
            "groups": table(
                {kind: {**NAME, "description": "A model group."} for kind in TYPES},
            ),
        }
    )


def auto() -> Schema:
    """`[auto]`."""
    return table(
        fields(
            AutoSettings,
            timeout=above(0, LARGEST["timeout"]),
            interval=above(0, LARGEST["interval"]),
            stuck=counted(int(LARGEST["stuck"])),
            error_rate=above(0, 1),
            retries=counted(int(LARGEST["retries"]), 0),
        )
    )


def hooks() -> Schema:
    """`[[hooks]]`."""
    keys = fields(
        CommandHook,
        ("event", "tool", "command", "timeout"),
        event={"enum": ["before_tool", "after_tool"]},
        command={**TEXTS, "minItems": 1},
        timeout=above(0, 600),
    )
    keys["timeout"]["description"] = "Seconds it may take; 60 when left out."
    return {"type": "array", "items": table(keys, ("event", "command"))}


def mcp_servers() -> Schema:
    """`[mcp_servers.NAME]`; the spellings of other programs are understood too."""
    seconds = above(0, 86_400)
    keys = fields(
        ServerConfig,
        ("cwd", "env", "env_keys", "url", "headers", "enabled", "auto_start"),
        env=PAIRS,
        headers=PAIRS,
    )
    described = {
        "command": {
            "anyOf": [TEXT, TEXTS],
            "description": sentence_under(ServerConfig, "command"),
        },
        "args": TEXTS,
        "header_keys": {**PAIRS, "description": sentence_under(ServerConfig, "header_keys")},
        "tools": {**TEXTS, "description": sentence_under(ServerConfig, "only")},
        "tool_timeout_secs": {**seconds, "description": sentence_under(ServerConfig, "timeout")},
        "connect_timeout_secs": {
            **seconds,
            "description": sentence_under(ServerConfig, "connect_timeout"),
        },
    }
    return named(table({**keys, **described}, more={}))


def model_groups() -> Schema:
    """`[model_groups.NAME]`."""
    of = {**TEXTS, "description": "Names as provider/model, the preferred one first."}
    return named(table({"models": of}, ("models",), more={}))


def model_providers() -> Schema:
    """`[model_providers.NAME]`."""
    keys = fields(
        providers.Provider, ("type", "base", "env_keys", "needs_key", "timeout"), base=TEXT
    )
    keys["env_key"] = {**TEXT, "description": "Environment variable that holds the key."}
    keys["name"] = {}
    return named(table(keys))


def models() -> Schema:
    """`[models."PROVIDER/MODEL"]`."""
    keys = fields(
        ModelInfo,
        [key for key in model_settings._CHECKS if key != "env_headers"],
        window=COUNT,
        max_output=COUNT,
        thinking={"anyOf": [FLAG, COUNT]},
        reasoning_effort={"enum": list(model_settings.EFFORTS)},
        api={"enum": ["chat", "responses"]},
        extra={"type": "object"},
        headers=PAIRS,
    )
    keys["headers"]["description"] = "Sent with each request; secrets belong into env_headers."
    keys["env_headers"] = {**PAIRS, "description": "Headers, and variables that hold their values."}
    return named(table(keys))


def permissions() -> Schema:
    """`[[permissions]]`."""
    keys = fields(
        PermissionRule,
        effect={"enum": list(EFFECTS)},
        kind={"enum": ["*", "read", "write", "execute", "connect"]},
    )
    return {"type": "array", "items": table(keys, ("effect",))}


def sandbox() -> Schema:
    """`[sandbox]`."""
    counts = {
        field.name: COUNT
        for field in dataclasses.fields(SandboxSettings)
        if isinstance(field.default, int)
    }
    rungs = [rung for rung in get_args(Rung) if rung != "none"]
    return table(
        fields(
            SandboxSettings,
            isolation={"enum": ["best", "none"]},
            rungs={"type": "array", "items": {"enum": rungs}},
            **counts,
        )
    )


def scripted_tools() -> Schema:
    """`[[scripted_tools]]`."""
    keys = fields(
        ScriptedTool,
        script_type={"enum": list(get_args(ScriptType))},
        parameters={"type": "object"},
        description=NAME,
        timeout=above(0, 3600),
        script={},
    )
    return {
        "type": "array",
        "items": table(keys, ("name", "description", "script_type", "script")),
    }


SCHEMAS: dict[str, Schema] = {
    "agent": agent(),
    "agents": agents(),
    "auto": auto(),
    "central": table({"repository": TEXT}),
    "hooks": hooks(),
    "mcp_servers": mcp_servers(),
    "model_groups": model_groups(),
    "model_providers": model_providers(),
    "models": models(),
    "permissions": permissions(),
    "rules": table(
        fields(
            RulesSettings,
            folders={"type": "array", "items": {"type": "string", "minLength": 1}},
            peers={"type": "array", "items": {"type": "string", "pattern": r"^[^/\\]+$"}},
        )
    ),
    "sandbox": sandbox(),
    "scripted_tools": scripted_tools(),
    "search": table({"url": ADDRESS}, more={}),
    "skills": table({"mode": {"enum": ["compact", "full"]}}, more={}),
    "telemetry": table(
        {
            **fields(TelemetrySettings, ("endpoint", "content"), endpoint=TEXT),
            "env_headers": {**PAIRS, "description": "Headers, and variables with their values."},
        }
    ),
    "tool_groups": named(TEXTS),
}


def user_schema() -> str:
    """Return the schema as JSON. Raises `KeyError` when a section has none."""
    sections = {name: SCHEMAS[name] for name in sorted(SECTIONS)}
    return whole("Settings of Jarvis", "Models and agents: ~/.jarvis/config.toml", table(sections))
