"""A session as a Markdown document that a person reads, shares or keeps."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator

from jarvis_ls.runtime.base.messages import Assistant, Message, System, ToolCall, ToolResult, User
from jarvis_ls.runtime.session.journal import Contents, Thread

_FENCE = re.compile(r"`{3,}")


def markdown(contents: Contents) -> str:
    """Everything that was said and not rewound, node by node; pictures are only mentioned."""
    parts = [f"# {_line(contents.shown_title) or 'Session'}", _facts(contents)]
    for node, thread in contents.threads.items():
        if not thread.appended:
            continue
        if len(contents.threads) > 1:
            parts.append(f"## {_line(_title(contents, node))}")
        parts.extend(_thread(contents, node, thread))
    return "\n\n".join(parts) + "\n"


def _facts(contents: Contents) -> str:
    usage = contents.usage
    facts = [
        f"- Session: `{contents.id}`",
        f"- Folder: `{contents.folder}`",
        f"- Begun: {_time(contents.created)}, last used: {_time(contents.updated)}",
    ]
    if usage.input or usage.output:
        facts.append(f"- Tokens: {usage.input:,} in, {usage.output:,} out")
    if usage.cost:
        facts.append(f"- Cost: {usage.cost:.4f}")
    if contents.forked:
        facts.append(f"- Forked from: `{contents.forked}`")
    return "\n".join(facts)


def _thread(contents: Contents, node: str, thread: Thread) -> Iterator[str]:
    summarised = [place for place, _ in thread.earlier]
    for place, message in enumerate(thread.appended):
        for _ in range(summarised.count(place)):
            yield "*What was said so far was summarised for the model here.*"
        shown = contents.as_shown(node, message)
        if shown is None:
            yield _fold("Told to the model", fenced(message.text))
        elif text := message_text(shown):
            yield text


def message_text(message: Message) -> str:
    """One message; empty when it says nothing."""
    if isinstance(message, System):
        return _fold("System prompt", fenced(message.text))
    if isinstance(message, User):
        pictures = f"\n\n*{len(message.images)} image(s)*" if message.images else ""
        return f"### User\n\n{message.text}{pictures}"
    if isinstance(message, Assistant):
        parts = [f"### Assistant{f' ({message.model})' if message.model else ''}"]
        if message.thinking:
            parts.append(_fold("Thinking", fenced(message.thinking)))
        if message.text:
            parts.append(message.text)
        parts.extend(_call(call) for call in message.tool_calls)
        return "\n\n".join(parts)
    return _result(message)


def _call(call: ToolCall) -> str:
    arguments = call.raw
    if arguments is None:
        arguments = json.dumps(call.arguments, ensure_ascii=False, indent=2)
    return f"**Tool: {_code(call.name)}**\n\n{fenced(arguments, 'json')}"


def _result(message: ToolResult) -> str:
    said = "failed" if message.is_error else "result"
    return _fold(f"{message.name}: {said}", fenced(message.text))


def fenced(text: str, language: str = "") -> str:
    """`text` as a code block, whatever it contains."""
    longest = max((len(match[0]) for match in _FENCE.finditer(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _fold(title: str, body: str) -> str:
    safe = title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<details>\n<summary>{safe}</summary>\n\n{body}\n\n</details>"


def _title(contents: Contents, node: str) -> str:
    known = contents.nodes.get(node)
    title = known.get("title") if isinstance(known, dict) else getattr(known, "title", "")
    return str(title or node)


def _line(text: str) -> str:
    return " ".join(text.split())


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
