"""The language server: what all features share, and the list of them.

A feature is a module of `jarvis_ls.lsp.features` with a function ``register(server)``. It
subscribes to the events below and registers the requests it answers; it imports no other
feature. What several features need hangs on the server.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import jarvis_ls
from jarvis_ls.core.memory import give_back
from jarvis_ls.core.search_path import leave_out
from jarvis_ls.core.translations import language_of
from jarvis_ls.jsec.engine.page_text import in_language
from jarvis_ls.lsp import log
from jarvis_ls.lsp.analysis_worker import AnalysisWorker, Change
from jarvis_ls.lsp.convert import SOURCE
from jarvis_ls.lsp.documents import Document
from jarvis_ls.lsp.events import Event, spawn
from jarvis_ls.lsp.findings import FindingStore
from jarvis_ls.lsp.folders import DocumentLocation, Folders
from jarvis_ls.lsp.live_diagnostics import Live
from jarvis_ls.lsp.migration.runs import Migrations
from jarvis_ls.lsp.notes import Note, Notes
from jarvis_ls.lsp.proofs import Proofs
from jarvis_ls.lsp.protocol.extensions import ModelHealth, Settings
from jarvis_ls.lsp.proving import Proving
from jarvis_ls.lsp.pygls_fixes import strict
from jarvis_ls.lsp.pygls_fixes.dispatch import Protocol
from jarvis_ls.lsp.pygls_fixes.lean import settle
from jarvis_ls.lsp.pygls_fixes.progress import Progress
from jarvis_ls.lsp.repairing import Repairing
from jarvis_ls.lsp.scanning import Scanning
from jarvis_ls.lsp.settings import read_settings
from jarvis_ls.lsp.user_messages import Messages
from jarvis_ls.lsp.verifying import Verifying

if TYPE_CHECKING:
    from jarvis_ls.jsec.engine.rule_pages import RulePage
    from jarvis_ls.lsp.workspace import Complaint, Workspace

CLOSING_SECONDS = 5.0
"""For everything to end in order before the process does."""
SETTLE_SECONDS = 0.3
"""After the start, before the memory it needed is returned."""
MANY_CLOSED = 200
"""Documents after whose closing what they took is returned, too, once that rests."""

logger = logging.getLogger(__name__)

_TO_CONFIRM = "to-confirm"
"""Names the annotation of edits that are shown before they are applied."""


class Server(LanguageServer):
    """Everything the features are on."""

    protocol: Protocol

    def __init__(self, analysis: AnalysisWorker) -> None:
        super().__init__(
            "jarvis-ls",
            jarvis_ls.__version__,
            types.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
            converter_factory=strict.converter,
        )
        self.analysis = analysis
        self.documents = self.protocol.documents
        self.folders = Folders()
        self.findings = FindingStore()
        self.notes = Notes()
        self.work = Progress(self)
        self.say = Messages()
        self.settings = Settings()
        self.trusted = True
        self.own_client = False
        """Whether it is our extension, which brings commands of its own."""
        self.protocol.is_own_client = lambda: self.own_client
        self.live = Live(self)
        self.proofs = Proofs(self)
        self.proving = Proving()
        self.repairing = Repairing(self.proving)
        self.verifying = Verifying(self.proving)
        self.model_keys: dict[str, str] = {}
        """Keys of models from the editor's secret storage, by variable; only in memory."""
        self.scanning = Scanning(self)
        self.migrations = Migrations(self)
        self.lenses: list[Callable[[str], list[types.CodeLens]]] = []
        """What is above lines of an open document besides its findings; called with its URI."""
        self.actions: list[Callable[[types.CodeActionParams], list[types.CodeAction]]] = []
        """What the light bulb offers besides the actions of findings."""
        self.configured_once = asyncio.Event()
        self._workspace: Workspace | None = None
        self._complaints: list[Complaint] = []
        self._rules: dict[str, RulePage] = {}
        self._places: dict[str, DocumentLocation] = {}
        self._open_uris: dict[str, str] = {}
        self._closed = 0
        self._giving_back: asyncio.TimerHandle | None = None
        self.log = log.install(self)
        self.opened: Event[Document] = Event("document opened")
        self.edited: Event[Document] = Event("document edited")
        self.closed: Event[str] = Event("document closed")
        self.started: Event[None] = Event("started")
        self.configured: Event[None] = Event("settings changed")
        self.folders_changed: Event[tuple[list[str], list[str]]] = Event("folders changed")
        self.files_written: Event[tuple[str, set[str], bool]] = Event("files written")
        """A folder (its path), files below it, and whether some were made or deleted."""
        self.migration_written: Event[str] = Event("migration written")
        """The folder (its path) in whose `.jarvis/c2rust` something has been written."""
        self.evidence_written: Event[str] = Event("evidence written")
        """The folder (its path) for which evidence or what agents concluded has been written."""
        self.stopping: Event[None] = Event("stopping")
        self.closing: list[Callable[[], Awaitable[None]]] = []
        """What is waited for, within reason, before the process ends."""
        self.trouble = ""
        """What keeps the server from its work, in words for the user."""
        self.troubled: Event[str] = Event("trouble")
        self.model: ModelHealth | None = None
        """Whether there is a model to talk with; None until that is known."""
        self.model_changed: Event[ModelHealth] = Event("health of the model")
        self._listen()

    def _listen(self) -> None:
        self.protocol.on_progress_cancel = self.work.cancel
        self.protocol.on_change = self._on_change
        self.answer(types.INITIALIZE, self._initialize)
        self.answer(types.INITIALIZED, self._on_initialized)
        self.answer(types.SHUTDOWN, lambda _params=None: self.stopping.fire(None))
        self.answer(types.TEXT_DOCUMENT_DID_OPEN, self._on_open)
        self.answer(types.TEXT_DOCUMENT_DID_CLOSE, self._on_close)
        self.answer(types.WORKSPACE_DID_CHANGE_CONFIGURATION, self._configuration_changed)
        self.answer(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, self._folders_changed)

    def answer(self, method: str, handler: Callable[..., Any], options: Any = None) -> None:
        """Have ``handler`` called for ``method``; pygls marks handlers, which a bound method
        does not allow."""
        self.feature(method, options)(functools.partial(handler))

    def run(self, command: str, handler: Callable[[list[Any]], Any]) -> None:
        """Have the coroutine function ``handler`` called for ``command`` with its arguments."""
        self.command(command)(functools.partial(handler))

    async def close(self) -> None:
        """Let everything end in order; what takes longer than `CLOSING_SECONDS` is given up."""
        ends = [asyncio.ensure_future(end()) for end in self.closing]
        if ends:
            done, late = await asyncio.wait(ends, timeout=CLOSING_SECONDS)
            for end in done:
                if not end.cancelled() and end.exception() is not None:
                    logger.error("something did not end well", exc_info=end.exception())
            for end in late:
                logger.warning("something did not end in time")
                end.cancel()

    async def rule_pages(self) -> dict[str, RulePage]:
        """Return every rule with its page in the user's language, by id."""
        if not self._rules:
            pages = await self.analysis.ask("rules")
            self._rules = {page.id: in_language(page, self.say.language) for page in pages}
        return self._rules

    def tell_trouble(self, template: str | None) -> None:
        """Say what keeps the server from its work, or that nothing does any more."""
        text = self.say(template) if template else ""
        if text != self.trouble:
            self.trouble = text
            self.troubled.fire(text)

    def tell_model(self, model: ModelHealth) -> None:
        """Say whether there is a model to talk with."""
        if model != self.model:
            self.model = model
            self.model_changed.fire(model)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Write a failure to the log; pygls would show a pop-up to the user."""
        logger.error("%s: %s", getattr(source, "__name__", source), error, exc_info=error)

    # Start -----------------------------------------------------------------------------------

    def _initialize(self, params: types.InitializeParams) -> None:
        options = params.initialization_options
        options = options if isinstance(options, dict) else {}
        locale = options.get("locale")
        self.say = Messages(language_of(locale if isinstance(locale, str) else params.locale))
        self.trusted = options.get("trusted") is not False
        self.own_client = "trusted" in options
        self._read(options)
        if params.workspace_folders is not None:
            roots = [folder.uri for folder in params.workspace_folders]
        else:
            roots = [params.root_uri] if params.root_uri else []
        self.folders.change(roots, [])
        for folder in () if self.trusted else self.folders:
            leave_out(Path(folder.path))
        spawn(self._configure(), "configure")

    async def _on_initialized(self, _params: types.InitializedParams) -> None:
        self.log.ready = True
        asyncio.get_running_loop().call_later(SETTLE_SECONDS, self._settle)
        logger.info("jarvis-ls %s", jarvis_ls.__version__)
        await self._watch_configuration()
        self.started.fire(None)

    def _settle(self) -> None:
        settle()
        spawn(self.analysis.weigh(), "memory of the analysis process")

    async def _watch_configuration(self) -> None:
        workspace = self.client_capabilities.workspace
        dynamic = workspace and workspace.did_change_configuration
        if dynamic and dynamic.dynamic_registration:
            await self.register(types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": "jarvisLs"})

    async def register(self, method: str, options: Any) -> None:
        """Ask the client to send us ``method``, which it lets us register while running."""
        registration = types.Registration(id=method, method=method, register_options=options)
        await self.client_register_capability_async(types.RegistrationParams([registration]))

    # Settings --------------------------------------------------------------------------------

    async def _configuration_changed(self, params: types.DidChangeConfigurationParams) -> None:
        value = params.settings
        workspace = self.client_capabilities.workspace
        if not value and workspace and workspace.configuration:
            item = types.ConfigurationItem(section="jarvisLs")
            request = types.ConfigurationParams([item])
            answer = await self.workspace_configuration_async(request)
            value = answer[0] if answer else None
        before = self.settings
        self._read(value)
        if self.settings != before:
            await self._configure()
            self.configured.fire(None)

    def _read(self, value: Any) -> None:
        complaints: list[str] = []
        self.settings = read_settings(value, complaints)
        for name in complaints:
            text = self.say("Invalid value for the setting {name}.", name=name)
            logger.warning("%s", text)

    async def _configure(self) -> None:
        """Read what the settings, the folders' files and the baselines say."""
        from jarvis_ls.lsp.workspace import Workspace  # not needed to answer `initialize`

        paths = [folder.path for folder in self.folders]
        held = Workspace()
        complaints = await asyncio.to_thread(
            held.load, paths, self.settings, trusted=self.trusted, before=self._workspace
        )
        self._complain(complaints)
        await self.analysis.set_flow("", held.outside.flow, held.outside.functions)
        await self.analysis.set_installed_headers("", held.outside.installed_headers)
        for path in paths:
            root = held.get(path)
            settings = root.settings if root is not None else None
            await self.analysis.set_patterns(
                path, settings.patterns if settings else (), settings.observed if settings else ()
            )
            if settings is not None:
                await self.analysis.set_flow(path, settings.flow, settings.functions)
                await self.analysis.set_installed_headers(path, settings.installed_headers)
        self._workspace = held
        self.configured_once.set()

    def _complain(self, complaints: Sequence[Complaint]) -> None:
        """Say what is wrong with files: at their lines, and once to the user."""
        notes: dict[str, list[Note]] = {}
        for complaint in complaints:
            text = self.say("Ignored until fixed: {what}", what=complaint.text)
            folder = self.folders.of_root(complaint.root)
            if folder is not None:
                note = Note(complaint.line, text, types.DiagnosticSeverity.Error, "settings")
                notes.setdefault(self.key(folder.uri_of(complaint.file)), []).append(note)
            if complaint not in self._complaints:
                logger.warning("%s", complaint.text)
                warning = types.ShowMessageParams(types.MessageType.Warning, text)
                self.window_show_message(warning)
        self._complaints = list(complaints)
        self.notes.replace(SOURCE, notes, self.notes.keys(SOURCE))

    async def judgement(self) -> Workspace:
        """Return settings and baselines, once they have been read."""
        await self.configured_once.wait()
        assert self._workspace is not None
        return self._workspace

    async def reconfigure(self) -> None:
        """Read the folders' settings files again and tell every feature."""
        await self._configure()
        self.configured.fire(None)

    async def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        event = params.event
        new, gone = self.folders.change(
            [folder.uri for folder in event.added], [folder.uri for folder in event.removed]
        )
        await self._configure()
        for document in self.documents:
            self.analysis.close(document.uri)
            self._open_uris.pop(self.key(document.uri), None)
            self.take(document)
        self.folders_changed.fire((new, gone))

    # Documents -------------------------------------------------------------------------------

    def _on_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = self.documents.get(params.text_document.uri)
        if document is None:
            return
        self.take(document)
        self.opened.fire(document)

    def take(self, document: Document) -> None:
        """Have an open document analysed from here on."""
        place = self.folders.place(document.uri)
        self._places[document.uri] = place
        self._open_uris[place.key] = document.uri
        self.analysis.open(document, place.root, place.path)

    def _on_change(self, document: Document, applied: list[tuple[types.Range | None, str]]) -> None:
        changes: list[Change] = [(_numbers(span) if span else None, text) for span, text in applied]
        self.analysis.change(document.uri, changes)
        self.edited.fire(document)

    def _on_close(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self.analysis.close(uri)
        self._open_uris.pop(self.key(uri), None)
        self.closed.fire(uri)
        self._places.pop(uri, None)
        self._closed += 1
        if self._closed >= MANY_CLOSED:
            if self._giving_back is not None:
                self._giving_back.cancel()
            loop = asyncio.get_running_loop()
            self._giving_back = loop.call_later(SETTLE_SECONDS, self._give_back)

    def _give_back(self) -> None:
        self._closed, self._giving_back = 0, None
        give_back()
        spawn(self.analysis.give_back(), "memory of closed documents")

    def place(self, uri: str) -> DocumentLocation:
        """Return where the file of an open document or another URI is."""
        return self._places.get(uri) or self.folders.place(uri)

    def key(self, uri: str) -> str:
        """Return the one name we have for the file of an open document or another URI."""
        return self.place(uri).key

    def uri(self, key: str) -> str:
        """Return the URI of a file as the client writes it."""
        return self._open_uris.get(key, key)

    def is_open(self, key: str) -> bool:
        """Return whether the file is open in the client."""
        return key in self._open_uris

    def beside(self, key: str, file: str) -> str | None:
        """Return the URI of ``file``, relative to the folder of the file ``key``."""
        place = self.place(self.uri(key))
        if file == place.path:
            return self.uri(key)
        folder = self.folders.of_root(place.root)
        return self.uri(folder.uri_of(file)) if folder is not None else None

    def edit_of(
        self, document: Document, edits: list[types.TextEdit], to_confirm: str = ""
    ) -> types.WorkspaceEdit:
        """Return edits of an open document in the form the client understands.

        With `to_confirm`, the reason, a client that can shows them before it applies them.
        """
        if not self.versioned_edits:
            return types.WorkspaceEdit(changes={document.uri: edits})
        identifier = types.OptionalVersionedTextDocumentIdentifier(
            document.uri, version=document.version
        )
        if not to_confirm or not self._shows_before:
            change = types.TextDocumentEdit(identifier, edits)
            return types.WorkspaceEdit(document_changes=[change])
        annotated = [
            types.AnnotatedTextEdit(_TO_CONFIRM, edit.range, edit.new_text) for edit in edits
        ]
        reason = types.ChangeAnnotation(to_confirm, needs_confirmation=True)
        return types.WorkspaceEdit(
            document_changes=[types.TextDocumentEdit(identifier, annotated)],
            change_annotations={_TO_CONFIRM: reason},
        )

    @property
    def _shows_before(self) -> bool:
        """Return whether the client asks the user about edits that are to be confirmed."""
        workspace = self.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace else None
        return edit is not None and edit.change_annotation_support is not None

    @property
    def versioned_edits(self) -> bool:
        """Return whether the client checks the version of a document before it applies an edit."""
        workspace = self.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace else None
        return bool(edit and edit.document_changes)

    @property
    def pulls(self) -> bool:
        """Return whether the client asks for the diagnostics of its open documents itself."""
        document = self.client_capabilities.text_document
        return document is not None and document.diagnostic is not None


def _numbers(span: types.Range) -> tuple[int, int, int, int]:
    return span.start.line, span.start.character, span.end.line, span.end.character
