"""What live analysis, scans and migrations need of the server, as a protocol.

`server.Server` satisfies it. The modules it puts together import this one instead of the server,
so that their imports form no circle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jarvis_ls.core.finding import Finding
    from jarvis_ls.lsp.analysis_worker import AnalysisWorker
    from jarvis_ls.lsp.documents import Documents
    from jarvis_ls.lsp.findings import FindingStore
    from jarvis_ls.lsp.folders import DocumentLocation, Folders
    from jarvis_ls.lsp.protocol.extensions import Settings
    from jarvis_ls.lsp.user_messages import Messages
    from jarvis_ls.lsp.workspace import Workspace


class LiveAnalysis(Protocol):
    """The analysis of open documents, as a scan sees it."""

    def refresh(self, root: str) -> None:
        """Analyse the open documents of a folder again."""


class ScannedFiles(Protocol):
    """The scans, as live analysis sees them."""

    @property
    def digests(self) -> dict[str, dict[str, str]]:
        """By folder and path, a digest of the bytes that were scanned."""


class Evidences(Protocol):
    """The evidence of findings, as those see it who find them."""

    def judge(
        self, judgement: Workspace, root: str, file: str, findings: list[Finding]
    ) -> list[Finding]:
        """Return the findings of a file as they are to be shown."""

    async def update(self, root: str, file: str, findings: Sequence[Finding]) -> None:
        """Find out which evidence holds for the findings of a file."""


class Services(Protocol):
    """The parts of the server that others of its parts use."""

    @property
    def analysis(self) -> AnalysisWorker:
        """The analysis process."""

    @property
    def model_keys(self) -> dict[str, str]:
        """Keys of models, as variables of the environment."""

    @property
    def documents(self) -> Documents:
        """The open documents."""

    @property
    def folders(self) -> Folders:
        """The folders of the workspace."""

    @property
    def findings(self) -> FindingStore:
        """Findings of open documents and of files on disk."""

    @property
    def settings(self) -> Settings:
        """The settings of the editor."""

    @property
    def say(self) -> Messages:
        """Messages in the user's language."""

    @property
    def trusted(self) -> bool:
        """True when the user trusts the workspace."""

    @property
    def live(self) -> LiveAnalysis:
        """The analysis of open documents."""

    @property
    def scanning(self) -> ScannedFiles:
        """The scans of the folders."""

    @property
    def proofs(self) -> Evidences:
        """The evidence that running the code has given."""

    async def judgement(self) -> Workspace:
        """Return settings and baselines, once they have been read."""

    def place(self, uri: str) -> DocumentLocation:
        """Return where the file of an open document or another URI is."""

    def key(self, uri: str) -> str:
        """Return the one name we have for the file of an open document or another URI."""

    def uri(self, key: str) -> str:
        """Return the URI of a file as the client writes it."""

    def tell_trouble(self, template: str | None) -> None:
        """Say what keeps the server from its work, or that nothing does any more."""
