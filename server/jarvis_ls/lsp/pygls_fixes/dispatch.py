"""What pygls 2.1.1 gets wrong between a message and its handler, put right.

Every override names the behaviour upstream that it replaces. ``tests/lsp/test_upstream.py``
shows each fault on a plain pygls server beside ours; when such a test fails because upstream
has changed, its override here can go.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

import attrs
from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.lsp.documents import Document, Documents, StaleChange
from jarvis_ls.lsp.pygls_fixes import strict
from jarvis_ls.lsp.pygls_fixes.framing import FramingError

logger = logging.getLogger(__name__)

ChangeListener = Callable[[Document, list[tuple[types.Range | None, str]]], None]
_REQUEST_FAILED = -32803  # LSPErrorCodes.RequestFailed: asked rightly, but it cannot be done
_NO_PARAMS = (types.SHUTDOWN, types.EXIT)


class Protocol(LanguageServerProtocol):
    """LSP dispatch that answers every request and keeps the documents true to the editor."""

    def __init__(self, server: Any, converter: Converter) -> None:
        super().__init__(server, converter)
        self.documents = Documents()
        self.on_change: ChangeListener = lambda _document, _changes: None
        self.on_progress_cancel: Callable[[types.ProgressToken], None] = lambda _token: None
        self.is_own_client: Callable[[], bool] = lambda: False
        """Whether the client is our extension, asked once the server was initialized."""
        self.exit_code: asyncio.Future[int] | None = None
        self._types = strict.request_types()
        self._initialized = False
        self._withdrawn: set[int | str] = set()
        """Requests that the client has taken back before their turn."""

    # Reading ---------------------------------------------------------------------------------

    def receive(self, message: Any) -> None:
        """Handle one decoded message; whatever is wrong with it, a request is answered.

        Upstream: a request that cannot be structured (wrong parameters, a position that is
        none, a method that is a number, before ``initialize`` or after ``shutdown``) gets no
        answer, and the client waits for ever.
        """
        if isinstance(message, FramingError):
            self._refuse(None, JsonRpcParseError(str(message)))
            return
        msg_id = message.get("id") if isinstance(message, dict) else None
        if _is_id(msg_id) and msg_id in self._withdrawn and "method" in message:
            self._withdrawn.discard(msg_id)
            self._refuse(msg_id, JsonRpcRequestCancelled())
            return
        try:
            structured = self._check(message)
        except JsonRpcException as error:
            if isinstance(message, dict) and ("result" in message or "error" in message):
                self._fail_own_request(msg_id, error)
            elif isinstance(message, dict) and "id" not in message and "method" in message:
                logger.warning("ignoring %r: %s", message["method"], error)
            else:
                self._refuse(msg_id if _is_id(msg_id) else None, error)
            return
        if structured is not None:
            self.handle_message(structured)

    def _check(self, message: Any) -> Any:
        """Return the message as a typed object; None when it is to be passed over.

        Raises `JsonRpcException` with the error to answer.
        """
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            raise JsonRpcInvalidRequest("Invalid Request: not a JSON-RPC 2.0 message")
        if "method" not in message and ("result" in message or "error" in message):
            return self._response(message)
        method, is_request = message.get("method"), "id" in message
        if not isinstance(method, str):
            raise JsonRpcInvalidRequest("Invalid Request: the method is not a string")
        if is_request and not _is_id(message["id"]):
            raise JsonRpcInvalidRequest("Invalid Request: the id is no number or string")
        if not self._in_order(method, is_request):
            return None
        known = method in self.fm.features or method in self.fm.builtin_features
        if not known and method != types.CANCEL_REQUEST:
            if is_request:
                raise JsonRpcMethodNotFound.of(method)
            return None
        return self._structure(message, method)

    def _in_order(self, method: str, is_request: bool) -> bool:
        """Return whether ``method`` may come now; raises for a request that may not.

        Upstream: a second ``initialize`` wipes the open documents; requests after
        ``shutdown`` are dropped without an answer.
        """
        if method == types.EXIT:
            return True
        if self._shutdown:
            if is_request:
                raise JsonRpcInvalidRequest("Invalid Request: the server is shutting down")
            return False
        if method == types.INITIALIZE and self._initialized:
            raise JsonRpcInvalidRequest("Invalid Request: already initialized")
        if method != types.INITIALIZE and not self._initialized:
            if is_request:
                raise JsonRpcServerNotInitialized("the first request must be `initialize`")
            return False
        return True

    def _structure(self, message: dict[str, Any], method: str) -> Any:
        if method in self._types and message.get("params") is None:
            message = {**message, "params": {}}
        if method in _NO_PARAMS:
            message = {key: value for key, value in message.items() if key != "params"}
        try:
            return self.structure_message(message)
        except JsonRpcInvalidRequest:
            raise
        except JsonRpcException as error:
            cause = error.__cause__ or error
            text = f"Invalid Params: {type(cause).__name__}: {cause}"
            raise JsonRpcInvalidParams(text[:300]) from None

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Upstream logs a traceback for each message that does not fit; the answer says it."""
        if "method" not in data:
            return super().structure_message(data)
        fallback = types.METHOD_TO_TYPES.get(data["method"], (None,))[0]
        kind = self._types.get(data["method"], (fallback,))[0]
        if kind is None:
            return super().structure_message(data)
        if "id" in data and not any(field.name == "id" for field in attrs.fields(kind)):
            raise JsonRpcInvalidRequest(f"{data['method']} is a notification")
        try:
            return self._converter.structure(data, kind)
        except Exception as error:
            raise JsonRpcInvalidParams() from error

    def _response(self, message: dict[str, Any]) -> Any:
        msg_id = message.get("id")
        if not _is_id(msg_id) or msg_id not in self._request_futures:
            logger.warning("ignoring an answer to nothing that was asked: id %.50r", msg_id)
            return None
        if self._request_futures[msg_id].done():  # anyone who asked was cancelled meanwhile
            del self._request_futures[msg_id]
            return None
        try:
            return super().structure_message(message)
        except JsonRpcException as error:
            raise JsonRpcInvalidRequest(f"the answer cannot be read: {error.__cause__}") from None

    def _fail_own_request(self, msg_id: Any, error: JsonRpcException) -> None:
        """Fail our request when the client's answer cannot be read."""
        future = self._request_futures.pop(msg_id, None) if _is_id(msg_id) else None
        if future is not None and not future.done():
            future.set_exception(error)

    def _refuse(self, msg_id: Any, error: JsonRpcException) -> None:
        self._send_data(
            {
                "jsonrpc": self.VERSION,
                "id": msg_id,
                "error": {"code": error.code, "message": error.message},
            }
        )

    # Running ---------------------------------------------------------------------------------

    def _execute_handler(
        self,
        msg_id: Any,
        handler: Any,
        callback: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """Upstream: the future of every notification stays in ``_request_futures`` (2 kB an
        edit); only those of requests are taken out."""

        def done(future: Future[Any]) -> None:
            if self._request_futures.get(msg_id) is future:
                del self._request_futures[msg_id]
            callback(future)

        super()._execute_handler(msg_id, handler, done, args, kwargs)

    def _send_handler_result(self, future: Future[Any], *, msg_id: Any) -> None:
        """Upstream puts a Python traceback into the answer; ours goes to the log."""
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            self._refuse(msg_id, JsonRpcRequestCancelled())
            return
        error = future.exception()
        if error is None and isinstance(future.result(), dict):  # JSON already
            answer = {"jsonrpc": self.VERSION, "id": msg_id, "result": future.result()}
            self._send_data(answer)
        elif error is None:
            self._send_response(msg_id, result=future.result())
        elif isinstance(error, JsonRpcException):
            self._refuse(msg_id, error)
        elif isinstance(error, JarvisError):
            self._refuse(msg_id, JsonRpcException(str(error), _REQUEST_FAILED))
        else:
            logger.error("a request failed", exc_info=error)
            self._refuse(msg_id, JsonRpcInternalError(f"{type(error).__name__}: {error}"))

    def _send_data(self, data: Any) -> None:
        """Upstream leaves a request unanswered when its result cannot be written as JSON, and
        puts every body into the log."""
        if self.writer is None:
            return
        try:
            body = json.dumps(data, default=self._serialize_message).encode("ascii")
        except Exception as error:
            logger.error("a message could not be written as JSON", exc_info=error)
            is_json = isinstance(data, dict)
            msg_id = data.get("id") if is_json else getattr(data, "id", None)
            if ("result" in data if is_json else hasattr(data, "result")) and _is_id(msg_id):
                self._refuse(msg_id, JsonRpcInternalError("the result could not be written"))
            return
        try:
            self.writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        except OSError as error:
            logger.warning("the client is gone: %s", error)
            self.lsp_exit()

    def notify_json(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification whose parameters are JSON already."""
        self._send_data({"jsonrpc": self.VERSION, "method": method, "params": params})

    def get_message_type(  # type: ignore[override]  # upstream's is wrapped in lru_cache
        self, method: str
    ) -> type[Any] | None:
        """Upstream caches on the instance by ``lru_cache``; ours knows our own requests too."""
        if method in self._types:
            return self._types[method][0]
        return types.METHOD_TO_TYPES.get(method, (None,))[0]

    def get_result_type(  # type: ignore[override]  # upstream's is wrapped in lru_cache
        self, method: str
    ) -> type[Any] | None:
        """Return the response class of ``method``, LSP's or ours."""
        if method in self._types:
            return self._types[method][1]
        return types.METHOD_TO_TYPES.get(method, (None, None))[1]

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        """Upstream fails on an id that is no id, and warns of each request that has just been
        answered."""
        if not _is_id(msg_id):
            return
        self._withdrawn.discard(msg_id)
        if msg_id in self._request_futures:
            super()._handle_cancel_notification(msg_id)

    def withdraw(self, msg_id: Any) -> None:
        """Note that the client has taken a request back, before that message has its turn.

        Upstream works on a request although it has read that it is cancelled.
        """
        if _is_id(msg_id):
            self._withdrawn.add(msg_id)

    # Life ------------------------------------------------------------------------------------

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, Any]:
        """Upstream takes the client's favourite position encoding; ours is always UTF-16,
        which every client must support, so that positions have one meaning in the product. It
        also offers diagnostics on request, and calls, to clients that do not say they ask."""
        self._initialized = True
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        document = params.capabilities.text_document
        result = yield from super().lsp_initialize(params)
        if document is None or document.diagnostic is None:
            result.capabilities.diagnostic_provider = None
        if document is None or document.call_hierarchy is None or self.is_own_client():
            # VS Code asks one server alone, and that of the language knows all calls.
            result.capabilities.call_hierarchy_provider = None
        return result

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """Upstream cancels the open requests while walking the dict their ends shrink."""
        handler = self.fm.features.get(types.SHUTDOWN)
        if handler is not None:
            yield handler, args, None
        current = self.msg_id
        for msg_id, future in list(self._request_futures.items()):
            if msg_id != current and not future.done():
                future.cancel()
        self._shutdown = True

    @lsp_method(types.EXIT)
    def lsp_exit(  # type: ignore[override]  # a plain function is a handler too
        self, *_args: Any
    ) -> None:
        """Upstream raises ``SystemExit`` inside the event loop and waits for its threads."""
        if self.exit_code is not None and not self.exit_code.done():
            self.exit_code.set_result(0 if self._shutdown else 1)

    # Documents -------------------------------------------------------------------------------

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(
        self, params: types.DidOpenTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Upstream keeps documents by their unquoted URI, so two files can become one."""
        self.documents.open(params.text_document)
        yield from self._hand_on(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: types.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Upstream: see `jarvis_ls.lsp.documents`."""
        try:
            document, applied = self.documents.change(params.text_document, params.content_changes)
        except StaleChange as error:
            logger.warning("%s", error)
            return
        self.on_change(document, applied)
        yield from self._hand_on(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(
        self, params: types.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Upstream: as for opening."""
        if self.documents.close(params.text_document.uri) is None:
            logger.warning("close of a document that is not open: %s", params.text_document.uri)
            return
        yield from self._hand_on(types.TEXT_DOCUMENT_DID_CLOSE, params)

    def _hand_on(self, method: str, params: Any) -> Generator[Any, Any, None]:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None

    @lsp_method(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(self, params: types.WorkDoneProgressCancelParams) -> None:
        """Upstream never forgets a token; ours are in `jarvis_ls.lsp.pygls_fixes.progress`."""
        self.on_progress_cancel(params.token)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # type: ignore[override]  # so is a coroutine
        self, params: types.ExecuteCommandParams
    ) -> Any:
        """Upstream answers a cancelled command while its coroutine runs on, spreads the
        arguments over parameters and ignores their defaults; ours gets them as one list."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(f"there is no command {params.command!r}")
        return await handler(list(params.arguments or []))


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
