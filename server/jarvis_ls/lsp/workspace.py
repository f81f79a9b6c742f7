"""What the settings, the baseline and the folders make of the findings of a file."""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import attrs

from jarvis_ls.core.errors import ConfigError, JarvisError
from jarvis_ls.core.files import TOO_LARGE
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.generated import GENERATED, is_generated
from jarvis_ls.core.globs import Globs
from jarvis_ls.jsec.findings import baseline as baselines
from jarvis_ls.jsec.findings.baseline import Baseline, load_baseline, save_baseline
from jarvis_ls.jsec.settings import settings as settings_files
from jarvis_ls.jsec.settings.settings import Settings, load_settings, settings_from, unknown_names
from jarvis_ls.lsp.protocol import extensions

EXCLUDED = "excluded by the settings"

logger = logging.getLogger(__name__)

_SHARED = ("exclude", "flow", "installed_headers", "max_file_size", "min_confidence", "rules")


@dataclass(frozen=True, slots=True)
class Complaint:
    """A file that cannot be used as it is, or the client's settings."""

    root: str
    """Path of the folder; empty for what the client wants."""
    file: str
    """The file below it."""
    line: int
    """From 1; the first where it is not known."""
    text: str
    """What is wrong with it, in words, with its name."""


@dataclass(slots=True)
class Root:
    """One folder with what it wants."""

    path: str
    """Its real path."""
    settings: Settings
    """The client's, and those of its `.jarvis/jsec.toml`."""
    baseline: Baseline
    """Its known findings."""
    unread: str = ""
    """Why the baseline on disk is another one, and must not be written over."""


class Workspace:
    """Settings and baselines of the folders; reading them again is one call."""

    def __init__(self) -> None:
        self._roots: dict[str, Root] = {}
        self._outside = Settings()
        self._trusted = True

    def load(
        self,
        paths: list[str],
        client: extensions.Settings,
        *,
        trusted: bool,
        before: Workspace | None = None,
    ) -> list[Complaint]:
        """Read everything for these folders; return what is wrong with the files. While a file
        cannot be understood, what it said ``before`` continues to hold.

        In a workspace that is not trusted its settings file and its baseline are not read: they
        could hide findings.
        """
        self._trusted = trusted
        complaints: list[Complaint] = []
        self._outside = _from_client(client, complaints)
        for path in paths:
            held = before.get(path) if before is not None and before._trusted else None
            self._roots[path] = self._root(path, trusted, complaints, held)
        return complaints

    @property
    def outside(self) -> Settings:
        """Return the settings for documents outside of every folder."""
        return self._outside

    def get(self, path: str) -> Root | None:
        """Return the folder with this real path."""
        return self._roots.get(path)

    def judge(self, root: str, file: str, findings: list[Finding]) -> list[Finding]:
        """Return the findings of a file as they are to be shown."""
        held = self._roots.get(root)
        settings = held.settings if held is not None else self._outside
        marked = held.baseline.mark(file, findings) if held is not None else findings
        judged = (settings.judge(finding) for finding in marked)
        return [finding for finding in judged if finding is not None]

    def refuses(self, root: str, file: str, size: int) -> str:
        """Return why an open document of ``size`` characters is not analysed, or nothing.

        What git ignores is: the user has opened it. What jc2r has generated is not.
        """
        held = self._roots.get(root)
        settings = held.settings if held is not None else self._outside
        if size > settings.max_file_size:
            return TOO_LARGE
        if held is not None and Globs(settings.exclude).match_below(file):
            return EXCLUDED
        made = held is not None and is_generated(os.path.join(root, file), root)  # noqa: PTH118
        return GENERATED if made else ""

    def add_to_baseline(self, root: str, findings: list[Finding]) -> None:
        """Put findings into the baseline of a folder, on disk too.

        Raises `JarvisError` when it cannot be written.
        """
        held = self._roots.get(root)
        if held is None:
            raise JarvisError("A baseline is kept for folders of the workspace only.")
        if not self._trusted:  # the findings it holds already are not known
            raise JarvisError("The baseline of a workspace that is not trusted is not changed.")
        if held.unread:
            raise JarvisError(held.unread)
        held.baseline = held.baseline.with_findings(findings)
        save_baseline(Path(root), held.baseline)

    def _root(
        self, path: str, trusted: bool, complaints: list[Complaint], before: Root | None
    ) -> Root:
        root = Root(path, self._outside, Baseline({}, lambda _file: False))
        if not trusted:
            return root
        try:
            root.settings = load_settings(Path(path), self._outside)
        except ConfigError as error:
            complaints.append(_complaint(path, settings_files.FILE, error))
            if before is not None:
                root.settings = before.settings
        try:
            root.baseline = load_baseline(Path(path))
        except JarvisError as error:
            complaints.append(_complaint(path, baselines.FILE, error))
            root.unread = str(error)
            if before is not None:
                root.baseline = before.baseline
        return root


def _complaint(root: str, file: str, error: JarvisError) -> Complaint:
    """Return the error in a file, at the line its parser names."""
    line = re.search(r"\bline (\d{1,9})\b", str(error))
    return Complaint(root, file, int(line[1]) if line else 1, str(error))


def _from_client(client: extensions.Settings, complaints: list[Complaint]) -> Settings:
    values: dict[str, Any] = attrs.asdict(client, filter=lambda field, _: field.name in _SHARED)
    try:
        settings = settings_from(values, extensions.SETTINGS_SECTION)
        complaints += (Complaint("", "", 1, why) for why in unknown_names(settings))
        return settings
    except ConfigError as error:
        complaints.append(Complaint("", "", 1, str(error)))
        return settings_from({**values, "exclude": []}, extensions.SETTINGS_SECTION)
