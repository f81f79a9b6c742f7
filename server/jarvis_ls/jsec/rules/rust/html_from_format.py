"""Cross-site scripting through unescaped HTML.

## What it does
Finds `format!` with HTML and a value in it that is passed to `Html(…)`, `.body(…)`,
`content::RawHtml` and the like.

## Why is this bad?
A value that contains `<script>` runs in the browser of every visitor of the page.

## Example
```rust
Html(format!("<h1>Hello {name}</h1>"))
```

Use instead:
```rust
Html(format!("<h1>Hello {}</h1>", html_escape::encode_text(&name)))
```

## References
- CWE-79: Improper Neutralization of Input During Web Page Generation ('Cross-site Scripting')
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import macro_tokens
from jarvis_ls.jsec.local.rust.values import literal_text

_HTML = re.compile(r"(?i)<(?:!doctype|html|body|h[1-6]|p|div|span|a|b|i|li|ul|td|script|title)\b")
_PLACE = re.compile(r"\{[^{}]*\}")
_SENDS = frozenset({"Html", "RawHtml", "body", "set_body", "html", "with_body", "from_html"})
_ESCAPES = re.compile(r"(?i)escape|encode|sanitize|clean\(|ammonia")


@rule(
    query=nodes("(macro_invocation) @site", names=("format",)),
    category="input_validation",
    cwe=(79,),
    confidence=0.55,
    suggestion="Escape the values, or use a template engine with auto-escaping.",
)
def html_from_format(site: Site) -> Iterator[Report]:
    tokens = macro_tokens(site.node)
    first = next(iter(tokens.named_children), None) if tokens is not None else None
    page = (literal_text(first) or "")[:4000]
    if not _HTML.search(page) or not _PLACE.search(page) or site.item.in_test:
        return
    if _ESCAPES.search(text(site.node)[:4000]) or not _is_sent(site.node) or in_test(site.node):
        return
    yield Report(
        site.node,
        "Values are inserted into HTML without escaping.",
        pattern="format!",
    )


def _is_sent(node: Node) -> bool:
    for outer in ancestors(node):
        if outer.type == "call_expression" and called_name(outer) in _SENDS:
            return True
        if outer.type in ("block", "let_declaration", "closure_expression"):
            return False
    return False
