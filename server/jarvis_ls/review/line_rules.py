"""What a single added line shows, without a model: one row a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_ls.core.finding import Severity
from jarvis_ls.core.words import Words
from jarvis_ls.review.issues import Issue
from jarvis_ls.review.units import ReviewUnit, Tag
from jarvis_ls.runtime.base.redaction import redact

_LONGEST = 2_000
"""Characters of a line that are looked at."""


@dataclass(frozen=True, slots=True)
class _LineRule:
    id: str
    pattern: re.Pattern[str]
    severity: Severity
    message: Words
    suggestion: Words
    in_tests: bool = True
    """Whether it counts in tests and documents, too."""


_RULES = (
    _LineRule(
        "conflict-marker",
        re.compile(r"^(?:<{7}|>{7}|\|{7}) "),
        "high",
        Words("A marker of a merge conflict is left."),
        Words("Resolve the conflict."),
    ),
    _LineRule(
        "tls-not-verified",
        re.compile(
            r"\bverify\s*=\s*False\b|InsecureSkipVerify\s*:\s*true|rejectUnauthorized\s*:\s*false"
            r"|CURLOPT_SSL_VERIFY(?:PEER|HOST)\s*,\s*0|SSL_VERIFY_NONE|CERT_NONE"
            r"|NODE_TLS_REJECT_UNAUTHORIZED|danger_accept_invalid_certs\(true"
        ),
        "high",
        Words("The certificate of the other side is not verified."),
        Words("Verify certificates; give the path of your own authority where one is used."),
        in_tests=False,
    ),
    _LineRule(
        "shell-command",
        re.compile(
            r"\bshell\s*=\s*True\b|\bos\.system\(|\bos\.popen\(|child_process['\"]?\)?\.exec\("
        ),
        "medium",
        Words("A command is run by a shell, which reads signs in its arguments."),
        Words("Run the program with a list of arguments."),
        in_tests=False,
    ),
    _LineRule(
        "code-from-text",
        re.compile(r"(?<![\w.])(?:eval|exec)\((?!\s*\))|\bnew Function\(|\bpickle\.loads?\("),
        "medium",
        Words("Text or data is run as code."),
        Words("Read it with a parser of its format."),
        in_tests=False,
    ),
    _LineRule(
        "world-writable",
        re.compile(r"\bchmod\b.*\b0?o?777\b|\b0o777\b"),
        "medium",
        Words("Every user may write to it."),
        Words("Give only the rights that are needed, such as 0o755."),
        in_tests=False,
    ),
    _LineRule(
        "debugger-left",
        re.compile(r"^\s*(?:debugger;?\s*$|breakpoint\(\)|(?:import pdb|pdb\.set_trace|dbg!\())"),
        "medium",
        Words("A statement for debugging is left."),
        Words("Remove it."),
    ),
    _LineRule(
        "swallowed-error",
        re.compile(r"^\s*except\b[^:]*:\s*pass\b|\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}"),
        "medium",
        Words("An error is swallowed."),
        Words("Handle it, or say in a comment why nothing needs to be done."),
        in_tests=False,
    ),
    _LineRule(
        "check-switched-off",
        re.compile(
            r"#\s*noqa\s*$|#\s*type:\s*ignore\s*$|//\s*NOLINT\s*$|eslint-disable(?!.*--)"
            r"|@ts-ignore\s*$|#\s*nosec\s*$"
        ),
        "low",
        Words("A check is switched off without a reason."),
        Words("Fix what it reports, or name the check and the reason."),
    ),
    _LineRule(
        "work-left",
        re.compile(r"(?:#|//|/\*|<!--)\s*(?:TODO|FIXME|XXX)\b"),
        "low",
        Words("Work is left undone."),
        Words("Do it, or open an issue and name it here."),
    ),
)
_SECRET = (
    Words("A secret is in the text."),
    Words("Remove it, take it from the environment, and renew it: it may have been seen."),
)


def issues_of_lines(unit: ReviewUnit, lines: list[str]) -> Iterator[Issue]:
    """Yield what the added lines of a file show; `lines` is the file after the change."""
    is_product = not unit.tags & {Tag.TEST, Tag.DOCS}
    for hunk in unit.hunks:
        for number in range(hunk.start, min(hunk.end, len(lines) + 1)):
            text = lines[number - 1][:_LONGEST]
            for rule in _RULES:
                if (is_product or rule.in_tests) and rule.pattern.search(text):
                    yield Issue(
                        rule.id,
                        "rules",
                        unit.path,
                        number,
                        number,
                        rule.severity,
                        rule.message,
                        rule.suggestion,
                    )
            if redact(text) != text:
                severity: Severity = "high" if is_product else "medium"
                yield Issue("secret", "rules", unit.path, number, number, severity, *_SECRET)
