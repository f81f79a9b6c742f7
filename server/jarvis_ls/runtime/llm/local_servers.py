"""Model servers that run on this machine: asked at their well-known addresses, nowhere else."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from jarvis_ls.runtime.llm.providers import Provider

SECONDS = 1.5
"""How long a server may take to list its models; one that is there takes milliseconds."""
_LIMIT = 1_000_000
_HERE = "127.0.0.1"
_ANYWHERE = ("0.0.0.0", "::", "")
"""Hosts that a server listens at, and no one can be asked at."""


async def find_running(providers: Sequence[Provider]) -> dict[str, tuple[str, ...]]:
    """Return the models that servers list, by the name of their provider; a server that does not
    answer is left out, and one that is not on this machine is not asked."""
    here = [provider for provider in providers if provider.is_here and provider.base]
    lists = await asyncio.gather(*(_list_models(provider.base or "") for provider in here))
    return {
        provider.name: models
        for provider, models in zip(here, lists, strict=True)
        if models is not None
    }


def ollama_base(environment: Mapping[str, str]) -> str | None:
    """Return the base URL that `OLLAMA_HOST` says, as Ollama reads it: a host, a port or an
    address; None when it says none that is understood."""
    written = environment.get("OLLAMA_HOST", "").strip().strip("\"'")
    if not written:
        return None
    found = re.match(r"https?://", written)
    try:
        parts = urlsplit(written if found else f"http://{written}")
        host = parts.hostname or ""
        port = parts.port or (({"http": 80, "https": 443}[parts.scheme]) if found else 11434)
    except ValueError:
        return None
    host = _HERE if host in _ANYWHERE else host
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}/v1"


async def _list_models(base: str) -> tuple[str, ...] | None:
    """Return the models of a server; None when none answers as one."""
    import httpx2

    async def ask() -> bytes:
        # no proxy: what it says of this machine would be about another
        client = httpx2.AsyncClient(trust_env=False, timeout=SECONDS)
        async with client, client.stream("GET", f"{base}/models") as answer:
            answer.raise_for_status()
            data = b""
            async for piece in answer.aiter_bytes():
                data += piece
                if len(data) > _LIMIT:
                    raise ValueError("too long")
            return data

    try:
        listed = json.loads(await asyncio.wait_for(ask(), SECONDS))
        return tuple(str(model["id"]) for model in listed["data"] or ())
    except (httpx2.HTTPError, OSError, asyncio.TimeoutError, ValueError, TypeError, KeyError):
        return None  # nothing is there, or something else
