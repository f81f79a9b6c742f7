"""Evidence of one workspace, in `.jarvis/sec/evidence.jsonl`.

Records are appended; of one finding the last counts. A process that is killed while it writes
tears at most the last line, which readers leave out. A record is void when a function that it
speaks of has changed: it stays in the file, for the code may change back.

Records are signed with the user's key, as those of the cache are: a repository that brings evidence
along cannot talk a flaw away.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.files import STATE, keep_out_of_git, state_folder
from jarvis_ls.core.finding import Finding
from jarvis_ls.core.store import Appender, line_of, read_records, replace_records
from jarvis_ls.jsec.proof.evidence import Case, Evidence, evidence_of
from jarvis_ls.jsec.proof.places import current_hashes
from jarvis_ls.jsec.scan.cache import user_key

EVIDENCE = "evidence.jsonl"
EVIDENCE_FILE = f"{STATE}/sec/{EVIDENCE}"
"""Relative to the workspace."""
_MOST_EXTRA = 1_000
"""So many records that are not the last of their finding are kept."""


class Signer:
    """Signs records with the user's key."""

    def __init__(self) -> None:
        self._key = b""

    def is_ours(self, record: Any) -> bool:
        """Return whether a record is one that this user has made, and as it was made."""
        signature = record.get("signature") if isinstance(record, dict) else None
        if not isinstance(signature, str):
            return False
        try:
            expected = self.sign(record)
        except RecursionError:
            return False
        return hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode())

    def sign(self, record: dict[str, Any]) -> str:
        """Return the signature of a record, without the one that it has."""
        self._key = self._key or user_key()
        body = line_of({name: record[name] for name in sorted(record) if name != "signature"})
        return hashlib.blake2b(body, key=self._key, digest_size=20).hexdigest()


class EvidenceStore:
    """Reads all records once; adds to them."""

    def __init__(self, root: Path) -> None:
        """`root` is the real path of the workspace. Nothing is written before `add`."""
        self._root = root
        self._signer = Signer()
        self._latest: dict[str, dict[str, Any]] = {}
        """The last record of each finding, by fingerprint."""
        self._records = 0
        for record in read_records(root / STATE / "sec" / EVIDENCE):
            self._records += 1
            if self._signer.is_ours(record):
                self._latest[record["fingerprint"]] = record

    def __len__(self) -> int:
        return len(self._latest)

    def __contains__(self, fingerprint: object) -> bool:
        return fingerprint in self._latest

    def add(self, evidence: Evidence) -> None:
        """Keep evidence. Raises `JarvisError` when the disk refuses."""
        record = evidence.to_json()
        record["signature"] = self._signer.sign(record)
        folder = state_folder(self._root, "sec")
        keep_out_of_git(folder, EVIDENCE)
        line = line_of(record)
        self._latest[evidence.fingerprint] = json.loads(line)  # as it is read
        self._records += 1
        if self._records > len(self._latest) + _MOST_EXTRA:
            replace_records(folder / EVIDENCE, self._latest.values())
            self._records = len(self._latest)
            return
        with Appender(folder / EVIDENCE) as file:
            file.append(line)

    def find(
        self, findings: Iterable[Finding], source: Callable[[str], Source | None]
    ) -> dict[str, Evidence]:
        """Return the evidence that holds for some findings, by fingerprint. `source` gives the
        present text of a file, None when it cannot be read."""
        wanted = {finding.fingerprint for finding in findings}
        found = {
            name: evidence
            for name in wanted & self._latest.keys()
            if (evidence := evidence_of(self._latest[name])) is not None
        }
        holds = Hashes(source, found.values())
        return {name: evidence for name, evidence in found.items() if holds.hold(evidence)}

    def case(self, name: str) -> tuple[Evidence, Case] | None:
        """Return the evidence with the case of that id, or of the finding with that number or
        fingerprint; None when there is none. Void evidence has its case too."""
        for record in self._latest.values():
            if name not in (record.get("case_id"), record["fingerprint"], str(record.get("gid"))):
                continue
            evidence = evidence_of(record)
            if evidence is not None and evidence.case is not None:
                return evidence, evidence.case
        return None


class Hashes:
    """What the functions that evidence speaks of are now; each file is parsed once."""

    def __init__(
        self, source: Callable[[str], Source | None], evidence: Iterable[Evidence]
    ) -> None:
        """`source` gives the present text of a file, None when it cannot be read."""
        names: dict[str, set[str]] = {}
        for item in evidence:
            for place, _ in item.functions:
                file, _, function = _parts(place)
                names.setdefault(file, set()).add(function)
        self._known: dict[str, dict[str, set[str]]] = {}
        for file, functions in names.items():
            text = source(file)
            self._known[file] = {} if text is None else current_hashes(text, functions)

    def hold(self, evidence: Evidence) -> bool:
        """Return whether all functions are what they were; evidence of none does not hold."""
        return bool(evidence.functions) and all(
            known in self._known[file].get(function, ())
            for place, known in evidence.functions
            for file, _, function in (_parts(place),)
        )


def _parts(place: str) -> tuple[str, str, str]:
    """Split `file:function` at the colon before the function, which may be `a::b` in C++."""
    plain = place.replace("::", "\0\0")
    file, colon, function = plain.rpartition(":")
    return file.replace("\0\0", "::"), colon, function.replace("\0\0", "::")
