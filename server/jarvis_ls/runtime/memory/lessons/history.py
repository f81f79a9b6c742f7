"""Lessons of a project's history: reasons, reverts, habits of commits, files that go together.

A commit is taken for a decision when its message gives a reason. That files change together is
counted as an association rule, by support and confidence.
"""

from __future__ import annotations

import posixpath
import re
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from jarvis_ls.codeintel.change.history import PastCommit
from jarvis_ls.runtime.memory.lessons.lesson import (
    MAX_TEXT,
    TOGETHER,
    Lesson,
    Partner,
    partner_line,
)

MOST_DECISIONS = 100
MOST_TOGETHER = 60
MOST_MENDED = 10
_FEWEST_COMMITS = 20
"""Commits from which habits are read."""
_HABIT = 0.8
"""Share of the commits that makes one."""
_FEWEST_TOGETHER = 4
"""Commits that changed both files."""
_TOGETHER = 0.7
"""Share of the commits of the one that changed the other as well."""
_FOCUSED = 12
"""Files of a commit from which it says nothing about which belong together."""
_FEWEST_MENDS = 5
_MENDED = 0.5
_SHORTEST = 40
"""Characters of a message's body that can hold a reason."""
_MOST_NAMED = 15
_REASON = re.compile(
    r"\b(?:because|since|so that|instead of|in place of|otherwise|rather than|in order to|"
    r"to avoid|must not|never|workaround|work around|on purpose|deliberately|due to|why)\b"
    r"|因为|由于|以免|避免|否则|而不是",
    re.IGNORECASE,
)
_REVERT = re.compile(r"^revert\b", re.IGNORECASE)
_MEND = re.compile(
    r"\b(?:fix(?:e[sd])?|bug|mend|repair|correct|crash|regression|leak)\b|修复|修正", re.IGNORECASE
)
_CONVENTIONAL = re.compile(r"^[a-z]{2,12}(?:\([^()]{1,40}\))?!?: \S")
_AREA = re.compile(r"^[\w./-]{1,40}: \S")
_TRAILER = re.compile(r"^([A-Z][\w-]{2,30}): \S")


def history_lessons(commits: Sequence[PastCommit], files: Collection[str]) -> list[Lesson]:
    """Return what commits, newest first, teach; `files` are those that there are today."""
    own = [commit for commit in commits if not commit.is_merge]
    return [
        *_decisions(own),
        *_habits(own),
        *_together(own, files),
        *_often_mended(own, files),
    ]


def _decisions(commits: Sequence[PastCommit]) -> Iterator[Lesson]:
    count = 0
    for commit in commits:
        body = _without_trailers(commit.body)
        is_revert = _REVERT.match(commit.subject) is not None
        has_reason = len(body) >= _SHORTEST and _REASON.search(body) is not None
        if not (is_revert or has_reason):
            continue
        count += 1
        if count > MOST_DECISIONS:
            return
        day = time.strftime("%Y-%m-%d", time.gmtime(commit.time))
        files = ", ".join(f"`{path}`" for path in commit.paths[:_MOST_NAMED])
        parts = [f"{commit.subject} (commit {commit.name[:10]}, {day})", body[:MAX_TEXT]]
        parts += [f"Files: {files}"] if files else []
        yield Lesson(
            f"commit:{commit.name}",
            "pitfall" if is_revert else "decision",
            commit.subject,
            "\n\n".join(part for part in parts if part),
            ("history", "revert") if is_revert else ("history",),
            _common_folder(commit.paths),
            commit.time,
        )


def _habits(commits: Sequence[PastCommit]) -> Iterator[Lesson]:
    """Yield how messages of commits are written, when nearly all of them are."""
    if len(commits) < _FEWEST_COMMITS:
        return
    said = []
    subjects = [commit.subject for commit in commits]
    if _share(_CONVENTIONAL, subjects) >= _HABIT:
        kinds = Counter(re.split(r"[(!:]", s, maxsplit=1)[0] for s in subjects)
        usual = ", ".join(kind for kind, _ in kinds.most_common(8))
        said.append(f"Subjects are written as type(scope): text; usual types: {usual}.")
    elif _share(_AREA, subjects) >= _HABIT:
        said.append("Subjects begin with the part of the project and a colon.")
    longest = sorted(map(len, subjects))[int(len(subjects) * 0.95)]
    said.append(f"19 of 20 subjects have at most {longest} characters.")
    bodies = sum(bool(_without_trailers(commit.body)) for commit in commits) / len(commits)
    if bodies >= _HABIT:
        said.append("Messages have a body.")
    trailers = Counter(name for commit in commits for name in set(_trailers(commit.body)))
    said += [
        f"Messages end with the trailer {name}."
        for name, count in sorted(trailers.items())
        if count / len(commits) >= _HABIT
    ]
    yield Lesson(
        "habit:messages",
        "convention",
        "How messages of commits are written",
        f"Read from {len(commits)} commits.\n" + "\n".join(f"- {line}" for line in said),
        ("history", "commits"),
        time=commits[0].time,
    )


def _together(commits: Sequence[PastCommit], files: Collection[str]) -> Iterator[Lesson]:
    """Yield for a file those that as a rule change with it."""
    focused = [commit for commit in commits if 1 <= len(commit.paths) < _FOCUSED]
    changed: Counter[str] = Counter()
    both: dict[str, Counter[str]] = defaultdict(Counter)
    latest: dict[str, int] = {}
    for commit in focused:
        there = [path for path in commit.paths if path in files]
        changed.update(there)
        for path in there:
            latest.setdefault(path, commit.time)
            both[path].update(other for other in there if other != path)
    found: dict[str, list[Partner]] = {}
    for path, others in both.items():
        usual = [
            Partner(other, count, changed[path])
            for other, count in others.items()
            if count >= _FEWEST_TOGETHER and count / changed[path] >= _TOGETHER
        ]
        if usual:
            found[path] = sorted(usual, key=lambda p: (-p.together, p.path))[:5]
    strongest = sorted(found, key=lambda path: (-found[path][0].together, path))
    for path in strongest[:MOST_TOGETHER]:
        lines = "\n".join(map(partner_line, found[path]))
        yield Lesson(
            f"together:{path}",
            "convention",
            f"What changes with {path}",
            f"When `{path}` changes, these as a rule change too:\n{lines}",
            ("history", TOGETHER),
            posixpath.dirname(path),
            latest[path],
        )


def _often_mended(commits: Sequence[PastCommit], files: Collection[str]) -> Iterator[Lesson]:
    """Yield files of which most changes were corrections."""
    changed: Counter[str] = Counter()
    mended: Counter[str] = Counter()
    latest: dict[str, int] = {}
    for commit in commits:
        if 0 < len(commit.paths) < _FOCUSED:
            changed.update(commit.paths)
            if _MEND.search(commit.subject):
                mended.update(commit.paths)
                for path in commit.paths:
                    latest.setdefault(path, commit.time)
    often = [
        path
        for path, count in mended.most_common()
        if path in files and count >= _FEWEST_MENDS and count / changed[path] >= _MENDED
    ]
    for path in often[:MOST_MENDED]:
        yield Lesson(
            f"mended:{path}",
            "pitfall",
            f"{path} was often corrected",
            f"`{path}`: {mended[path]} of {changed[path]} changes were corrections. "
            "Read it closely, and look for the test that would have found the fault.",
            ("history", "corrections"),
            posixpath.dirname(path),
            latest[path],
        )


def _without_trailers(body: str) -> str:
    lines = body.split("\n")
    while lines and (not lines[-1].strip() or _TRAILER.match(lines[-1])):
        lines.pop()
    return "\n".join(lines).strip()


def _trailers(body: str) -> Iterator[str]:
    for line in reversed(body.split("\n")):
        if match := _TRAILER.match(line):
            yield match[1]
        elif line.strip():
            return


def _share(pattern: re.Pattern[str], texts: Sequence[str]) -> float:
    return sum(pattern.match(text) is not None for text in texts) / len(texts)


def _common_folder(paths: Sequence[str]) -> str:
    folders = [posixpath.dirname(path) for path in paths]
    return posixpath.commonpath(folders) if folders and all(folders) else ""
