"""Commands of GitHub's workflows: lines on standard output that are shown beside the diff.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from jarvis_ls.core.finding import Severity

_LEVELS: dict[Severity, str] = {"high": "error", "medium": "warning", "low": "notice"}


def annotate(severity: Severity, text: str, **properties: object) -> str:
    """Return the line that shows a text at a place; `properties` are `file`, `line`, `title`…"""
    given = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_LEVELS[severity]}{' ' if given else ''}{given}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
