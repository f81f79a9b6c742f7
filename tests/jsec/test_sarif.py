"""SARIF 2.1.0: every report against the schema, Microsoft's own validator, and what GitHub asks."""

from __future__ import annotations

import functools
import gzip
import json
import os
import platform
import random
import stat
import subprocess
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from folders import FLAWED, Scan, write

from jarvis_ls.core.finding import Edit, Finding, Fix, Message, Related, Span
from jarvis_ls.jsec.findings.baseline import Baseline
from jarvis_ls.jsec.report import sarif
from jarvis_ls.jsec.report.sarif import MAX_RESULTS, MAX_STEPS, MAX_UPLOAD, render_sarif
from jarvis_ls.jsec.scan.result import ScanResult, by_score
from jarvis_ls.jsec.scan.source_files import Skipped

pytestmark = pytest.mark.watches("package-lock.json")

MULTITOOL = (
    Path(__file__)
    .parents[2]
    .joinpath("node_modules", "@microsoft", f"sarif-multitool-{platform.system().lower()}")
)
"""Comes with `npm ci`: the schema, and a program that knows the rules beyond it."""

REGION = {
    "type": "object",
    "required": ["startLine", "startColumn", "endLine", "endColumn"],
    "properties": {
        key: {"type": "integer", "minimum": 1}
        for key in ("startLine", "startColumn", "endLine", "endColumn")
    },
}
RUN = {
    "type": "object",
    "required": ["tool", "results", "columnKind", "invocations"],
    "properties": {
        "columnKind": {"const": "utf16CodeUnits"},
        "originalUriBaseIds": {
            "additionalProperties": {"properties": {"uri": {"pattern": "^file:///.*/$"}}},
        },
        "results": {
            "maxItems": 25_000,
            "items": {
                "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
                "properties": {
                    "ruleIndex": {"type": "integer", "minimum": 0},
                    "level": {"enum": ["none", "note", "warning", "error"]},
                    "rank": {"type": "number", "minimum": 0, "maximum": 100},
                    "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},
                    "message": {"required": ["text"], "properties": {"text": {"minLength": 1}}},
                    "partialFingerprints": {
                        "required": ["primaryLocationLineHash"],
                        "additionalProperties": {"type": "string"},
                    },
                    "locations": {
                        "minItems": 1,
                        "maxItems": 1000,
                        "items": {
                            "properties": {
                                "physicalLocation": {
                                    "required": ["artifactLocation"],
                                    "properties": {"region": REGION},
                                }
                            }
                        },
                    },
                    "suppressions": {
                        "items": {
                            "properties": {
                                "kind": {"enum": ["inSource", "external"]},
                                "status": {"enum": ["accepted", "underReview", "rejected"]},
                            }
                        }
                    },
                },
            },
        },
    },
}


def jsonschema() -> ModuleType:
    """Import the library when it is used: it reads the grammars of all formats, which takes a
    second, and each worker of the tests would do so before its first test."""
    import jsonschema

    return jsonschema


@functools.cache
def schema() -> Any:
    read = json.loads((MULTITOOL / "sarif-2.1.0.json").read_text(encoding="utf-8-sig"))
    return jsonschema().validators.validator_for(read)(read)


def check(text: str) -> dict[str, Any]:
    """The run of a report, once it has been compared with the schema and the constraints."""
    report = json.loads(text)
    assert "sarif-2.1.0" in report["$schema"]
    (run,) = report["runs"]
    schema().validate(report)
    jsonschema().validate(run, RUN)
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    return run  # type: ignore[no-any-return]


def test_the_schema_refuses_what_it_does_not_know() -> None:
    with pytest.raises(jsonschema().ValidationError, match="nonsense"):
        schema().validate({"version": "2.1.0", "runs": [], "nonsense": 1})


def test_the_validator_finds_nothing_to_object_to(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a b/ü.c": FLAWED})
    result = scan_folder(tmp_path)
    report, verdict = tmp_path / "report.sarif", tmp_path / "verdict.sarif"
    report.write_text(render_sarif(result, sorted(result.findings, key=by_score)))
    program = MULTITOOL / "Sarif.Multitool"
    program.chmod(program.stat().st_mode | stat.S_IXUSR)  # npm runs no script that would
    invariant = {"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1", "HOME": str(tmp_path)}
    done = subprocess.run(
        [program, "validate", report, "--output", verdict],
        env={**os.environ, **invariant},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = json.loads(verdict.read_text(encoding="utf-8-sig"))["runs"]
    objections = {one["ruleId"] for one in run.get("results", ())}
    assert objections <= {"SARIF2005"}, "only that no home page is named: there is none"


def render(result: ScanResult) -> dict[str, Any]:
    return check(render_sarif(result, sorted(result.findings, key=by_score)))


def test_a_real_scan(tmp_path: Path, scan_folder: Scan) -> None:
    twice = "#include <stdlib.h>\nvoid f(char *p) {\n    free(p);\n    free(p);\n}\n"
    write(tmp_path, {"a b/ü.c": FLAWED, "b.c": twice})
    known = Baseline({}, lambda _file: True).with_findings(scan_folder(tmp_path).findings[:1])
    write(
        tmp_path,
        {"c.c": FLAWED.replace("from);", "from); // jsec-ignore: unbounded-string-copy it fits")},
    )
    run = render(scan_folder(tmp_path, baseline=known))
    by_uri = {
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: one
        for one in run["results"]
    }
    assert set(by_uri) == {"a%20b/%C3%BC.c", "b.c", "c.c"}
    assert by_uri["a%20b/%C3%BC.c"]["suppressions"][0]["kind"] == "external"
    assert by_uri["a%20b/%C3%BC.c"]["baselineState"] == "unchanged"
    assert by_uri["c.c"]["suppressions"] == [
        {"kind": "inSource", "status": "accepted", "justification": "it fits"}
    ]
    assert by_uri["b.c"]["baselineState"] == "new"
    assert by_uri["b.c"]["fixes"][0]["artifactChanges"][0]["replacements"]
    (flow,) = by_uri["b.c"]["codeFlows"][0]["threadFlows"]
    lines = [
        one["location"]["physicalLocation"]["region"]["startLine"] for one in flow["locations"]
    ]
    assert lines == [3, 4]
    rule = next(one for one in run["tool"]["driver"]["rules"] if one["id"] == "double-free")
    assert "## Why is this bad?" in rule["help"]["markdown"]
    assert "external/cwe/cwe-415" in rule["properties"]["tags"]
    assert 0 < float(rule["properties"]["security-severity"]) <= 10


def made(number: int, **changes: Any) -> Finding:
    one = Finding(
        rule="own-pattern",
        language="c/cpp",
        category="custom",
        pattern="p",
        cwe=(1, 22),
        file=f"d{number}/\\xff\n%.c",
        span=Span(1, 1, 2, 3),
        evidence="e\u202e\0",
        message=Message("m {a}", (("a", "\x1b[31m"),)),
        suggestion=Message(""),
        confidence=0.5,
        severity="low",
        fingerprint=f"{number:016x}",
    )
    return replace(one, **changes)


def result_of(*findings: Finding, **changes: Any) -> ScanResult:
    return replace(ScanResult("/somewhere else", list(findings), {}, []), **changes)


def test_traces_become_code_flows() -> None:
    step = Related("a.c", Span(1, 2, 1, 3), Message("read here"))
    fix = Fix(Message("t"), (Edit(Span(1, 1, 1, 1), "x"),))
    run = render(result_of(made(1, trace=(step,) * 3, related=(step, step), fix=fix)))
    steps = run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [one["location"]["message"]["text"] for one in steps] == ["read here"] * 3


def test_what_was_not_scanned_is_a_notification() -> None:
    run = render(
        result_of(
            skipped=[Skipped("p.c", "a named pipe")],
            warnings=["no cache"],
            notes=[Skipped("deep.c", "too deep")],
            cancelled=True,
        )
    )
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    texts = [one["message"]["text"] for one in invocation["toolExecutionNotifications"]]
    assert texts == ["not scanned: a named pipe", "partly scanned: too deep", "no cache"]


def test_limits_of_github() -> None:
    step = Related("a.c", Span(1, 2, 1, 3), Message("s"))
    related = tuple(replace(step, span=Span(n, 2, n, 3)) for n in range(1, 1006))
    many = made(
        0,
        trace=(step,) * (MAX_STEPS + 5),
        related=(*related, step),
        severity="high",
        cwe=tuple(range(1, 60)),
    )
    findings = [many, *(made(n) for n in range(1, MAX_RESULTS + 10))]
    text = render_sarif(result_of(*findings), findings)
    assert len(gzip.compress(text.encode())) < MAX_UPLOAD
    (run,) = json.loads(text)["runs"]
    assert len(run["results"]) == MAX_RESULTS
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("10 weaker findings are left out")
    first = run["results"][0]
    assert first["level"] == "error", "the gravest is kept"
    assert len(first["relatedLocations"]) == 1000
    assert len({json.dumps(one) for one in first["relatedLocations"]}) == 1000, "each once"
    assert len(first["codeFlows"][0]["threadFlows"][0]["locations"]) == MAX_STEPS
    assert all(len(one["properties"]["tags"]) <= 20 for one in run["tool"]["driver"]["rules"])


def test_a_report_is_no_larger_than_an_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_UPLOAD", 600_000)
    rare = random.Random(1)
    findings = [made(n, fingerprint=f"{rare.getrandbits(2048):x}") for n in range(1_000)]
    text = render_sarif(result_of(*findings), findings)
    run = check(text)
    assert len(gzip.compress(text.encode())) < 600_000
    assert 100 < len(run["results"]) < 1_000
    kept = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert kept == [finding.fingerprint for finding in findings[: len(kept)]]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith(f"{1_000 - len(kept)} weaker findings")


def test_long_texts_are_cut() -> None:
    run = render(result_of(made(1, message=Message("m" * 70_000))))
    assert len(run["results"][0]["message"]["text"]) == 4_000
    assert len(run["tool"]["driver"]["rules"][0]["shortDescription"]["text"]) == 1_024


def test_rules_lead_to_their_weaknesses(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"a.c": FLAWED})
    run = render(scan_folder(tmp_path))
    (rule,) = run["tool"]["driver"]["rules"]
    (taxonomy,) = run["taxonomies"]
    assert run["tool"]["driver"]["supportedTaxonomies"] == [{"name": "CWE", "index": 0}]
    numbers = []
    for relationship in rule["relationships"]:
        target = relationship["target"]
        taxon = taxonomy["taxa"][target["index"]]
        assert taxon["id"] == target["id"] and taxon["shortDescription"]["text"]
        numbers.append(target["id"])
    page = f"https://cwe.mitre.org/data/definitions/{numbers[0]}.html"
    assert rule["helpUri"] == page
    assert page in [taxon["helpUri"] for taxon in taxonomy["taxa"]]


@pytest.mark.parametrize(
    ("lines", "address"),
    [
        ("Project-URL: Homepage, https://jsec.example/", "https://jsec.example/"),
        (
            "Project-URL: Source, https://a.example/\nProject-URL: Documentation, https://b.example/",
            "https://b.example/",
        ),
        ("Project-URL: Homepage, javascript:alert(1)", None),
        ("Summary: published nowhere", None),
    ],
)
def test_the_address_of_the_tool_is_that_of_its_package(
    lines: str, address: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = f"Metadata-Version: 2.1\nName: jarvis-ls\nVersion: 0.1.0\n{lines}\n"
    write(tmp_path, {"jarvis_ls-0.1.0.dist-info/METADATA": package})
    monkeypatch.syspath_prepend(tmp_path)
    driver = render(result_of(made(1)))["tool"]["driver"]
    assert driver.get("informationUri") == address


def test_patterns_without_weaknesses_lead_nowhere() -> None:
    run = render(result_of(made(1, cwe=())))
    (rule,) = run["tool"]["driver"]["rules"]
    assert "relationships" not in rule and "helpUri" not in rule
    assert run["taxonomies"][0]["taxa"] == []
