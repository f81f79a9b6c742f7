"""Data of the user's own that is kept with a session."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Protocol


class DataStore(Protocol):
    """Keeps the values, as a `Session` does."""

    def all_data(self) -> Mapping[str, Any]:
        """Return every value by its key."""

    def set_datum(self, key: str, value: Any) -> None:
        """Keep a value."""

    def remove_datum(self, key: str) -> None:
        """Drop a value."""


class UserData(MutableMapping[str, Any]):
    """JSON values, kept as they are set."""

    def __init__(self, store: DataStore) -> None:
        self._store = store

    def __getitem__(self, key: str) -> Any:
        return self._store.all_data()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._store.set_datum(key, json.loads(json.dumps(value)))

    def __delitem__(self, key: str) -> None:
        if key not in self._store.all_data():
            raise KeyError(key)
        self._store.remove_datum(key)

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self._store.all_data()))

    def __len__(self) -> int:
        return len(self._store.all_data())
