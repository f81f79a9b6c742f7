"""The folders of the workspace, and the way between URIs and the paths in them.

A path that a client names is believed only when, with all links followed, it is in one of
these folders; upstream (``pygls.workspace``, 2.1.1) reads any file of the disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

_WINDOWS = os.name == "nt"
_SAFE = "/!$&'()*+,;=:@-._~" if _WINDOWS else "/!$&'()*+,;=@-._~"


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder of the workspace."""

    uri: str
    """As the client writes it."""
    path: str
    """Absolute, with links followed."""

    def uri_of(self, relative: str) -> str:
        """Return the URI of a file given relative to the folder, with forward slashes."""
        return f"{self.uri.rstrip('/')}/{quote(os.fsencode(relative), safe=_SAFE)}"


@dataclass(frozen=True, slots=True)
class DocumentLocation:
    """Where a document is."""

    key: str
    """Its URI in our own spelling: one per file, however a client writes it."""
    root: str
    """Path of the folder that holds it; empty for a document outside the workspace."""
    path: str
    """Relative to the folder, with forward slashes; outside of one, absolute."""


class Folders:
    """The folders of the workspace; they change while the server runs."""

    def __init__(self) -> None:
        self._folders: dict[str, Folder] = {}

    def __iter__(self) -> Iterator[Folder]:
        return iter(list(self._folders.values()))

    def change(self, added: Iterable[str], removed: Iterable[str]) -> tuple[list[str], list[str]]:
        """Add and remove folders by URI; return the paths that are new and those gone."""
        gone = [self._folders.pop(uri).path for uri in removed if uri in self._folders]
        new = []
        for uri in added:
            path = path_of(uri)
            if path is None or uri in self._folders or not _is_folder(path):
                continue
            self._folders[uri] = Folder(uri, os.path.realpath(path))
            new.append(self._folders[uri].path)
        return new, gone

    def owner(self, path: str) -> Folder | None:
        """Return the innermost folder that holds the absolute ``path``, not following links."""
        holding = [folder for folder in self if _inside(path, folder.path)]
        return max(holding, key=lambda folder: len(folder.path), default=None)

    def place(self, uri: str) -> DocumentLocation:
        """Return where the document with this URI is; it need not exist."""
        path = path_of(uri)
        if path is None:
            return DocumentLocation(uri, "", urlsplit_path(uri))
        real = os.path.realpath(path)
        folder = self.owner(real)
        if folder is None:
            return DocumentLocation(uri, "", path.replace(os.sep, "/"))
        relative = os.path.relpath(real, folder.path).replace(os.sep, "/")
        key = folder.uri_of(relative)
        return DocumentLocation(uri if uri == key else key, folder.path, relative)

    def of_root(self, root: str) -> Folder | None:
        """Return the folder with this real path."""
        return next((folder for folder in self if folder.path == root), None)

    def resolve(self, uri: str) -> str | None:
        """Return the real path of ``uri`` when it is in a folder of the workspace, else None."""
        path = path_of(uri)
        if path is None:
            return None
        real = os.path.realpath(path)
        return real if self.owner(real) is not None else None


def path_of(uri: str) -> str | None:
    """Return the absolute path a ``file:`` URI names; None for anything else.

    A URI with a host, a query, NUL, or a path that is relative names no file of ours.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
        return None
    if parts.query or parts.fragment:
        return None
    path = unquote(parts.path)
    if _WINDOWS:
        path = path.lstrip("/")
    if "\0" in path or "\ufffd" in path or not Path(path).is_absolute():
        return None
    return os.path.normpath(path)


def uri_of(path: str) -> str:
    """Return the ``file:`` URI of an absolute path."""
    if _WINDOWS:
        return "file:///" + quote(path.replace("\\", "/"), safe=_SAFE)
    return "file://" + quote(os.fsencode(path), safe=_SAFE)


def urlsplit_path(uri: str) -> str:
    """Return the decoded path of a URI of any scheme; the URI itself when it has none."""
    try:
        return unquote(urlsplit(uri).path) or uri
    except ValueError:
        return uri


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except OSError:  # a name that is too long, for one
        return False


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
