"""Spans over turns, calls of models and calls of tools, for a collector that the user names.

    [telemetry]
    endpoint = "http://localhost:4318/v1/traces"   # OTLP over HTTP
    content = false                                # true: also what is said, without secrets
    env_headers = { Authorization = "OTLP_TOKEN" } # values from these variables

Without that section nothing is loaded, measured or sent; the extra `otel` brings the SDK. Names and
attributes are those of OpenTelemetry's conventions for generative AI.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.redaction import redact

logger = logging.getLogger(__name__)

Operation = Literal["invoke_agent", "chat", "execute_tool"]
_FLUSH = 3.0
"""Seconds the collector is waited for, at the end and for each batch."""
_CONTENT = 8_000
"""Characters of a text that are sent with `content`."""


@dataclass(frozen=True, slots=True)
class TelemetrySettings:
    """The `[telemetry]` section."""

    endpoint: str = ""
    """Where spans are sent; empty means nowhere."""
    content: bool = False
    """Whether arguments, results and answers are sent too."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with each request to the collector."""


class Span:
    """One operation while it continues; what is set here is sent only where telemetry is on."""

    def __init__(self, span: Any = None, content: bool = False) -> None:
        self._span = span
        self._content = content

    def set(self, **attributes: Any) -> None:
        """Set attributes, `__` standing for the dot in their names; None sets nothing."""
        if self._span is not None:
            for name, value in attributes.items():
                if value is not None and value != "":
                    self._span.set_attribute(name.replace("__", "."), value)

    def tell(self, **contents: Any) -> None:
        """Set attributes that hold what was said, without secrets, where the user wants that."""
        if self._span is not None and self._content:
            for name, value in contents.items():
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                self.set(**{name: redact(text)[:_CONTENT]})

    def fail(self, kind: str) -> None:
        """Say that it failed, by a short name of the kind of failure."""
        if self._span is not None:
            from opentelemetry.trace import StatusCode

            self.set(error__type=kind)
            self._span.set_status(StatusCode.ERROR)


class Tracing:
    """Makes spans, and sends them in the background."""

    def __init__(self, settings: TelemetrySettings | None = None) -> None:
        """Raise `ConfigError` when the SDK is missing."""
        self.settings = settings or TelemetrySettings()
        self._provider: Any = None
        self._tracer: Any = None
        if self.settings.endpoint:
            self._start()

    @contextlib.contextmanager
    def span(self, operation: Operation, name: str, **attributes: Any) -> Iterator[Span]:
        """Yield the span of an operation on `name`; an error that leaves it is its outcome."""
        if self._tracer is None:
            yield Span()
            return
        from opentelemetry.trace import SpanKind

        kind = SpanKind.CLIENT if operation == "chat" else SpanKind.INTERNAL
        with self._tracer.start_as_current_span(
            f"{operation} {name}".strip(),
            kind=kind,
            record_exception=False,  # its text may hold what was said
            set_status_on_exception=False,
        ) as begun:
            span = Span(begun, self.settings.content)
            span.set(gen_ai__operation__name=operation, **attributes)
            try:
                yield span
            except BaseException as error:
                span.fail(type(error).__name__)
                raise

    def close(self) -> None:
        """Send what is left, and end."""
        provider, self._provider, self._tracer = self._provider, None, None
        if provider is not None:
            provider.force_flush(int(_FLUSH * 1000))
            provider.shutdown()

    def _start(self) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ModuleNotFoundError:
            raise ConfigError(
                "[telemetry]: its packages are missing: pip install 'jarvis-ls[otel]'."
            ) from None
        from jarvis_ls import __version__

        resource = Resource.create({"service.name": "jarvis", "service.version": __version__})
        exporter = OTLPSpanExporter(
            endpoint=self.settings.endpoint, headers=dict(self.settings.headers), timeout=_FLUSH
        )
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("jarvis_ls", __version__)


class _Current:
    tracing = Tracing()


def span(
    operation: Operation, name: str, **attributes: Any
) -> contextlib.AbstractContextManager[Span]:
    """Return the span of an operation, as the process is configured (see `Tracing.span`)."""
    return _Current.tracing.span(operation, name, **attributes)


def configure(settings: TelemetrySettings) -> None:
    """Use these settings in this process from now on. Raises `ConfigError` without the SDK."""
    if settings != _Current.tracing.settings:
        before, _Current.tracing = _Current.tracing, Tracing()
        before.close()
        _Current.tracing = Tracing(settings)


def close() -> None:
    """Send what is left; nothing is measured any more until `configure`."""
    configure(TelemetrySettings())


def read_telemetry(table: Mapping[str, Any], environment: Mapping[str, str]) -> TelemetrySettings:
    """Return the settings of `[telemetry]`. Raises `ConfigError` naming the key that is wrong."""
    for key in table:
        if key not in ("endpoint", "content", "env_headers"):
            raise ConfigError("[telemetry]: there is no setting {key}.", key=repr(key))
    endpoint, content = table.get("endpoint", ""), table.get("content", False)
    if not isinstance(endpoint, str) or (endpoint and not re.match(r"https?://", endpoint)):
        raise ConfigError("[telemetry]: endpoint must be an http or https address.")
    if not isinstance(content, bool):
        raise ConfigError("[telemetry]: content must be {wanted}.", wanted=Words("true or false"))
    variables = table.get("env_headers", {})
    if not isinstance(variables, dict) or not all(isinstance(v, str) for v in variables.values()):
        raise ConfigError("[telemetry]: env_headers must be a table of headers and variables.")
    headers = {name: environment.get(variable, "") for name, variable in variables.items()}
    return TelemetrySettings(endpoint, content, headers)
