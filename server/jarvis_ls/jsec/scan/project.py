"""What a scan and its worker processes tell each other about a folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from jarvis_ls.codeintel.compile_commands import NOTHING, CompileCommands
from jarvis_ls.codeintel.headers import Headers, ReadFile
from jarvis_ls.codeintel.installed_headers import InstalledHeaders
from jarvis_ls.jsec.findings.sanitizer_findings import Observed
from jarvis_ls.jsec.flow.library.user_models import OwnFunction
from jarvis_ls.jsec.flow.program.ir_store import StoreFolder
from jarvis_ls.jsec.scan.source_files import Listing, SourceFile
from jarvis_ls.jsec.settings.settings import Pattern, Settings


@dataclass(frozen=True, slots=True)
class Project:
    """What a worker must know before it scans files of a folder."""

    root: str
    """Real path of the folder."""
    files: tuple[SourceFile, ...]
    """All its source files: headers are looked for among them."""
    limit: int
    """Files with more bytes are not read."""
    patterns: tuple[Pattern, ...] = ()
    """Rules of the user's own."""
    functions: tuple[OwnFunction, ...] = ()
    """Sources, sinks and sanitizers of the user's own."""
    flow: StoreFolder | None = None
    """Where the functions of its files are kept; None when flow is off."""
    observed: tuple[Observed, ...] = ()
    """What runs of the code have shown."""
    commands: CompileCommands = NOTHING
    """How its files are compiled."""
    installed_headers: bool = True
    """Whether headers outside of it are asked for what nothing else declares."""

    def headers(self, read: ReadFile) -> Headers:
        """Return its headers, whose bytes `read` gives, and those that are installed."""
        return Headers(
            read,
            (file.path for file in self.files),
            root=self.root,
            installed=InstalledHeaders() if self.installed_headers else None,
            commands=self.commands,
        )


def project_of(
    listing: Listing,
    settings: Settings,
    commands: CompileCommands,
    flow: StoreFolder | None = None,
) -> Project:
    """Return what workers must know of the files of a listing."""
    return Project(
        listing.root,
        tuple(listing.files),
        settings.max_file_size,
        settings.patterns,
        settings.functions,
        flow,
        settings.observed,
        commands,
        settings.installed_headers,
    )


def digest_of(data: bytes) -> str:
    """32 hex digits that name a text."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()
