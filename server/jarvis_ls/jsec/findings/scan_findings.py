"""Findings about the scan itself: comments that suppress nothing, files that took too long.

And the pages of all findings that no rule makes.
"""

from __future__ import annotations

from jarvis_ls.core.finding import Finding, Message, Span
from jarvis_ls.jsec.findings import sanitizer_findings

UNUSED = "unused-suppression"
WITHOUT_REASON = "suppression-without-reason"
UNKNOWN_RULE = "unknown-rule-in-suppression"
TIMEOUT = "jsec.timeout"

PAGES = {
    UNUSED: """A comment suppresses a finding that is not there.

## What it does
Reports a rule named in a `jsec-ignore` comment that has no finding where the comment speaks of.

## Why is this bad?
Such a comment hides the next finding of the rule that comes to stand there, unseen by anyone.
Remove it.
""",
    WITHOUT_REASON: """A suppression gives no reason.

## What it does
Reports a `jsec-ignore` comment with nothing behind the names of the rules.

## Why is this bad?
A later reader cannot tell whether the finding was reviewed or only silenced.

## Example
```c
strcpy(to, from);  // jsec-ignore: unsafe-copy
```

Use instead:
```c
strcpy(to, from);  // jsec-ignore: unsafe-copy from is one of the names in the table above
```
""",
    UNKNOWN_RULE: """A suppression names a rule that does not exist.

## What it does
Reports names in `jsec-ignore` comments that are no rules, and comments that name none.

## Why is this bad?
The comment hides nothing. Write `jsec-ignore: <rule>[, <rule>] <reason>`; `jsec rules` lists
the names.
""",
    TIMEOUT: """A file took too long to analyse.

## What it does
Represents a file whose analysis exceeded its time limit. Other findings of it are missing.

## Why is this bad?
Flaws in the file are not seen. Generated tables are the usual reason: exclude them in
`.jarvis/jsec.toml`, or split the file.
""",
    sanitizer_findings.RULE: sanitizer_findings.PAGE,
}
"""Page of each finding that no rule makes."""

_ABOUT_THE_SCAN = frozenset(PAGES) - {sanitizer_findings.RULE}


def is_hint(finding: Finding) -> bool:
    """Return whether a finding is about the scan itself, not about the code: `--fail-on` does not
    count such findings.
    """
    return finding.rule in _ABOUT_THE_SCAN


def hint(
    rule: str,
    language: str,
    file: str,
    span: Span,
    message: Message,
    *,
    suggestion: str,
    evidence: str,
    fingerprint: str,
) -> Finding:
    """Return a finding about the scan itself."""
    return Finding(
        rule=rule,
        language=language,
        category="analysis" if rule == TIMEOUT else "suppression",
        pattern=rule,
        cwe=(),
        file=file,
        span=span,
        evidence=evidence,
        message=message,
        suggestion=Message(suggestion),
        confidence=0.3,
        severity="low",
        fingerprint=fingerprint,
    )
