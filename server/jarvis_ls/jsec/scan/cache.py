"""Answers of earlier scans, in `.jarvis/cache/scan.jsonl`.

An answer counts only while everything it came from is the same: the program, the file, the
headers of the project it includes, the user's own patterns. Each line is signed with a key of
the user's own, so that a folder from somewhere else cannot bring answers of its making with
it; what is damaged or not ours is as good as not there.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jarvis_ls
from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.headers import MAX_HEADER_BYTES, Headers
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import (
    keep_out_of_git,
    read_regular,
    replace_file,
    state_folder,
    user_folder,
)
from jarvis_ls.core.lock import hold
from jarvis_ls.core.store import Appender
from jarvis_ls.core.words import from_json, to_json
from jarvis_ls.jsec.findings.sanitizer_findings import Observed
from jarvis_ls.jsec.flow.library.user_models import OwnFunction
from jarvis_ls.jsec.flow.program.ir_store import StoreFolder
from jarvis_ls.jsec.scan.finding_codec import from_list, to_list
from jarvis_ls.jsec.scan.project import Project, digest_of
from jarvis_ls.jsec.scan.result import FileReport
from jarvis_ls.jsec.scan.source_files import SourceFile
from jarvis_ls.jsec.settings.settings import Pattern

_FILE = "scan.jsonl"
_MAX_BYTES = 1 << 30
_HEX = 32
_GRAMMARS = ("tree-sitter", "tree-sitter-c", "tree-sitter-cpp", "tree-sitter-rust")


class Cache:
    """The answers kept for one folder."""

    def __init__(
        self,
        root: Path,
        patterns: Iterable[Pattern] = (),
        functions: Iterable[OwnFunction] = (),
        observed: Iterable[Observed] = (),
        aside: Path | None = None,
    ) -> None:
        """Read what is there, for these patterns and functions of the user's own, and what runs
        have shown. With `aside`, a folder that exists, it is there and `root` stays untouched.

        Raises `JarvisError` when nothing can be kept below `root`.
        """
        self._path = (state_folder(root, "cache") if aside is None else aside) / _FILE
        self._key = user_key()
        self._version = engine_version() + digest_of(repr(tuple(functions)).encode())
        self._context = f"{self._version}\0{tuple(patterns)!r}\0{tuple(observed)!r}".encode()
        self._lines = self._load()
        self._used: dict[bytes, bytes] = {}
        self._appender: Appender | None = None
        self.failed = ""
        """Why nothing more is kept; empty while all is well."""
        keep_out_of_git(self._path.parent, "*")

    @property
    def flow(self) -> StoreFolder:
        """Return the folder where flow analysis stores the functions of the project."""
        return StoreFolder(str(self._path.parent / "flow"), self._key, self._version)

    @property
    def empty(self) -> bool:
        """Return whether there is no answer at all, so that asking is not worth it."""
        return not self._lines

    def settled(
        self, files: Iterable[SourceFile], digests: Mapping[str, str], program: str
    ) -> dict[str, FileReport]:
        """Answers that flow had its say in, by path: they hold while the whole program, which
        `program` names, is the same."""
        reports = {}
        for file in files:
            key = self._name(file.path, f"{digests.get(file.path, '')}\0{program}")
            values = self._values(key)
            report = None if values is None else _read_report(file.path, digests[file.path], values)
            if report is not None:
                reports[file.path] = report
                self._used[key] = self._lines[key]
        return reports

    def lookup(self, project: Project, digests: Mapping[str, str]) -> dict[str, FileReport]:
        """Answers of the rules that still hold, by path.

        `digests` names the bytes of those files of the project that were read.
        """
        files = project.files
        kept: dict[str, tuple[bytes, Any]] = {}
        for file in files:
            digest = digests.get(file.path)
            key = b"" if digest is None else self._name(file.path, digest)
            values = self._values(key)
            if values is not None:
                kept[file.path] = key, values
        headers = project.headers(_not_known)
        for file in files:
            if file.path in kept:
                values = kept[file.path][1]
                large = file.size > MAX_HEADER_BYTES
                headers.know(
                    file.path,
                    "" if large else values[0],
                    Facts() if large else Facts(includes=tuple(values[1])),
                )
        reports = {}
        for path, (key, values) in kept.items():
            report = _report(path, digests[path], values, headers)
            if report is not None:
                reports[path] = report
                self._used[key] = self._lines[key]
        return reports

    def put(self, report: FileReport, program: str = "") -> None:
        """Keep an answer; one that flow had its say in for the program it belongs to.

        When the disk refuses, `failed` says so and nothing more is kept.
        """
        if self.failed:
            return
        digest = f"{report.digest}\0{program}" if program else report.digest
        key = self._name(report.path, digest)
        body = json.dumps(
            [
                report.text_digest,
                report.includes,
                report.context,
                [to_json(note) for note in report.notes],
                [to_list(finding) for finding in report.findings],
            ],
            separators=(",", ":"),
        ).encode()
        line = self._sign(key, body) + key + body
        try:
            self._appender = self._appender or Appender(self._path)
            self._appender.append(line + b"\n")
        except JarvisError as error:
            self.failed = str(error)
            return
        self._lines[key] = self._used[key] = line

    def close(self, *, complete: bool) -> None:
        """End the writing; after a complete scan drop answers that were of no use."""
        if self._appender is not None:
            self._appender.close()
        if complete and len(self._lines) > 2 * len(self._used) + 100:
            with contextlib.suppress(JarvisError):  # the old file is as right as a smaller one
                replace_file(self._path, b"".join(line + b"\n" for line in self._used.values()))

    def _load(self) -> dict[bytes, bytes]:
        try:
            data = read_regular(self._path, limit=_MAX_BYTES)
        except SkippedFile:
            return {}
        return {line[_HEX : 2 * _HEX]: line for line in data.split(b"\n") if len(line) > 2 * _HEX}

    def _values(self, key: bytes) -> Any:
        line = self._lines.get(key)
        if line is None:
            return None
        body = line[2 * _HEX :]
        if not hmac.compare_digest(line[:_HEX], self._sign(key, body)):
            return None
        try:
            values = json.loads(body)
        except ValueError:
            return None
        return values if isinstance(values, list) and len(values) == 5 else None

    def _name(self, path: str, digest: str) -> bytes:
        text = f"{path}\0{digest}".encode()
        return (
            hashlib.blake2b(self._context + b"\0" + text, digest_size=_HEX // 2)
            .hexdigest()
            .encode()
        )

    def _sign(self, key: bytes, body: bytes) -> bytes:
        signature = hashlib.blake2b(key, key=self._key, digest_size=_HEX // 2)
        signature.update(body)
        return signature.hexdigest().encode()


@functools.cache
def engine_version() -> str:
    """Names the code that answers come from: our own sources and the grammars."""
    import importlib.metadata  # a scan without cache does not pay for it

    digest = hashlib.blake2b(digest_size=16)
    package = Path(jarvis_ls.__file__).parent
    for part in ("core", "codeintel", "jsec"):
        for path in sorted((package / part).rglob("*")):
            if path.suffix not in (".py", ".txt"):
                continue
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    for name in _GRAMMARS:
        digest.update(importlib.metadata.version(name).encode())
    return digest.hexdigest()


def _report(path: str, digest: str, values: Any, headers: Headers) -> FileReport | None:
    try:
        _, includes, context, _, _ = values
        now = headers.facts_for(path, Facts(includes=tuple(includes)))[0]
    except (ValueError, TypeError, KeyError, IndexError):
        return None
    return _read_report(path, digest, values) if now == context else None


def _read_report(path: str, digest: str, values: Any) -> FileReport | None:
    try:
        text_digest, includes, context, notes, findings = values
        return FileReport(
            path=path,
            findings=[from_list(finding, path) for finding in findings],
            notes=tuple(from_json(note) for note in notes),
            digest=digest,
            text_digest=text_digest,
            includes=tuple(includes),
            context=context,
            cached=True,
        )
    except (ValueError, TypeError, KeyError, IndexError):
        return None


def _not_known(path: str) -> bytes | None:
    """Return a header whose own answer is not kept: anyone who includes it is analysed again."""
    raise KeyError(path)


def user_key() -> bytes:
    """Return the user's secret for signing; it is created on first use, and again when damaged.

    Raises `JarvisError` when it can be neither read nor made.
    """
    path = user_folder() / "cache.key"
    if key := _read_key(path):
        return key
    with hold(path.with_suffix(".lock"), path.name):
        if not (key := _read_key(path)):  # else another process was first
            key = os.urandom(32)
            replace_file(path, key, mode=0o600)
    return key


def _read_key(path: Path) -> bytes:
    """Return a secret for signing; none where nothing is, or not enough of it.

    Raises `JarvisError` when what is there cannot be read.
    """
    if not os.path.lexists(path):
        return b""
    try:
        key = read_regular(path, limit=4096)
    except SkippedFile as error:
        raise JarvisError(
            "{database} cannot be used: {error}", database=path, error=error
        ) from None
    return key[:64] if len(key) >= 16 else b""
