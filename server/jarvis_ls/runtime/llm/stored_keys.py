"""Keys that were typed at a terminal: `keys.json` in the user's folder, which only they can read.

The editor keeps keys in its secret storage instead. What the environment says wins over both.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from jarvis_ls.core.errors import ConfigError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.lock import hold

FILE = "keys.json"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z")
"""What the variable of a key may be called."""
_LIMIT = 1_000_000


def read_keys(home: Path) -> dict[str, str]:
    """Return the keys by their variable; empty without a file. Raises `ConfigError` for one that
    cannot be read."""
    path = home / FILE
    if not path.exists() and not path.is_symlink():
        return {}
    try:
        kept = json.loads(read_regular(path, limit=_LIMIT))
        if not isinstance(kept, dict):
            raise TypeError
    except SkippedFile as error:
        raise ConfigError("{path}: {why}.", path=path, why=error.reason) from None
    except (ValueError, TypeError, RecursionError):
        raise ConfigError("{path} is corrupt; repair or remove it.", path=path) from None
    return {
        name: key
        for name, key in kept.items()
        if VARIABLE.match(name) and isinstance(key, str) and key
    }


def store_key(home: Path, variable: str, key: str) -> Path:
    """Keep a key; the file gets no rights but the user's. Returns the file. Raises `JarvisError`
    when it cannot be written."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / FILE
    with hold(home / "keys.lock", str(path)):
        kept = {**read_keys(home), variable: key}
        data = json.dumps(kept, ensure_ascii=False, indent=2).encode()
        replace_file(path, data + b"\n", mode=0o600)
    return path
