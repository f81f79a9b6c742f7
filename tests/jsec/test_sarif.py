"""SARIF 2.1.0: every name against the object model made from the schema (`sarif-om`), values
and limits against what the specification and GitHub ask."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import attr
import jsonschema
import pytest
import sarif_om
from folders import FLAWED, Scan, write

from jarvis_ls.core.finding import Edit, Finding, Fix, Message, Related, Span
from jarvis_ls.jsec.baseline import Baseline
from jarvis_ls.jsec.report.sarif import MAX_RESULTS, MAX_STEPS, render_sarif
from jarvis_ls.jsec.result import ScanResult, by_score
from jarvis_ls.jsec.walk import Skipped

PARTS: dict[str, type] = {
    "runs": sarif_om.Run, "tool": sarif_om.Tool, "driver": sarif_om.ToolComponent,
    "rules": sarif_om.ReportingDescriptor, "shortDescription": sarif_om.MultiformatMessageString,
    "fullDescription": sarif_om.MultiformatMessageString,
    "help": sarif_om.MultiformatMessageString,
    "defaultConfiguration": sarif_om.ReportingConfiguration, "results": sarif_om.Result,
    "message": sarif_om.Message, "locations": sarif_om.Location,
    "relatedLocations": sarif_om.Location, "location": sarif_om.Location,
    "physicalLocation": sarif_om.PhysicalLocation, "region": sarif_om.Region,
    "artifactLocation": sarif_om.ArtifactLocation, "snippet": sarif_om.ArtifactContent,
    "codeFlows": sarif_om.CodeFlow, "threadFlows": sarif_om.ThreadFlow, "fixes": sarif_om.Fix,
    "description": sarif_om.Message, "artifactChanges": sarif_om.ArtifactChange,
    "replacements": sarif_om.Replacement, "deletedRegion": sarif_om.Region,
    "insertedContent": sarif_om.ArtifactContent, "suppressions": sarif_om.Suppression,
    "invocations": sarif_om.Invocation, "workingDirectory": sarif_om.ArtifactLocation,
    "toolExecutionNotifications": sarif_om.Notification,
}  # fmt: skip
FREE = {"properties", "partialFingerprints"}
LATER = {sarif_om.Suppression: {"status"}}  # the model still has the draft's name, `state`

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
                        "items": {"properties": {"physicalLocation": {
                            "required": ["artifactLocation"],
                            "properties": {"region": REGION},
                        }}},
                    },
                    "suppressions": {"items": {"properties": {
                        "kind": {"enum": ["inSource", "external"]},
                        "status": {"enum": ["accepted", "underReview", "rejected"]},
                    }}},
                },
            },
        },
    },
}  # fmt: skip


def check(text: str) -> dict[str, Any]:
    """The run of a report, once it has been compared with the model and the constraints."""
    report = json.loads(text)
    assert report["version"] == "2.1.0"
    assert "sarif-2.1.0" in report["$schema"]
    same_names(report, sarif_om.SarifLog, "$")
    (run,) = report["runs"]
    jsonschema.validate(run, RUN)
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    return run  # type: ignore[no-any-return]


def same_names(value: dict[str, Any], model: type, place: str) -> None:
    fields = {
        field.metadata["schema_property_name"]: field.default is attr.NOTHING
        for field in attr.fields(model)
    }
    unknown = set(value) - set(fields) - LATER.get(model, set())
    missing = {name for name, required in fields.items() if required} - set(value)
    assert not unknown, f"{place}: {unknown}"
    assert not missing, f"{place}: {missing}"
    for name, part in value.items():
        if name in FREE or name == "originalUriBaseIds":
            continue
        for number, one in enumerate(part if isinstance(part, list) else [part]):
            step = model is sarif_om.ThreadFlow and name == "locations"
            if isinstance(one, dict):
                part_model = sarif_om.ThreadFlowLocation if step else PARTS[name]
                same_names(one, part_model, f"{place}.{name}[{number}]")


def test_the_model_is_what_we_think() -> None:
    assert inspect.isclass(sarif_om.SarifLog)
    with pytest.raises(AssertionError, match="nonsense"):
        same_names({"version": "2.1.0", "runs": [], "nonsense": 1}, sarif_om.SarifLog, "$")


def render(result: ScanResult) -> dict[str, Any]:
    return check(render_sarif(result, sorted(result.findings, key=by_score)))


def test_a_real_scan(tmp_path: Path, scan_folder: Scan) -> None:
    twice = "#include <stdlib.h>\nvoid f(char *p) {\n    free(p);\n    free(p);\n}\n"
    write(tmp_path, {"a b/ü.c": FLAWED, "b.c": twice})
    known = Baseline({}, lambda _file: True).with_findings(scan_folder(tmp_path).findings[:1])
    write(tmp_path, {"c.c": FLAWED.replace("from);", "from); // jsec-ignore: "
                                           "unbounded-string-copy it fits")})  # fmt: skip
    run = render(scan_folder(tmp_path, baseline=known))
    by_uri = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: one
              for one in run["results"]}  # fmt: skip
    assert set(by_uri) == {"a%20b/%C3%BC.c", "b.c", "c.c"}
    assert by_uri["a%20b/%C3%BC.c"]["suppressions"][0]["kind"] == "external"
    assert by_uri["a%20b/%C3%BC.c"]["baselineState"] == "unchanged"
    assert by_uri["c.c"]["suppressions"] == [
        {"kind": "inSource", "status": "accepted", "justification": "it fits"}
    ]
    assert by_uri["b.c"]["baselineState"] == "new"
    assert by_uri["b.c"]["fixes"][0]["artifactChanges"][0]["replacements"]
    assert by_uri["b.c"]["relatedLocations"]
    rule = next(one for one in run["tool"]["driver"]["rules"] if one["id"] == "double-free")
    assert "## Why is this bad?" in rule["help"]["markdown"]
    assert "external/cwe/cwe-415" in rule["properties"]["tags"]
    assert 0 < float(rule["properties"]["security-severity"]) <= 10


def made(number: int, **changes: Any) -> Finding:
    one = Finding(
        rule="own-pattern", language="c/cpp", category="custom", pattern="p", cwe=(1, 22),
        file=f"d{number}/\\xff\n%.c", span=Span(1, 1, 2, 3), evidence="e\u202e\0",
        message=Message("m {a}", (("a", "\x1b[31m"),)), suggestion=Message(""), confidence=0.5,
        severity="low", fingerprint=f"{number:016x}",
    )  # fmt: skip
    return replace(one, **changes)


def result_of(*findings: Finding, **changes: Any) -> ScanResult:
    return replace(ScanResult("/somewhere else", list(findings), {}, []), **changes)


def test_traces_become_code_flows() -> None:
    step = Related("a.c", Span(1, 2, 1, 3), Message("read here"))
    fix = Fix(Message("t"), (Edit(Span(1, 1, 1, 1), "x"),))
    run = render(result_of(made(1, trace=(step,) * 3, related=(step,), fix=fix)))
    steps = run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [one["location"]["message"]["text"] for one in steps] == ["read here"] * 3


def test_what_was_not_scanned_is_a_notification() -> None:
    run = render(result_of(skipped=[Skipped("p.c", "a named pipe")], warnings=["no cache"],
                           notes=[Skipped("deep.c", "too deep")], cancelled=True))  # fmt: skip
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    texts = [one["message"]["text"] for one in invocation["toolExecutionNotifications"]]
    assert texts == ["not scanned: a named pipe", "not scanned wholly: too deep", "no cache"]


def test_limits_of_github() -> None:
    step = Related("a.c", Span(1, 2, 1, 3), Message("s"))
    many = made(0, trace=(step,) * (MAX_STEPS + 5), related=(step,) * 1005, severity="high",
                cwe=tuple(range(1, 60)))  # fmt: skip
    run = render(result_of(*(made(n) for n in range(1, MAX_RESULTS + 10)), many))
    assert len(run["results"]) == MAX_RESULTS
    first = run["results"][0]
    assert first["level"] == "error", "the gravest is kept"
    assert len(first["relatedLocations"]) == 1000
    assert len(first["codeFlows"][0]["threadFlows"][0]["locations"]) == MAX_STEPS
    assert all(len(one["properties"]["tags"]) <= 20 for one in run["tool"]["driver"]["rules"])
