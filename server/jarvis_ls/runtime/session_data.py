"""Data of the user's own that is kept with a session."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jarvis_ls.runtime.session import Session


class UserData(MutableMapping[str, Any]):
    """JSON values, kept as they are set."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getitem__(self, key: str) -> Any:
        return self._session.all_data()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._session.set_datum(key, json.loads(json.dumps(value)))

    def __delitem__(self, key: str) -> None:
        if key not in self._session.all_data():
            raise KeyError(key)
        self._session.remove_datum(key)

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self._session.all_data()))

    def __len__(self) -> int:
        return len(self._session.all_data())
